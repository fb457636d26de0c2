import Strandline
import StrandlineLog
import Testing

@testable import strandline

/// `log events` on a store with tables.
struct StoreEventsTests {
  @Test func `commits are shown with cause, metadata and facts, tables and columns by name`() throws {
    let store = try TableStore()
    store.run(
      "put", "%", #"{"id":1,"city":"Ulm"}"#, "--table", "t", "--key", "id:int", "--index", "city", "--metadata",
      "actor=me")
    store.run("delete", "%", "--table", "t", "--key", "1", "--yes")
    let commits = try store.objects("log", "events", "%", "--jsonl")
    #expect(commits.map { $0["cause"] as? String } == ["schemaChanged", "transaction", "transaction"])
    #expect(commits[1]["metadata"] as? [String: String] == ["actor": "me"])
    let defined = try #require((commits[0]["facts"] as? [[String: Any]])?.first)
    #expect(defined["family"] as? String == "catalog")
    #expect(defined["table"] as? String == "t")
    let facts = try #require(commits[1]["facts"] as? [[String: Any]])
    let row = try #require(facts.first { $0["family"] as? String == "row" })
    #expect(row["table"] as? String == "t")
    #expect(row["key"] as? [Int] == [1])
    #expect((row["row"] as? [String: Any])?["city"] as? String == "Ulm")
    let index = try #require(facts.first { $0["family"] as? String == "index" })
    #expect(index["index"] as? String == "city")
    #expect(index["key"] as? [Int] == [1])
    #expect((commits[2]["facts"] as? [[String: Any]])?.map { $0["op"] as? String } == ["delete", "delete"])

    let text = store.run("log", "events", "%").lines
    #expect(text[1].hasPrefix("  define table t, number "))
    #expect(text[2].hasSuffix("\ttransaction\tactor=me"))
    #expect(text[3] == #"  put t 1 {"city":"Ulm","id":1}"#)
    #expect(text[4] == "  1 index entry")
  }

  @Test func `names come from the layers where the log no longer defines them`() throws {
    let store = try TableStore(people: 20)
    #expect(store.run("compact", "%").code == .success)
    store.run("put", "%", #"{"id":500,"name":"late"}"#, "--table", "people")
    let last = try #require(try store.objects("log", "events", "%", "--jsonl").last)
    let row = try #require((last["facts"] as? [[String: Any]])?.first { $0["family"] as? String == "row" })
    #expect((row["row"] as? [String: Any])?["name"] as? String == "late")
    #expect(store.run("log", "events", "%", "--from", "\(last["sequence"] as? Int ?? 0)").out.contains("late"))
  }

  @Test func `values may be left out and hidden text cannot steer a terminal`() throws {
    let store = try TableStore()
    store.run("put", "%", #"{"id":1,"a":"\u001b[31m"}"#, "--table", "t", "--key", "id:int")
    #expect(!store.run("log", "events", "%").out.contains("\u{1B}"))
    #expect(!store.run("log", "events", "%", "--jsonl").out.contains("\u{1B}"))
    #expect(!store.run("log", "events", "%", "--jsonl", "--values", "none").out.contains("31m"))
  }

  @Test func `a cell whose column nothing defines is shown under its number`() throws {
    let store = try TableStore()
    store.run("put", "%", #"{"id":1,"city":"Ulm","n":5}"#, "--table", "people", "--key", "id:int")
    store.run("put", "%", #"{"id":2,"city":"Bern","n":6}"#, "--table", "people")
    let whole = try store.objects("log", "events", "%", "--jsonl")
    let segment = try #require(try DirectoryTree.names(in: store.path).first { $0.hasPrefix("seg-") })
    // The commit that declares the columns.
    let place = try #require(whole[1]["lsn"] as? Int)
    try FilePatch.flip(bit: 3, ofByte: Int64(place) + 80, in: "\(store.path)/\(segment)")

    let text = store.run("log", "events", "%")
    #expect(text.code == .corruption)
    #expect(text.out.contains(#"put people 2 {"id":2} and column 1 "Bern", column 2 6"#), "\(text.out)")
    let last = try #require(try store.objects("log", "events", "%", "--jsonl").last)
    let row = try #require((last["facts"] as? [[String: Any]])?.first { $0["family"] as? String == "row" })
    let cells = try #require(row["unnamedCells"] as? [[String: Any]])
    #expect(cells.map { $0["column"] as? Int } == [1, 2])
    #expect(cells.first?["value"] as? String == "Bern" && cells.last?["value"] as? Int == 6)

    // Saved, they are in columns that are called by it, and the next names are others'.
    let saved = store.scratch.file("saved")
    let report = try parsedJSON(store.run("log", "salvage", "%", "--to", saved, "--json").out) as? [String: Any]
    let lost = try #require((report?["lostDefinitions"] as? [[String: Any]])?.first)
    #expect(lost["table"] as? String == "people" && lost["whole"] as? Bool == false)
    #expect((lost["columns"] as? [[String: Any]])?.map { $0["name"] as? String } == ["lost_column_1", "lost_column_2"])
    #expect(store.run("put", saved, #"{"id":4,"zzz":4,"yyy":true}"#, "--table", "people").code == .success)
    #expect(
      store.run("query", saved, "--table", "people", "--jsonl").out
        == #"{"id":2,"lost_column_1":"Bern","lost_column_2":6}"# + "\n" + #"{"id":4,"yyy":true,"zzz":4}"# + "\n")
    let again = store.run("log", "salvage", "%", "--to", store.scratch.file("again"))
    #expect(
      again.out.contains(
        "  lost   the definition of column 1 of people, which has 1 cell: it is called lost_column_1 now\n"),
      "\(again.out)")
    #expect(store.run("log", "verify", saved).code == .success)
  }

  @Test func `events of streams and a reset are shown as what they are`() throws {
    let store = try TableStore(people: 1)
    let open = try Store.open(at: store.path)
    try open.write { (transaction: inout Transaction) throws(StoreError) in
      _ = try transaction.append(["total": 7], type: "OrderPlaced", to: "order-17")
    }
    try open.close()
    let event = try #require(try store.objects("log", "events", "%", "--jsonl").last)
    let facts = try #require(event["facts"] as? [[String: Any]])
    #expect(facts.contains { $0["stream"] as? String == "order-17" && $0["type"] as? String == "OrderPlaced" })
    #expect(store.run("log", "events", "%").out.contains(#"event order-17 1 OrderPlaced {"total":7}"#))
    store.run("reset", "%", "--yes")
    let reset = try #require(try store.objects("log", "events", "%", "--jsonl").first)
    #expect(reset["cause"] as? String == "reset")
    #expect((reset["facts"] as? [[String: Any]])?.first?["family"] as? String == "catalog")
  }
}
