import Foundation
import Strandline
import StrandlineLog
import Testing

@testable import strandline

/// `log info`, `verify` and `salvage` of stores with layers.
struct LayerCommandTests {
  /// A store with its rows in one layer, with the layer's path and length.
  ///
  /// - Parameter keepsLog: whether they are in the log as well.
  private static func store(keepsLog: Bool = false) throws -> (store: TableStore, layer: String, byteCount: Int) {
    let store = try TableStore()
    var options = StoreOptions()
    options.log.segmentByteCountMax = 16 << 10
    options.log.helpers = .callerRuns
    if keepsLog { options.history = .commits(.max) }
    let schema = Schema(tables: [
      TableSchema(
        "people", key: [KeyColumn("id", .int)],
        columns: [ColumnSchema("name", .string), ColumnSchema("city", .string)],
        indexes: [IndexSchema("byCity", ["city"])])
    ])
    let open = try Store.open(at: store.path, schema: schema, options: options)
    for start in stride(from: 1, through: 2000, by: 50) {
      try open.write { (tx) throws(StoreError) in
        for id in start..<start + 50 {
          let city = ["Ulm", "Bern", "Graz"][id % 3]
          try tx.put(
            ["id": .int(Int64(id)), "name": .string("person \(id)"), "city": .string("\(city) \(id % 40)")],
            into: "people")
        }
      }
    }
    try open.compact()
    try open.close()
    let file = try #require(DirectoryTree.fileSizes(in: store.path).first { $0.name.hasSuffix(".lyr") })
    return (store, "\(store.path)/\(file.name)", file.byteCount)
  }

  private static func isInteger(_ text: Any?) -> Bool { (text as? String).flatMap { Int($0) } != nil }

  @Test func `layers that are whole are counted and found fine`() throws {
    let (store, layer, byteCount) = try Self.store()
    let verify = store.run("log", "verify", "%")
    #expect(verify.code == .success, "\(verify.out)")
    #expect(verify.lines.contains { $0.hasPrefix("1 layer, ") && $0.contains(" versions, ") })
    let info = try store.object("log", "info", "%", "--json")
    let shown = try #require((info["layers"] as? [[String: Any]])?.first)
    #expect(shown["file"] as? String == layer && shown["byteCount"] as? Int == byteCount)
    #expect((shown["versions"] as? Int ?? 0) > 4000 && shown["opens"] as? Bool == true)
    let target = store.scratch.file("saved")
    let salvage = store.run("log", "salvage", "%", "--to", target)
    #expect(salvage.code == .success, "\(salvage.out)\(salvage.err)")
    #expect(salvage.lines.last == "  lost   nothing")
    #expect(store.run("query", target, "--table", "people", "--count").out == "2000\n")
  }

  @Test func `a damaged block is named by file and byte, read around, and costs salvage its rows`() throws {
    let (store, layer, byteCount) = try Self.store()
    try FilePatch.flip(bit: 2, ofByte: Int64(byteCount / 3), in: layer)
    let verify = store.run("log", "verify", "%")
    #expect(verify.code == .corruption)
    #expect(verify.out.contains("corrupt: \(layer):"), "\(verify.out)")
    #expect(verify.out.contains("nothing of it keeps the store from being opened"), "\(verify.out)")
    let document = try store.object("log", "verify", "%", "--json")
    let finding = try #require(
      (document["findings"] as? [[String: Any]])?.first { $0["severity"] as? String == "corruption" })
    #expect(finding["code"] as? String == "layerDamaged" && finding["file"] as? String == layer)
    #expect(finding["offset"] is Int)
    #expect(store.run("log", "info", "%").code == .success)

    // A read that needs the block says so, and others go on.
    let whole = store.run("query", "%", "--table", "people", "--csv")
    #expect(whole.code == .corruption && whole.err.contains(layer))
    #expect(store.run("stat", "%").code == .corruption)
    let readable = [1, 1000, 2000].filter {
      store.run("get", "%", "--table", "people", "--key", "\($0)").code == .success
    }
    #expect(readable.count >= 2)

    let target = store.scratch.file("saved")
    let salvage = try store.object("log", "salvage", "%", "--to", target, "--json")
    #expect(salvage["complete"] as? Bool == false)
    #expect(salvage["reindexedTables"] as? [String] == ["people"])
    let saved = try #require((salvage["layers"] as? [[String: Any]])?.first)
    #expect(saved["outcome"] as? String == "rebuilt")
    let lost = try #require((saved["lost"] as? [[String: Any]])?.first)
    #expect(lost["family"] as? String == "row" && lost["table"] as? String == "people", "\(lost)")
    #expect(Self.isInteger(lost["after"]) && Self.isInteger(lost["before"]), "\(lost)")
    let first = Int(lost["after"] as? String ?? "") ?? 0
    let last = Int(lost["before"] as? String ?? "") ?? 0
    let count = try #require(Int(store.run("query", target, "--table", "people", "--count").out.dropLast()))
    #expect(count == 2000 - (last - first - 1))
    #expect(store.run("log", "verify", target).code == .success)
    let again = store.run("log", "salvage", "%", "--to", store.scratch.file("again"))
    #expect(again.code == .finding)
    #expect(again.out.contains("lost   rows of people behind key \(first) and in front of key \(last)"), "\(again.out)")
    #expect(again.out.contains("indexes made anew: people"))
  }

  @Test func `a layer that cannot be opened is refused by every command, and salvage saves what it can`() throws {
    let (store, layer, byteCount) = try Self.store()
    try FilePatch.flip(bit: 2, ofByte: Int64(byteCount - 100), in: layer)
    for words in [["log", "verify", "%"], ["log", "info", "%"], ["query", "%", "--table", "people"], ["stat", "%"]] {
      let run = store.run(words)
      #expect(run.code == .corruption, "\(words): \(run.out)\(run.err)")
      #expect((run.out + run.err).contains(layer), "\(words): \(run.out)\(run.err)")
    }
    #expect(store.run("log", "verify", "%").out.contains("log salvage STORE --to NEW"))
    #expect(store.run("log", "info", "%").out.contains("DAMAGED"))
    let target = store.scratch.file("saved")
    let salvage = store.run("log", "salvage", "%", "--to", target)
    #expect(salvage.code == .finding)
    #expect(salvage.out.contains("broken layer \(layer)"), "\(salvage.out)")
    #expect(store.run("query", target, "--table", "people", "--count").out == "2000\n")
  }

  @Test func `what a damaged layer held comes back from the log where that is kept`() throws {
    let (store, layer, byteCount) = try Self.store(keepsLog: true)
    try FilePatch.flip(bit: 2, ofByte: Int64(byteCount / 3), in: layer)
    let target = store.scratch.file("saved")
    let salvage = store.run("log", "salvage", "%", "--to", target)
    #expect(salvage.code == .success, "\(salvage.out)\(salvage.err)")
    #expect(salvage.out.contains("which the layer held, from the log"), "\(salvage.out)")
    #expect(store.run("query", target, "--table", "people", "--count").out == "2000\n")
    #expect(store.run("query", target, "--table", "people", "--where", "city=Ulm 3", "--count").code == .success)
  }

  @Test func `a missing layer is lost with the commits it held, and the report names them`() throws {
    let (store, layer, _) = try Self.store()
    try DirectoryTree.remove(layer)
    let verify = store.run("log", "verify", "%")
    #expect(verify.code == .corruption && verify.out.contains("META names this layer and it is not there"))
    #expect(store.run("log", "info", "%").code == .corruption)
    let salvage = store.run("log", "salvage", "%", "--to", store.scratch.file("saved"))
    #expect(salvage.code == .finding)
    #expect(salvage.out.contains("lost   layer \(layer) with what commits 1 to "), "\(salvage.out)")
  }

  @Test func `tail says of damage in front of the anchor that open does not read there`() throws {
    let store = try TableStore(people: 200)
    #expect(store.run("compact", "%", "--history", "all").code == .success)
    let place = try #require(try store.objects("log", "events", "%", "--jsonl")[2]["lsn"] as? Int)
    let segment = try #require(try DirectoryTree.names(in: store.path).first { $0.hasPrefix("seg-") })
    try FilePatch.flip(bit: 3, ofByte: Int64(place) + 80, in: "\(store.path)/\(segment)")
    let tail = store.run("log", "tail", "%")
    #expect(tail.code == .corruption, "\(tail)")
    #expect(tail.out.contains("open       does not read there"), "\(tail.out)")
    // One place, though the verdict on the end of the log follows from it.
    let verify = store.run("log", "verify", "%")
    #expect(verify.out.contains("DAMAGED: 1 place; nothing of it keeps the store from being opened"), "\(verify.out)")
    let document = try store.object("log", "tail", "%", "--json")
    #expect(document["refusal"] is NSNull && document["damage"] is String, "\(document)")
    #expect(store.run("put", "%", #"{"id":1,"name":"new"}"#, "--table", "people").code == .success)
  }
}
