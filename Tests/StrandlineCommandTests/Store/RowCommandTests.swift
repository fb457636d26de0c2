import Glibc
import Strandline
import StrandlineLog
import Testing

@testable import strandline

/// `put`, `get`, `delete`, `history`: one row at a time.
struct RowCommandTests {
  private let store: TableStore

  init() throws { store = try TableStore() }

  @discardableResult
  private func put(_ row: String, _ options: String...) -> InspectedStore.Run {
    store.run(["put", "%", row, "--table", "t", "--key", "id:int"] + options)
  }

  @Test func `a row that is put is got, updated, replaced and deleted`() throws {
    #expect(put(#"{"id":1,"a":"x","b":true}"#).out.hasSuffix(": t 1\n"))
    #expect(store.run("get", "%", "--table", "t", "--key", "1").out == "a   x\nb   true\nid  1\n")
    #expect(put(#"{"id":1,"a":"y"}"#, "--update").code == .success)
    #expect(store.run("get", "%", "--table", "t", "--key", "1", "--jsonl").out == #"{"a":"y","b":true,"id":1}"# + "\n")
    #expect(put(#"{"id":1,"c":1.5}"#).code == .success)
    #expect(store.run("get", "%", "--table", "t", "--key", "1", "--jsonl").out == #"{"c":1.5,"id":1}"# + "\n")
    #expect(try store.object("get", "%", "--table", "t", "--key", "1", "--json")["c"] as? Double == 1.5)
    let deleted = store.run("delete", "%", "--table", "t", "--key", "1", "--yes")
    #expect(deleted.out.hasSuffix(": deleted t 1\n"))
    let gone = store.run("get", "%", "--table", "t", "--key", "1")
    #expect(gone.code == .finding)
    #expect(gone.err == "t 1: no such row\n")
    #expect(store.run("delete", "%", "--table", "t", "--key", "1", "--yes").code == .finding)
  }

  @Test func `what a put expects and does not find is exit code 1 and nothing is written`() throws {
    put(#"{"id":1,"a":"x"}"#)
    let sequence = try #require(
      try store.object("put", "%", #"{"id":2}"#, "--table", "t", "--json")["sequence"] as? Int)
    let before = store.run("query", "%", "--table", "t", "--jsonl").out
    #expect(put(#"{"id":3}"#, "--update").code == .finding)
    #expect(put(#"{"id":1}"#, "--insert").code == .finding)
    #expect(put(#"{"id":2,"z":1}"#, "--if-sequence", "\(sequence - 1)").code == .finding)
    #expect(put(#"{"id":2,"z":1}"#, "--if-sequence", "0").code == .finding)
    #expect(store.run("query", "%", "--table", "t", "--jsonl").out == before)
    #expect(put(#"{"id":2,"z":1}"#, "--if-sequence", "\(sequence)").code == .success)
    #expect(put(#"{"id":4}"#, "--if-sequence", "0").code == .success)
  }

  @Test func `a row may come from standard input, and a missing uuid key is made up`() throws {
    let run = try ToolRun(
      ["put", store.path, "-", "--table", "u", "--key", "id:uuid", "--json"], input: Array(#"{"a":1}"#.utf8))
    #expect(run.ending == .exited(0), "\(run.errorText)")
    let key = try #require(((try parsedJSON(run.text) as? [String: Any])?["key"] as? [String])?.first)
    #expect(store.run("get", "%", "--table", "u", "--key", key).out.contains("a   1\n"))
  }

  @Test func `history shows the versions of a row, the newest first`() throws {
    for value in 1...3 { put(#"{"id":1,"v":\#(value)}"#) }
    store.run("delete", "%", "--table", "t", "--key", "1", "--yes")
    put(#"{"id":2,"v":0}"#)
    let versions = try store.objects("history", "%", "--table", "t", "--key", "1", "--jsonl")
    #expect(versions.map { ($0["row"] as? [String: Any])?["v"] as? Int } == [nil, 3, 2, 1])
    #expect(store.run("history", "%", "--table", "t", "--key", "1", "--limit", "1").out.hasSuffix("\tdeleted\n"))
    let document = try store.object("history", "%", "--table", "t", "--key", "1", "--json")
    #expect((document["versions"] as? [Any])?.count == 4)
    #expect(store.run("history", "%", "--table", "t", "--key", "9").code == .finding)
    // A look back at the row as it was behind an earlier commit.
    let second = try #require(versions[2]["sequence"] as? Int)
    #expect(
      store.run("get", "%", "--table", "t", "--key", "1", "--at", "\(second)", "--jsonl").out == "{\"id\":1,\"v\":2}\n")
    #expect(store.run("query", "%", "--table", "t", "--at", "\(second)", "--count").out == "1\n")
  }

  @Test func `compaction drops history unless it is told to keep it`() throws {
    for value in 1...5 { put(#"{"id":1,"v":\#(value)}"#) }
    #expect(store.run("compact", "%", "--history", "all").code == .success)
    #expect(try store.objects("history", "%", "--table", "t", "--key", "1", "--jsonl").count == 5)
    #expect(store.run("compact", "%").code == .success)
    #expect(try store.objects("history", "%", "--table", "t", "--key", "1", "--jsonl").count == 1)
    let late = store.run("query", "%", "--table", "t", "--at", "1000")
    #expect(late.code == .usage && late.err.contains("the last commit is"), "\(late.err)")
    let early = store.run("get", "%", "--table", "t", "--key", "1", "--at", "2")
    #expect(early.code == .finding, "\(early.out)\(early.err)")
  }

  @Test func `a key of several columns is given column by column`() throws {
    let row = #"{"a":"x","b":7,"c":1}"#
    #expect(store.run("put", "%", row, "--table", "t", "--key", "a:string", "--key", "b:int").code == .success)
    #expect(store.run("get", "%", "--table", "t", "--key", "x", "--key", "7", "--jsonl").out == row + "\n")
    #expect(
      store.run("get", "%", "--table", "t", "--key", "x").err.contains("has 2 columns (a, b), --key was given 1 time\n")
    )
    #expect(
      store.run("get", "%", "--table", "t", "--key", "x", "--key", "y").err.contains("--key 'y' is not of type int"))
  }

  @Test func `delete needs yes where nobody can be asked`() throws {
    put(#"{"id":1}"#)
    let run = try ToolRun(["delete", store.path, "--table", "t", "--key", "1"])
    #expect(run.ending == .exited(2))
    #expect(run.errorText.contains("say --yes. Nothing was changed."))
    #expect(store.run("get", "%", "--table", "t", "--key", "1").code == .success)
  }

  @Test(arguments: [
    ["put", "%", "{", "--table", "t", "--key", "id:int"], ["put", "%", "{}", "--table", "t", "--key", "id:int"],
    ["put", "%", "{\"id\":1}", "--table", "t", "--insert", "--update"], ["put", "%", "--table", "t"],
    ["get", "%", "--table", "t"],
    ["get", "%", "--key", "1"], ["get", "%", "--table", "none", "--key", "1"],
    ["get", "%", "--table", "t", "--key", "one"],
    ["get", "%", "--table", "t", "--key", "1", "--json", "--jsonl"],
    ["history", "%", "--table", "t", "--key", "1", "--limit", "0"],
    ["delete", "%", "--table", "none", "--key", "1", "--yes"],
  ])
  func `wrong arguments are exit code 2 and one line`(words: [String]) {
    put(#"{"id":1}"#)
    let run = store.run(words)
    #expect(run.code == .usage, "\(run.err)")
    #expect(run.out.isEmpty)
    #expect(run.err.split(separator: "\n").count == 1, "\(run.err)")
  }
}
