import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Live queries against asking again: whatever a consumer was told, put together, is what the query answers.
struct LiveQueryModelTests {
  private static let key = [KeyColumn("id", .int)]
  private static let columns = [("a", ColumnType.int), ("b", .string), ("c", .any)]

  private static let schema = Schema(tables: [
    TableSchema(
      "rows", key: key, columns: columns.map { ColumnSchema($0, $1) }, indexes: [IndexSchema("byA", ["a", "b"])],
      allowsOtherColumns: true),
    TableSchema("others", key: key, columns: [ColumnSchema("a", .int)]),
  ])

  /// What random plans are made for.
  private static let definition = TableDefinition(
    number: 1, name: "rows", key: key,
    columns: columns.enumerated().map { place, column in
      ColumnDefinition(number: UInt16(place), name: column.0, type: column.1, isNullable: true)
    }, indexes: [], allowsOtherColumns: true, isDropped: false)

  /// A consumer, and what it has put together.
  private struct Consumer {
    var plan: QueryPlan
    var live: LiveQuery.Iterator
    var rows: [Int64: Row]?

    /// What the query answers now, by key.
    func answer(_ store: Store) throws -> [Int64: Row] {
      let view = try store.view()
      var whole = plan
      whole.columns = nil
      whole.stripsNulls = false
      let keys = try view.rows(of: "rows", for: whole).collect().map { row -> Int64 in
        guard case .int(let id)? = row["id"] else { return -1 }
        return id
      }
      let rows = try view.rows(of: "rows", for: plan).collect()
      return Dictionary(uniqueKeysWithValues: zip(keys, rows))
    }

    /// Takes one change and answers what is wrong with it.
    mutating func take(_ store: Store) async throws -> String? {
      guard let change = try await live.next() else { return "it ended" }
      if change.isFirst != (rows == nil) { return "the first answer comes first, and once" }
      if !change.isFirst, change.isEmpty { return "a change without a difference" }
      var rows = rows ?? [:]
      for (what, list) in [("came", change.came), ("went", change.went), ("changed", change.changed)] {
        for one in list {
          guard case .int(let id)? = one.key.first, one.key.count == 1 else { return "a key \(one.key)" }
          switch what {
          case "came":
            if rows.updateValue(one.row, forKey: id) != nil { return "row \(id) came and was there" }
          case "went":
            if rows.removeValue(forKey: id) != one.row { return "row \(id) went as another than it was" }
          default:
            let before = rows.updateValue(one.row, forKey: id)
            if before == nil || before == one.row { return "row \(id) changed from \(String(describing: before))" }
          }
        }
      }
      self.rows = rows
      return nil
    }
  }

  private static let shardCount = 4

  @Test(arguments: 0..<shardCount)
  func `what a consumer puts together is what the query answers`(shard: Int) async throws {
    let runCount = 300 * SoakScale.factor
    var changeCount = 0
    for run in 0..<runCount {
      let seed = UInt64(shard) << 32 | UInt64(run) &+ SoakScale.seed &* 1_000_003
      do {
        let (complaint, count) = try await Self.use(seed: seed)
        changeCount += count
        if let complaint {
          Issue.record("seed \(seed): \(complaint)")
          return
        }
      } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
    }
    #expect(changeCount > runCount * 5)
  }

  private static func use(seed: UInt64) async throws -> (complaint: String?, changeCount: Int) {
    var random = RandomQueries(seed: seed)
    var options = StoreWorkload.options(SimulatedDisk(), seed: seed)
    options.durability = random.chance(50) ? .synced : .buffered
    options.memoryLayerByteCountMax = 64 << 10
    let store = try await Store.open(at: "/store", schema: schema, options: options)
    var consumers: [Consumer] = []
    for _ in 0..<2 {
      var plan = random.plan(over: definition)
      plan.isHead = false
      plan.isCounted = false
      plan.cardinality = .many
      let query = Query("rows", from: try store.view(), plan: plan)
      consumers.append(Consumer(plan: plan, live: try store.observe(query).makeAsyncIterator()))
    }
    var changeCount = 0
    for step in 0..<30 {
      try await change(store, &random)
      for index in consumers.indices where random.chance(40) || step == 29 {
        let expected = try consumers[index].answer(store)
        // Nothing to be told: a call would wait.
        if consumers[index].rows == expected { continue }
        let complaint = try await consumers[index].take(store)
        if let complaint { return ("step \(step), \(consumers[index].plan): \(complaint)", 0) }
        changeCount += 1
        if consumers[index].rows != expected {
          return (
            "step \(step), \(consumers[index].plan): \(String(describing: consumers[index].rows)), not \(expected)", 0
          )
        }
      }
    }
    try await store.close()
    for index in consumers.indices where try await consumers[index].live.next() != nil {
      return ("a change behind the end", 0)
    }
    return (nil, changeCount)
  }

  private static func change(_ store: Store, _ random: inout RandomQueries) async throws {
    switch Int.random(in: 0..<100, using: &random.generator) {
    case 0..<3: try await store.reset()
    case 3..<12: try await store.compact()
    case 12..<16:
      try await store.write { (tx) throws(StoreError) in _ = try tx.put(["id": 1, "a": 1], into: "others") }
    default:
      let count = random.pick([1, 1, 1, 2, 10])
      var rows: [(id: Int64, row: Row?)] = []
      for _ in 0..<count {
        let id = Int64.random(in: 0..<16, using: &random.generator)
        if random.chance(25) {
          rows.append((id, nil))
          continue
        }
        var row: Row = ["id": .int(id)]
        for (name, type) in columns where random.chance(85) {
          row[name] = random.chance(12) ? .null : random.value(of: type)
        }
        if random.chance(3) { row["extra \(id)"] = .int(id) }
        if random.chance(20) { row["c"] = .bytes([UInt8](repeating: 7, count: 5000)) }
        rows.append((id, row))
      }
      let written = rows
      try await store.write { (tx) throws(StoreError) in
        for (id, row) in written {
          if let row { _ = try tx.put(row, into: "rows") } else { _ = try tx.delete(.int(id), from: "rows") }
        }
      }
    }
  }
}
