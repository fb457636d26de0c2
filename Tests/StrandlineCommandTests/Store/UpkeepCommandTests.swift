import Foundation
import Glibc
import Strandline
import StrandlineLog
import Testing

@testable import strandline

/// `stat`, `compact`, `reset`, `resets`, `backup`.
struct UpkeepCommandTests {
  @Test func `stat counts what is live and what is dead by family and table`() throws {
    let store = try TableStore(people: 50)
    for id in 1...10 { store.run("put", "%", "{\"id\":\(id),\"city\":\"Rom\"}", "--table", "people") }
    store.run("delete", "%", "--table", "people", "--key", "50", "--yes")
    let statistics = try store.object("stat", "%", "--json")
    let contents = try #require(statistics["contents"] as? [[String: Any]])
    let rows = try #require(contents.first { $0["family"] as? String == "row" })
    #expect(rows["table"] as? String == "people")
    #expect(rows["live"] as? Int == 49)
    #expect(rows["versions"] as? Int == 61)
    #expect(rows["deletes"] as? Int == 1)
    let index = try #require(contents.first { $0["family"] as? String == "index" })
    #expect(index["live"] as? Int == 49)
    #expect((statistics["open"] as? [String: Any])?["replayedCommits"] as? Int == 17)
    let text = store.run("stat", "%").out
    #expect(text.contains("people"))
    let quick = try #require(try store.object("stat", "%", "--quick", "--json")["contents"] as? [[String: Any]])
    #expect(quick.allSatisfy { $0["live"] is NSNull })
  }

  @Test func `compact leaves one layer, nothing dead, and every row`() throws {
    let store = try TableStore(people: 50)
    for id in 1...10 { store.run("put", "%", "{\"id\":\(id),\"city\":\"Rom\"}", "--table", "people") }
    store.run("delete", "%", "--table", "people", "--key", "50", "--yes")
    let before = store.run("query", "%", "--table", "people", "--jsonl").out
    let report = try store.object("compact", "%", "--json")
    #expect((report["after"] as? [String: Any])?["layers"] as? Int == 1)
    #expect(store.run("query", "%", "--table", "people", "--jsonl").out == before)
    let statistics = try store.object("stat", "%", "--json")
    for content in try #require(statistics["contents"] as? [[String: Any]]) {
      #expect(content["live"] as? Int == content["versions"] as? Int, "\(content)")
    }
    #expect(store.run("compact", "%").out.hasPrefix("before  "))
    #expect(store.run("query", "%", "--table", "people", "--jsonl").out == before)
  }

  @Test func `reset empties the tables, keeps them declared, and counts epochs`() throws {
    let store = try TableStore(people: 20)
    #expect(store.run("resets", "%").out == "epoch 0: no reset\n")
    let refused = try ToolRun(["reset", store.path])
    #expect(refused.ending == .exited(2))
    #expect(store.run("query", "%", "--table", "people", "--count").out == "20\n")
    let report = try store.object("reset", "%", "--yes", "--keep-copy", "--json")
    #expect(report["epoch"] as? Int == 1)
    #expect(store.run("query", "%", "--table", "people", "--count").out == "0\n")
    store.run("put", "%", #"{"id":1}"#, "--table", "people")
    #expect(store.run("reset", "%", "--yes").out.hasPrefix("epoch 2 begins with commit "))

    let resets = try store.object("resets", "%", "--json")
    #expect(resets["epoch"] as? Int == 2)
    let list = try #require(resets["resets"] as? [[String: Any]])
    let kept = try #require(list.first { $0["epoch"] as? Int == 1 })
    let copy = try #require((kept["keptCopies"] as? [String])?.first)
    #expect(store.run("query", "\(store.path)/\(copy)", "--table", "people", "--count").out == "20\n")
    let last = try #require(list.last)
    #expect(last["epoch"] as? Int == 2)
    #expect(last["cause"] as? String == "reset")
    #expect(store.run("resets", "%").lines.count == 1 + list.count)
  }

  @Test func `a backup holds what the store held and is a store`() throws {
    let store = try TableStore(people: 20)
    let target = store.scratch.file("copy")
    let report = try store.object("backup", "%", target, "--json")
    #expect(report["path"] as? String == target)
    #expect(
      store.run("query", target, "--table", "people", "--jsonl").out
        == store.run("query", "%", "--table", "people", "--jsonl").out)
    let again = store.run("backup", "%", target)
    #expect(again.code == .usage)
    #expect(again.err.contains("exists already"))
    #expect(store.run("backup", "%", store.scratch.file("no/such/parent")).code == .ioFailure)
  }

  @Test(arguments: [
    ["stat", "%"], ["compact", "%"], ["reset", "%", "--yes"], ["backup", "%", "%-copy"], ["changes", "%"],
    ["get", "%", "--table", "t", "--key", "1"], ["history", "%", "--table", "t", "--key", "1"],
    ["delete", "%", "--table", "t", "--key", "1", "--yes"], ["resets", "%"],
  ])
  func `where there is no store it is exit code 4 and none is made`(words: [String]) throws {
    let store = try TableStore()
    let run = store.run(words)
    #expect(run.code == .ioFailure)
    #expect(run.out.isEmpty)
    #expect(run.err.contains("no store here"), "\(run.err)")
    #expect(access(store.path, F_OK) != 0)
  }

  @Test(arguments: [
    ["compact", "%"], ["reset", "%", "--yes"], ["backup", "%", "%-copy"],
    ["put", "%", "{\"id\":1}", "--table", "people"],
    ["delete", "%", "--table", "people", "--key", "1", "--yes"],
  ])
  func `a writer beside another is exit code 5`(words: [String]) throws {
    let store = try TableStore(people: 1)
    let open = try Store.open(at: store.path)
    let run = store.run(words)
    #expect(run.code == .inUse, "\(run.err)")
    #expect(run.err.contains("in use by process \(getpid())"))
    try open.close()
  }

  @Test func `damage is exit code 3 with the file, and nothing is printed as if it were data`() throws {
    let store = try TableStore(people: 50)
    let segment = try #require(try DirectoryTree.names(in: store.path).first { $0.hasPrefix("seg-") })
    try FilePatch.flip(bit: 3, ofByte: 4096 + 400, in: "\(store.path)/\(segment)")
    for words in [
      ["query", "%", "--table", "people"], ["stat", "%"], ["changes", "%"],
      ["put", "%", "{\"id\":1}", "--table", "people"],
    ] {
      let run = store.run(words)
      #expect(run.code == .corruption, "\(words): \(run.out)\(run.err)")
      #expect(run.out.isEmpty)
      #expect(run.err.contains(segment))
      #expect(run.err.split(separator: "\n").count == 1)
    }
  }

  @Test func `a directory with other files in it becomes no store`() throws {
    let store = try TableStore()
    store.scratch.write(Array("mine".utf8), to: "store/letter.txt")
    for words in [
      ["put", "%", "{\"id\":1}", "--table", "t", "--key", "id:int"], ["load", "%", "--table", "t", "--key", "id:int"],
      ["query", "%", "--table", "t"], ["compact", "%"], ["resets", "%"], ["reset", "%", "--yes"],
    ] {
      let run = store.run(words)
      #expect(run.code == .ioFailure, "\(words)")
      #expect(run.err.contains("no store here"), "\(run.err)")
    }
    #expect(try DirectoryTree.names(in: store.path) == ["letter.txt"])
  }

  @Test(arguments: [
    ["query", "%", "--table", "t"], ["put", "%", "{\"id\":1}", "--table", "t", "--key", "id:int"], ["stat", "%"],
    ["compact", "%"], ["resets", "%"], ["changes", "%"], ["reset", "%", "--yes"], ["backup", "%", "%-copy"],
  ])
  func `a file is no store, and is left alone`(words: [String]) throws {
    let store = try TableStore()
    store.scratch.write(Array("mine".utf8), to: "store")
    let run = store.run(words)
    #expect(run.code == .ioFailure || run.code == .corruption, "\(run.err)")
    #expect(run.out.isEmpty)
    #expect(run.err.contains(store.path) && run.err.split(separator: "\n").count == 1)
    #expect(try FilePatch.contents(of: store.path) == Array("mine".utf8))
  }

  @Test func `every command has a help page`() throws {
    for words in StoreCommands.nodes.map(\.name) + ["import debian-changelogs"] {
      let run = try TableStore().run(words.split(separator: " ").map(String.init) + ["--help"])
      #expect(run.code == .success)
      #expect(run.out.contains("Usage: strandline \(words)"))
    }
  }
}
