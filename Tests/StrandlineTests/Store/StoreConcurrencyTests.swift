import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineTestSupport
import Testing

/// Writers, readers, held views, compaction, resets, backups and close at once. Meant for the thread sanitizer, and right without it.
struct StoreConcurrencyTests {
  private let directory = TemporaryDirectory()

  private static let schema = Schema(tables: [
    TableSchema(
      "counters", key: [KeyColumn("id", .int)],
      columns: [ColumnSchema("value", .int), ColumnSchema("twin", .int), ColumnSchema("padding", .string)],
      indexes: [IndexSchema("byValue", ["value"])])
  ])

  private func options() -> StoreOptions {
    var options = StoreOptions()
    options.memoryLayerByteCountMax = 64 << 10
    options.cacheByteCountMax = 1 << 20
    options.log.segmentByteCountMax = 64 << 10
    return options
  }

  /// Row 0 and row 1 are always written together, with one value.
  private func write(_ store: Store, _ value: Int64, _ thread: Int) throws(WriteError<StoreError>) {
    let padding = Value.string(String(repeating: "p", count: 400))
    try store.write(durability: value % 4 == 0 ? .synced : .buffered) { (tx) throws(StoreError) in
      try tx.put(["id": 0, "value": .int(value), "twin": .int(Int64(thread)), "padding": padding], into: "counters")
      try tx.put(["id": 1, "value": .int(value), "twin": .int(Int64(thread)), "padding": padding], into: "counters")
      try tx.put(["id": .int(Int64(10 + thread)), "value": .int(value)], into: "counters")
    }
  }

  @Test func `whatever goes on, every view shows whole commits and stays as it is`() throws {
    let store = try Store.open(at: directory.path + "/store", schema: Self.schema, options: options())
    let writerCount = 8
    let rounds = Int64(40 * SoakScale.factor)
    let working = Shared(writerCount)
    let complaints = Shared<[String]>([])
    let backups = directory.path
    withThreads(writerCount + 5) { thread in
      func complain(_ text: String) { complaints.lock.withLock { $0.append(text) } }
      do {
        if thread < writerCount {
          defer { working.lock.withLock { $0 -= 1 } }
          for round in 0..<rounds { try write(store, round * 100 + Int64(thread), thread) }
          return
        }
        var turn = 0
        while working.lock.withLock({ $0 }) > 0 {
          turn += 1
          switch thread - writerCount {
          case 0, 1:
            let view = try store.view()
            let (one, other) = (try view.get(0, in: "counters"), try view.get(1, in: "counters"))
            if one?["value"] != other?["value"] || one?["twin"] != other?["twin"] { complain("half a commit is seen") }
            let count = try view.query("counters").where("value", .greaterThanOrEquals, 0).count()
            if try view.query("counters").count() != count { complain("index and rows differ") }
            if try view.get(0, in: "counters") != one { complain("a view changed") }
          case 2: try store.compact()
          case 3 where turn % 3 == 0: try store.reset()
          case 3: try store.sync()
          default: try store.backup(to: "\(backups)/backup-\(turn)")
          }
        }
      } catch {
        complain("thread \(thread): \(error)")
      }
    }
    #expect(complaints.lock.withLock { $0 } == [])
    let last = try store.view()
    let rows = try last.query("counters").all()
    try store.close()
    let again = try Store.open(at: directory.path + "/store", schema: Self.schema, options: options())
    #expect(try again.view().query("counters").all() == rows)
    try again.close()
  }

  @Test func `a reset that comes between commits fails none of them`() throws {
    let store = try Store.open(at: directory.path + "/store", schema: Self.schema, options: options())
    let unexpected = Shared<[String]>([])
    let working = Shared(4)
    withThreads(5) { thread in
      do {
        if thread == 4 {
          while working.lock.withLock({ $0 }) > 0 { try store.reset() }
          return
        }
        defer { working.lock.withLock { $0 -= 1 } }
        for value in Int64(0)..<Int64(150 * SoakScale.factor) { try write(store, value * 4 + 1, thread) }
      } catch {
        unexpected.lock.withLock { $0.append("thread \(thread): \(error)") }
      }
    }
    #expect(unexpected.lock.withLock { $0 } == [])
    try store.close()
  }

  @Test func `closing beside writers and readers answers closed and loses nothing acknowledged`() throws {
    let store = try Store.open(at: directory.path + "/store", schema: Self.schema, options: options())
    let acknowledged = Shared<[Int: Int64]>([:])
    let unexpected = Shared<[String]>([])
    withThreads(5) { thread in
      do {
        if thread == 4 {
          while acknowledged.lock.withLock({ $0.values.max() ?? 0 }) < 20 {}
          try store.close()
          return
        }
        for value in Int64(0)..<100_000 {
          try write(store, value, thread)
          acknowledged.lock.withLock { $0[thread] = value }
        }
      } catch WriteError<StoreError>.store(.closed) {
      } catch {
        unexpected.lock.withLock { $0.append("\(error)") }
      }
    }
    #expect(unexpected.lock.withLock { $0 } == [])
    let again = try Store.open(at: directory.path + "/store", schema: Self.schema, options: options())
    for (thread, value) in acknowledged.lock.withLock({ $0 }) {
      let row = try again.view().get(.int(Int64(10 + thread)), in: "counters")
      guard case .int(let found)? = row?["value"] else {
        Issue.record("thread \(thread): its row is gone")
        continue
      }
      #expect(found >= value)
    }
    try again.close()
  }
}

private final class Shared<State: Sendable>: Sendable {
  let lock: Lock<State>
  init(_ state: State) { lock = Lock(state) }
}
