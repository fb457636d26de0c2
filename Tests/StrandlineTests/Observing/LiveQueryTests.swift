import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

struct LiveQueryTests {
  private struct Todo: Codable, Hashable {
    var id: Int64
    var title: String
    var done = false
  }

  private static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string), ColumnSchema("done", .bool)]),
    TableSchema("notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string)]),
  ])

  private static func open(
    _ fileSystem: any FileSystem = SimulatedDisk(), _ change: (inout StoreOptions) -> Void = { _ in }
  ) async throws -> Store {
    var options = StoreOptions()
    options.log.environment.fileSystem = fileSystem
    options.memoryLayerByteCountMax = 64 << 10
    change(&options)
    return try await Store.open(at: "/store", schema: schema, options: options)
  }

  private static func put(_ todos: [Todo], _ store: Store) async throws {
    try await store.write { (tx) throws(StoreError) in for todo in todos { _ = try tx.put(todo, into: "todos") } }
  }

  @Test func `all of it first, then what came, went and changed`() async throws {
    let store = try await Self.open()
    try await Self.put([Todo(id: 1, title: "b"), Todo(id: 2, title: "a"), Todo(id: 3, title: "c", done: true)], store)
    var live = try store.observe(store.query("todos").where("done", .equals, false).order(by: "title"))
      .makeAsyncIterator()
    let first = try #require(try await live.next())
    #expect(first.isFirst && first.went.isEmpty && first.changed.isEmpty)
    #expect(try first.came.map { try $0.decoded(Todo.self) } == [Todo(id: 2, title: "a"), Todo(id: 1, title: "b")])
    try await store.write { (tx) throws(StoreError) in
      try tx.update(1, in: "todos", set: ["done": true])
      try tx.update(2, in: "todos", set: ["title": "z"])
      try tx.update(3, in: "todos", set: ["done": false])
      try tx.insert(Todo(id: 4, title: "unseen", done: true), into: "todos")
    }
    let second = try #require(try await live.next())
    #expect(!second.isFirst && second.sequence.rawValue == first.sequence.rawValue + 1)
    #expect(second.came == [LiveRow(key: [3], row: ["id": 3, "title": "c", "done": false])])
    #expect(second.went == [LiveRow(key: [1], row: ["id": 1, "title": "b", "done": false])])
    #expect(second.changed == [LiveRow(key: [2], row: ["id": 2, "title": "z", "done": false])])
    #expect(try second.rows().collect().map { $0["title"] } == ["c", "z"])
    try await store.close()
    #expect(try await live.next() == nil)
    #expect(try await live.next() == nil)
  }

  @Test func `a slow consumer gets one difference, and nothing of what cancels out`() async throws {
    let store = try await Self.open { $0.durability = .buffered }
    var live = try store.observe(store.query("todos")).makeAsyncIterator()
    #expect(try await live.next()?.came.isEmpty == true)
    for round in Int64(0)..<40 {
      try await Self.put((0..<50).map { Todo(id: $0, title: "round \(round)") }, store)
    }
    try await store.write { (tx) throws(StoreError) in
      for id in Int64(1)..<50 { try tx.delete(.int(id), from: "todos") }
    }
    try await store.compact()
    let change = try #require(try await live.next())
    #expect(change.came == [LiveRow(key: [0], row: ["id": 0, "title": "round 39", "done": false])])
    #expect(change.went.isEmpty && change.changed.isEmpty)
    // Writes of other tables, and of rows that are as they were, are no change.
    try await store.write { (tx) throws(StoreError) in _ = try tx.put(["id": 1, "title": "note"], into: "notes") }
    try await Self.put([Todo(id: 0, title: "round 39")], store)
    try await Self.put([Todo(id: 7, title: "seen")], store)
    #expect(try await live.next()?.came.map(\.key) == [[7]])
    try await store.close()
  }

  @Test func `rows behind a limit come in when others leave`() async throws {
    let store = try await Self.open()
    try await Self.put((0..<6).map { Todo(id: $0, title: "title \($0)") }, store)
    var live = try store.observe(store.query("todos").order(by: "title").limit(2).select("title")).makeAsyncIterator()
    #expect(try await live.next()?.came.map(\.row) == [["title": "title 0"], ["title": "title 1"]])
    try await store.write { (tx) throws(StoreError) in try tx.delete(0, from: "todos") }
    let change = try #require(try await live.next())
    #expect(change.went == [LiveRow(key: [0], row: ["title": "title 0"])])
    #expect(change.came == [LiveRow(key: [2], row: ["title": "title 2"])])
    try await store.close()
  }

  @Test func `a reset takes everything away`() async throws {
    let store = try await Self.open()
    try await Self.put((0..<6).map { Todo(id: $0, title: "title") }, store)
    var live = try store.observe(store.query("todos")).makeAsyncIterator()
    #expect(try await live.next()?.came.count == 6)
    try await store.reset()
    try await Self.put([Todo(id: 5, title: "title"), Todo(id: 9, title: "new")], store)
    let change = try #require(try await live.next())
    #expect(change.view.epoch == 1)
    #expect(change.went.count == 5 && change.came.map(\.key) == [[9]] && change.changed.isEmpty)
    try await store.close()
  }

  @Test func `whoever waits is woken by a commit, a close and a cancellation`() async throws {
    let store = try await Self.open()
    let counted = Task {
      var count = 0
      for try await change in try store.observe(store.query("todos")) { count += change.came.count }
      return count
    }
    let cancelled = Task {
      var live = try store.observe(store.query("todos")).makeAsyncIterator()
      _ = try await live.next()
      return try await live.next() == nil
    }
    cancelled.cancel()
    #expect(try await cancelled.value)
    for id in Int64(0)..<20 { try await Self.put([Todo(id: id, title: "title")], store) }
    let last = try store.observe(store.query("todos").where("id", .equals, 19))
    for try await change in last where !change.came.isEmpty { break }
    try await store.close()
    #expect(try await counted.value <= 20)
  }

  @Test func `an idle consumer does not keep what compaction has replaced`() async throws {
    let store = try await Self.open { $0.durability = .buffered }
    let title = String(repeating: "tide ", count: 100)
    let idle = Task {
      for try await _ in try store.observe(store.query("notes")) {}
    }
    for round in 0..<2 {
      for id in Int64(0)..<300 { try await Self.put([Todo(id: id, title: "\(round) \(title)")], store) }
      try await store.compact()
    }
    while store.engine.pinnedByteCount > 0 { await Task.yield() }
    try await store.close()
    try await idle.value
  }

  @Test func `once nothing more can come the consumer is told`() async throws {
    let faulty = FaultyFileSystem(SimulatedDisk())
    let store = try await Self.open(faulty)
    var live = try store.observe(store.query("todos")).makeAsyncIterator()
    _ = try await live.next()
    faulty.fail([.syncData], with: .errno(Errno(5)), .forever)
    await #expect(throws: (any Error).self) { try await Self.put([Todo(id: 1, title: "lost")], store) }
    await #expect {
      _ = try await live.next()
    } throws: { error in
      guard case StoreError.poisoned = error else { return false }
      return true
    }
    #expect(try await live.next() == nil)
  }

  @Test func `queries that are no set of rows are refused at once`() async throws {
    let store = try await Self.open()
    for plan in [
      QueryPlan(isHead: true), QueryPlan(isCounted: true), QueryPlan(cardinality: .single), QueryPlan(limit: -1),
    ] {
      #expect(throws: StoreError.self) { try store.observe(Query("todos", from: store.view(), plan: plan)) }
    }
    #expect(throws: StoreError.unknownTable("nothing")) { try store.observe(store.query("nothing")) }
    #expect(throws: StoreError.unknownColumn(table: "todos", column: "nothing")) {
      try store.observe(store.query("todos").where("nothing", .equals, 1))
    }
    try await store.close()
    #expect(throws: StoreError.closed) { try store.observe(store.query("todos")) }
  }

  @Test func `a read-only store answers once`() async throws {
    let disk = SimulatedDisk()
    let store = try await Self.open(disk)
    try await Self.put([Todo(id: 1, title: "one")], store)
    try await store.close()
    let reader = try await Self.open(disk) { $0.log.access = .readOnly }
    var count = 0
    for try await change in try reader.observe(reader.query("todos")) { count += change.came.count }
    #expect(count == 1)
    try await reader.close()
  }
}
