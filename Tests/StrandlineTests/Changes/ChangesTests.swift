import StrandlineLog
import StrandlineTestSupport
import Testing

@testable import Strandline

/// Changes by position, by table, and how far back they reach.
struct ChangesTests {
  private static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("list", .string), KeyColumn("id", .int)], columns: [ColumnSchema("title", .string)]),
    TableSchema("notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("payload", .bytes)]),
  ])

  private static func open(
    _ disk: any FileSystem, at path: String = "/store", clock: ManualClock = ManualClock(),
    history: StoreOptions.History = .none
  ) throws -> Store {
    var options = StoreWorkload.options(disk, seed: 81)
    options.log.environment.clock = clock
    options.log.compresses = false
    options.log.segmentByteCountMax = 128 << 10
    options.history = history
    return try Store.open(at: path, schema: schema, options: options)
  }

  /// A commit of about 16 KiB.
  @discardableResult
  private static func note(_ store: Store, _ id: Int64) throws -> SequenceNumber {
    try store.write { (tx) throws(StoreError) in
      _ = try tx.put(
        ["id": .int(id), "payload": .bytes([UInt8](repeating: UInt8(id % 200), count: 16 << 10))], into: "notes")
      return tx.sequence
    }
  }

  private static func oldestCommit(of store: Store) throws -> SequenceNumber { try store.statistics().oldestCommit }

  @Test func `a table's changes have keys and rows, and nothing of other tables`() async throws {
    let store = try Self.open(SimulatedDisk())
    var changes = try store.changes(in: "todos").makeAsyncIterator()
    try await store.write(metadata: ["actor": "till 4"]) { (tx) throws(StoreError) in
      _ = try tx.put(["list": "home", "id": 1, "title": "one"], into: "todos")
      _ = try tx.put(["id": 1], into: "notes")
    }
    try await store.write { (tx) throws(StoreError) in _ = try tx.put(["id": 2], into: "notes") }
    try await store.write { (tx) throws(StoreError) in try tx.delete("home", 1, from: "todos") }
    try await store.reset()
    try await store.write { (tx) throws(StoreError) in
      _ = try tx.put(["list": "work", "id": 7], into: "todos")
    }
    let first = try #require(try await changes.next())
    #expect(
      first.rows == [
        RowChange(table: "todos", key: ["home", 1], row: ["list": "home", "id": 1, "title": "one"])
      ])
    #expect(first.metadata == ["actor": "till 4"] && !first.isReset)
    let second = try #require(try await changes.next())
    #expect(second.rows == [RowChange(table: "todos", key: ["home", 1], row: nil)])
    let third = try #require(try await changes.next())
    #expect(third.isReset && third.rows.isEmpty && third.cause == .reset && third.position.epoch == 1)
    let fourth = try #require(try await changes.next())
    #expect(fourth.rows.map(\.key) == [["work", 7]])
    #expect(throws: StoreError.unknownTable("nothing")) { try store.changes(in: "nothing") }
    try await store.close()
    #expect(try await changes.next() == nil)
  }

  @Test func `a position goes on where it was, after close and open too`() async throws {
    let disk = SimulatedDisk()
    let store = try Self.open(disk)
    for id in Int64(0)..<5 { try Self.note(store, id) }
    var changes = store.changes().makeAsyncIterator()
    _ = try await changes.next()
    let position = try #require(try await changes.next()).position
    try await store.close()
    let again = try Self.open(disk)
    var rest = again.changes(since: position).makeAsyncIterator()
    #expect(try await rest.next()?.rows.map(\.key) == [[1]])
    try await again.close()
  }

  @Test func `what was released is told with the first commit there is`() async throws {
    let store = try Self.open(SimulatedDisk())
    for id in Int64(0)..<4 { try Self.note(store, id) }
    let position = store.position
    for id in Int64(0)..<40 { try Self.note(store, id) }
    try await store.compact()
    let first = try Self.oldestCommit(of: store)
    #expect(first > position.sequence)
    var changes = store.changes(since: position).makeAsyncIterator()
    await #expect(throws: StoreError.historyTrimmed(first: first)) { _ = try await changes.next() }
    #expect(throws: StoreError.self) { try store.view(at: position.sequence) }
    try await store.close()
  }

  @Test func `a consumer that has seen another history is told`() async throws {
    let disk = SimulatedDisk()
    let store = try Self.open(disk)
    try Self.note(store, 1)
    try await store.backup(to: "/copy")
    try Self.note(store, 2)
    let position = store.position
    try await store.close()
    let copy = try Self.open(disk, at: "/copy")
    var early = copy.changes(since: position).makeAsyncIterator()
    await #expect(throws: StoreError.historyForked(at: position.sequence)) { _ = try await early.next() }
    try Self.note(copy, 3)
    var changes = copy.changes(since: position).makeAsyncIterator()
    await #expect(throws: StoreError.historyForked(at: position.sequence)) { _ = try await changes.next() }
    try await copy.close()
  }

  @Test func `a cancelled consumer ends`() async throws {
    let store = try Self.open(SimulatedDisk())
    let consumer = Task {
      var count = 0
      for try await _ in store.changes() { count += 1 }
      return count
    }
    consumer.cancel()
    #expect(try await consumer.value <= 1)
    try await store.close()
  }

  @Test func `history by bytes keeps so many and a segment`() throws {
    let limit: UInt64 = 1 << 20
    let store = try Self.open(SimulatedDisk(), history: .bytes(limit))
    var sequences: [SequenceNumber] = []
    for id in Int64(0)..<256 {
      sequences.append(try Self.note(store, id % 4))
      if id % 40 == 39 { try store.compact() }
    }
    try store.compact()
    let statistics = try store.statistics()
    #expect(statistics.logByteCount <= limit + (160 << 10) && statistics.logByteCount > limit - (320 << 10))
    let oldest = try #require(sequences.firstIndex { $0 >= statistics.oldestView })
    // About 64 commits fit.
    #expect(sequences.count - oldest > 40 && sequences.count - oldest < 72)
    for place in oldest..<sequences.count {
      let view = try store.view(at: sequences[place])
      #expect(try view.sequence(of: .int(Int64(place % 4)), in: "notes") == sequences[place])
    }
    #expect(throws: StoreError.historyTrimmed(first: statistics.oldestView)) { try store.view(at: sequences[3]) }
    #expect(try store.history(of: 1, in: "notes").count >= (sequences.count - oldest) / 4)
    try store.close()
  }

  @Test func `history by age keeps what is younger`() throws {
    let clock = ManualClock()
    let store = try Self.open(SimulatedDisk(), clock: clock, history: .age(.seconds(100)))
    var sequences: [SequenceNumber] = []
    for id in Int64(0)..<60 {
      sequences.append(try Self.note(store, id % 4))
      clock.advance(by: .seconds(10))
    }
    try store.compact()
    // The last ten commits are younger than 100 s; how much older ones stay is a matter of how coarsely times are kept.
    for place in 50..<60 {
      let view = try store.view(at: sequences[place])
      #expect(try view.sequence(of: .int(Int64(place % 4)), in: "notes") == sequences[place])
    }
    #expect(throws: StoreError.self) { try store.view(at: sequences[30]) }
    #expect(try store.history(of: 1, in: "notes").count < 15)
    try store.close()
    // An age beyond all time keeps everything.
    let forever = try Self.open(SimulatedDisk(), history: .age(.seconds(Int64.max)))
    let first = try Self.note(forever, 1)
    try Self.note(forever, 1)
    try forever.compact()
    #expect(try forever.view(at: first).sequence == first)
    try forever.close()
  }
}
