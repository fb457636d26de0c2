import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

struct StoreTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  private static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)],
      columns: [
        ColumnSchema("title", .string, isNullable: false), ColumnSchema("done", .bool),
        ColumnSchema("priority", .int),
      ],
      indexes: [IndexSchema("byPriority", ["priority"])])
  ])

  private func todo(_ id: Int64, _ title: String, priority: Int64 = 0) -> Row {
    ["id": .int(id), "title": .string(title), "done": false, "priority": .int(priority)]
  }

  @Test func `what was written is read back, also after close and open`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    try store.write { (tx) throws(StoreError) in
      try tx.insert(todo(1, "one"), into: "todos")
      try tx.insert(todo(2, "two", priority: -5), into: "todos")
    }
    #expect(try store.view().get(1, in: "todos") == todo(1, "one"))
    try store.write { (tx) throws(StoreError) in
      try tx.update(2, in: "todos", set: ["done": true])
      #expect(try tx.get(2, in: "todos")?["done"] == true)
      try tx.delete(1, from: "todos")
      #expect(try tx.get(1, in: "todos") == nil)
    }
    let view = try store.view()
    #expect(try view.get(1, in: "todos") == nil)
    #expect(try view.get(2, in: "todos")?["done"] == true)
    try store.close()
    #expect(throws: StoreError.closed) { try store.view() }

    let again = try Store.open(at: path)
    #expect(try again.view().get(2, in: "todos")?["title"] == "two")
    #expect(try again.view().get(1, in: "todos") == nil)
    try again.compact()
    #expect(try again.view().get(2, in: "todos")?["title"] == "two")
    try again.close()
    let compacted = try Store.open(at: path, schema: Self.schema)
    #expect(compacted.openReport.layerCount == 1)
    #expect(compacted.openReport.log.recordCount == 0)
    #expect(try compacted.view().get(2, in: "todos")?["title"] == "two")
    try compacted.close()
  }

  @Test func `a closure that throws leaves nothing and the next write goes on`() throws {
    struct Refused: Error {}
    let store = try Store.open(at: path, schema: Self.schema)
    try store.write { (tx) throws(StoreError) in _ = try tx.insert(todo(1, "one"), into: "todos") }
    #expect(throws: WriteError<any Error>.self) {
      try store.write { tx in
        try tx.insert(todo(2, "two"), into: "todos")
        try tx.update(1, in: "todos", set: ["title": "changed"])
        throw Refused()
      }
    }
    let view = try store.view()
    #expect(try view.get(2, in: "todos") == nil)
    #expect(try view.get(1, in: "todos")?["title"] == "one")
    let sequence = view.sequence
    try store.write { (tx) throws(StoreError) in _ = try tx.insert(todo(2, "again"), into: "todos") }
    #expect(try store.view().sequence.rawValue == sequence.rawValue + 1)
    #expect(try store.view().get(2, in: "todos")?["title"] == "again")
    try store.close()
  }

  @Test func `a view stays as it is through writes, compaction and reset`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    for id in Int64(0)..<200 {
      try store.write(durability: .buffered) { (tx) throws(StoreError) in
        _ = try tx.put(todo(id, "first"), into: "todos")
      }
    }
    let first = try store.view()
    for id in Int64(0)..<200 {
      try store.write(durability: .buffered) { (tx) throws(StoreError) in
        _ = try tx.put(todo(id, "second"), into: "todos")
      }
    }
    try store.compact()
    let second = try store.view()
    let report = try store.reset()
    #expect(report.epoch == 1)
    for id in Int64(0)..<200 {
      #expect(try first.get(.int(id), in: "todos")?["title"] == "first")
      #expect(try second.get(.int(id), in: "todos")?["title"] == "second")
      #expect(try store.view().get(.int(id), in: "todos") == nil)
    }
    try store.write { (tx) throws(StoreError) in _ = try tx.insert(todo(7, "third"), into: "todos") }
    #expect(try store.view().get(7, in: "todos")?["title"] == "third")
    #expect(try first.get(7, in: "todos")?["title"] == "first")
    try store.close()
    let again = try Store.open(at: path, schema: Self.schema)
    #expect(try again.view().get(7, in: "todos")?["title"] == "third")
    #expect(try again.view().get(8, in: "todos") == nil)
    try again.close()
  }

  @Test func `an expectation that does not hold is a conflict and writes nothing`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    try store.write { (tx) throws(StoreError) in _ = try tx.insert(todo(1, "one"), into: "todos") }
    let seen = try #require(try store.view().sequence(of: 1, in: "todos"))
    try store.write { (tx) throws(StoreError) in
      try tx.expect("todos", 1, sequence: seen)
      try tx.update(1, in: "todos", set: ["title": "two"])
    }
    #expect(throws: WriteError<StoreError>.self) {
      try store.write { (tx) throws(StoreError) in
        try tx.expect("todos", 1, sequence: seen)
        try tx.update(1, in: "todos", set: ["title": "three"])
      }
    }
    #expect(try store.view().get(1, in: "todos")?["title"] == "two")
    try store.close()
  }

  @Test func `events of a stream are numbered and read in order`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    try store.write { (tx) throws(StoreError) in
      #expect(try tx.append(["item": "tea"], type: "placed", to: "order-1", expecting: .new) == 1)
      #expect(try tx.append(["item": "cup"], type: "added", to: "order-1", expecting: .version(1)) == 2)
      try tx.append([:], type: "placed", to: "order-10")
    }
    #expect(throws: WriteError<StoreError>.self) {
      try store.write { (tx) throws(StoreError) in
        _ = try tx.append([:], type: "late", to: "order-1", expecting: .version(1))
      }
    }
    try store.compact()
    let view = try store.view()
    let events = try view.events(of: "order-1").map { try $0.get() }
    #expect(events.map(\.type) == ["placed", "added"])
    #expect(events.map(\.version) == [1, 2])
    #expect(events[1].payload["item"] == "cup")
    #expect(try view.events(of: "order-1", from: 2).map { try $0.get().version } == [2])
    #expect(try view.version(of: "order-1") == 2)
    #expect(try view.version(of: "order-2") == 0)
    try store.close()
  }

  @Test func `a small memory layer is written out and merged while writing goes on`() throws {
    var options = StoreOptions()
    options.memoryLayerByteCountMax = 64 << 10
    options.durability = .buffered
    let store = try Store.open(at: path, schema: Self.schema, options: options)
    var generator = SeededGenerator(seed: 7)
    var model: [Int64: Row] = [:]
    for round in 0..<3000 {
      let id = Int64.random(in: 0..<500, using: &generator)
      if Int.random(in: 0..<5, using: &generator) == 0 {
        try store.write { (tx) throws(StoreError) in _ = try tx.delete(.int(id), from: "todos") }
        model[id] = nil
      } else {
        let row = todo(id, "title of round \(round) that is long enough to fill the layer", priority: id % 7)
        try store.write { (tx) throws(StoreError) in _ = try tx.put(row, into: "todos") }
        model[id] = row
      }
    }
    func check(_ store: Store) throws {
      let view = try store.view()
      for id in Int64(0)..<500 { #expect(try view.get(.int(id), in: "todos") == model[id], "row \(id)") }
    }
    try check(store)
    try store.close()
    let again = try Store.open(at: path, schema: Self.schema, options: options)
    #expect(again.openReport.layerCount > 0)
    try check(again)
    try again.compact()
    try check(again)
    let copy = directory.path + "/copy"
    try again.backup(to: copy)
    try again.close()
    let restored = try Store.open(at: copy, schema: Self.schema, options: options)
    try check(restored)
    try restored.close()
  }

  @Test func `the asynchronous forms do the same`() async throws {
    let store = try await Store.open(at: path, schema: Self.schema)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in Int64(0)..<64 {
        group.addTask { try await store.write { tx in _ = try tx.insert(todo(id, "task"), into: "todos") } }
      }
      try await group.waitForAll()
    }
    let view = try store.view()
    for id in Int64(0)..<64 { #expect(try view.get(.int(id), in: "todos")?["title"] == "task") }
    try await store.compact()
    try await store.reset()
    #expect(try store.view().get(1, in: "todos") == nil)
    try await store.close()
  }

  @Test func `changes are delivered in order, with cause, metadata and rows, and a reset among them`() async throws {
    let store = try await Store.open(at: path, schema: Self.schema)
    let start = store.position
    try await store.write(metadata: ["actor": "till 4"]) { tx in _ = try tx.insert(todo(1, "one"), into: "todos") }
    try await store.reset()
    try await store.write { tx in _ = try tx.insert(todo(2, "two"), into: "todos") }
    var commits: [StoreCommit] = []
    for try await commit in store.changes(since: start) {
      commits.append(commit)
      if commits.count == 3 || commit.rows.contains(where: { $0.key == [2] }) { break }
    }
    // The first may have been removed with the reset already.
    let kinds = commits.map(\.kind)
    #expect(kinds.suffix(2) == [.reset, .facts])
    #expect(commits.last?.rows.map(\.key) == [[2]])
    #expect(commits.last?.rows.map(\.row) == [todo(2, "two")])
    if commits.count == 3 { #expect(commits[0].metadata == ["actor": "till 4"]) }
    try await store.close()
  }
}
