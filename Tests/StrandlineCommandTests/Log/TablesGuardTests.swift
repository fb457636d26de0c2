import Strandline
import StrandlineLog
import Testing

@testable import strandline

/// Lines for a store with tables, and what becomes of it if something else writes records into it all the same.
struct TablesGuardTests {
  private func append(_ store: TableStore) throws -> ToolRun {
    try ToolRun(["log", "append", store.path, "--acks"], input: Array("hello\n".utf8))
  }

  @Test(arguments: [[], ["compact"], ["reset", "--yes"]] as [[String]])
  func `a store with tables takes no lines, whatever was done to it, and goes on`(words: [String]) throws {
    let store = try TableStore(people: 5)
    if let first = words.first { #expect(store.run([first, "%"] + words.dropFirst()).code == .success) }
    let before = store.run("query", "%", "--table", "people", "--jsonl").out
    let run = try append(store)
    #expect(run.ending == .exited(2) && run.output.isEmpty)
    #expect(
      run.errorText.contains("is a store with tables: `strandline put` and `strandline load`"), "\(run.errorText)")
    #expect(store.run("query", "%", "--table", "people", "--jsonl").out == before)
    #expect(store.run("put", "%", #"{"id":9}"#, "--table", "people").code == .success)
  }

  @Test func `of a sync client's store the message names the client's command`() throws {
    let store = try TableStore()
    store.run("put", "%", #"{"id":1}"#, "--table", "strandline.outbox", "--key", "id:int")
    let run = try append(store)
    #expect(run.ending == .exited(2))
    #expect(run.errorText.contains("use `strandline sync put`"), "\(run.errorText)")
  }

  @Test func `a record that is no fact is told by verify, as the other commands say it would be`() throws {
    let store = try TableStore(people: 5)
    let log = try Log.open(at: store.path)
    try log.append([Array("hello".utf8)])
    try log.close()
    let query = store.run("query", "%", "--table", "people")
    #expect(query.code == .corruption && query.err.contains("`strandline log verify` tells"), "\(query)")
    let verify = store.run("log", "verify", "%")
    #expect(verify.code == .corruption)
    #expect(verify.out.contains("a record is no fact of a store"), "\(verify.out)")
    #expect(verify.out.contains("UNUSABLE as a store with tables"), "\(verify.out)")
    let document = try store.object("log", "verify", "%", "--json")
    #expect(document["opens"] as? Bool == false && document["verdict"] as? String == "corrupt")
  }
}
