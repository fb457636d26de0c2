@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineTestSupport
import Testing

/// The state of another store becomes that of this one, in one record.
struct StateAdoptionTests {
  private struct GivenUp: Error {}

  private static let schema = Schema(tables: [
    TableSchema(
      "rows", key: [KeyColumn("id", .int)], columns: [ColumnSchema("x", .string)], indexes: [IndexSchema("by_x", ["x"])]
    )
  ])

  private static func open(_ path: String) async throws -> Store {
    var options = StoreOptions()
    options.compactsInBackground = false
    return try await Store.open(at: path, schema: schema, options: options)
  }

  private static func content(_ store: Store) throws -> [Int64: String] {
    var content: [Int64: String] = [:]
    for row in try store.view().query("rows").all() {
      if case .int(let id)? = row["id"], case .string(let x)? = row["x"] { content[id] = x }
    }
    return content
  }

  /// Adopts the rows 2 to 4 of a staging store, with 3 changed and 4 taken out by a transaction that never commits.
  private static func adopt(into store: Store, keepCopy: Bool = false, stale: Bool = false) async throws -> Bool {
    let staging = try await open(store.stagingPath("s"))
    // More commits than the store has: numbers of the staging store mean nothing in it.
    for round in 0..<20 {
      try await staging.write { tx in
        for id in 2...4 { try tx.put(["id": .int(Int64(id)), "x": .string("s\(round)")], into: "rows") }
      }
    }
    let base = try await store.writeOut(staging)
    try await store.write { tx in try tx.put(["id": 1, "x": "marker"], into: "rows") }
    let expected = try store.view().sequence
    let layer = Lock<StagedLayer?>(nil)
    do {
      try await staging.write { (tx) throws in
        try tx.put(["id": 3, "x": "laid"], into: "rows")
        try tx.delete(4, from: "rows")
        let written = try tx.writeOut(into: store, above: base)
        layer.withLock { $0 = written }
        throw GivenUp()
      }
    } catch {}
    if stale { try await store.write { tx in try tx.put(["id": 9, "x": "meanwhile"], into: "rows") } }
    let top = try #require(layer.withLock { $0 })
    let outcome = try await store.adopt(
      [top, base], expecting: expected, keepCopy: keepCopy, copyName: nil, willCommit: {})
    if outcome == nil { store.discard([top, base]) }
    try await staging.close()
    try await store.removeInner("stage-s")
    return outcome != nil
  }

  @Test func `what was there is gone, and indexes, reads and writes go on`() async throws {
    let directory = TemporaryDirectory()
    let store = try await Self.open("\(directory.path)/store")
    try await store.write { tx in for id in 1...3 { try tx.put(["id": .int(Int64(id)), "x": "old"], into: "rows") } }
    let before = try store.view()
    #expect(try await Self.adopt(into: store))
    #expect(try Self.content(store) == [2: "s19", 3: "laid"])
    #expect(try store.view().query("rows").where("x", .equals, "laid").count() == 1)
    #expect(try store.view().query("rows").where("x", .equals, "old").count() == 0)
    #expect(try before.query("rows").count() == 3, "a view that is held reads on")
    try await store.write { tx in
      try tx.put(["id": 2, "x": "after"], into: "rows")
      try tx.put(["id": 5, "x": "after"], into: "rows")
    }
    let expected: [Int64: String] = [2: "after", 3: "laid", 5: "after"]
    #expect(try Self.content(store) == expected)
    #expect(try store.view().epoch == 1)
    try await store.close()
    let again = try await Self.open("\(directory.path)/store")
    #expect(try Self.content(again) == expected)
    try await again.close()
  }

  @Test func `a merge of the base in front of the first commit behind it, and an open after that`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let store = try await Self.open(path)
    #expect(try await Self.adopt(into: store))
    try await store.compact()
    try await store.close()
    let again = try await Self.open(path)
    #expect(try Self.content(again) == [2: "s19", 3: "laid"])
    #expect(try await again.verify().findings.isEmpty)
    try await again.compact()
    try await again.close()
    let last = try await Self.open(path)
    #expect(try Self.content(last) == [2: "s19", 3: "laid"])
    try await last.close()
  }

  @Test func `twice, and then a reset`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let store = try await Self.open(path)
    #expect(try await Self.adopt(into: store))
    #expect(try await Self.adopt(into: store, keepCopy: true))
    #expect(try Self.content(store) == [2: "s19", 3: "laid"])
    let copy = try #require(try store.keptCopyNames().first)
    try await store.reset()
    #expect(try Self.content(store).isEmpty)
    try await store.close()
    var options = StoreOptions()
    options.log.access = .readOnly
    let kept = try await Store.open(at: "\(path)/\(copy)", options: options)
    #expect(try Self.content(kept) == [1: "marker", 2: "s19", 3: "laid"])
    try await kept.close()
    let again = try await Self.open(path)
    #expect(try Self.content(again).isEmpty)
    try await again.close()
  }

  @Test func `somebody wrote meanwhile: nothing is changed`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let store = try await Self.open(path)
    #expect(try await !Self.adopt(into: store, stale: true))
    #expect(try Self.content(store) == [1: "marker", 9: "meanwhile"])
    #expect(try store.view().epoch == 0 && store.stagingNames().isEmpty)
    try await store.close()
    let again = try await Self.open(path)
    #expect(try Self.content(again) == [1: "marker", 9: "meanwhile"])
    try await again.close()
  }

  @Test func `layers that nothing names are removed by the next open`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let store = try await Self.open(path)
    let staging = try await Self.open(store.stagingPath("s"))
    try await staging.write { tx in try tx.put(["id": 1, "x": "s"], into: "rows") }
    _ = try await store.writeOut(staging)
    try await staging.close()
    try await store.close()
    let again = try await Self.open(path)
    #expect(again.openReport.log.removed.contains { $0.hasSuffix(".lyr") })
    #expect(try Self.content(again).isEmpty)
    try await again.close()
  }
}
