import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// The whole public surface against a dictionary: writes, expectations, streams, views held across resets and compactions, close and open.
struct StoreModelTests {
  private struct Model {
    var rows: [Int64: Row] = [:]
    var sequences: [Int64: SequenceNumber] = [:]
    var events: [String] = []
  }

  private static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)],
      columns: [ColumnSchema("title", .string), ColumnSchema("priority", .int), ColumnSchema("payload", .bytes)],
      indexes: [IndexSchema("byPriority", ["priority"]), IndexSchema("byTitle", ["title", "priority"])])
  ])

  private static func options(_ disk: SimulatedDisk, _ generator: inout SeededGenerator) -> StoreOptions {
    var options = StoreOptions()
    options.memoryLayerByteCountMax = 64 << 10
    options.cacheByteCountMax = 1 << 20
    options.durability = Bool.random(using: &generator) ? .synced : .buffered
    options.log.helpers = .callerRuns
    options.log.replayThreadCount = 1
    options.log.segmentByteCountMax = [16 << 10, 1 << 20].randomElement(using: &generator) ?? 16 << 10
    let bits = SeededBits(seed: generator.next())
    options.log.environment = Environment(fileSystem: disk, clock: ManualClock(), randomBits: { bits.next() })
    return options
  }

  private static let shardCount = 8
  private static var runCount: Int { 10_000 / shardCount / 8 * SoakScale.factor }

  @Test(arguments: 0..<shardCount)
  func `random use shows what a dictionary shows`(shard: Int) throws {
    for run in 0..<Self.runCount {
      let seed = UInt64(shard) << 32 | UInt64(run) &+ SoakScale.seed &* 1_000_003
      do {
        if let complaint = try Self.use(seed: seed) {
          Issue.record("seed \(seed): \(complaint)")
          return
        }
      } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
    }
    print("store, random use: shard \(shard), \(Self.runCount) runs")
  }

  /// One run; answers what differed.
  private static func use(seed: UInt64) throws -> String? {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk(DiskImage())
    var store = try Store.open(at: "/store", schema: schema, options: options(disk, &generator))
    var model = Model()
    var held: [(view: ReadView, model: Model)] = []
    for step in 0..<Int.random(in: 5..<60, using: &generator) {
      let id = Int64.random(in: 0..<12, using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<45:
        let row: Row = [
          "id": .int(id), "title": .string("title \(step % 5)"), "priority": .int(Int64(step % 3)),
          "payload": .bytes(
            [UInt8](repeating: UInt8(step), count: [5, 5, 4000].randomElement(using: &generator) ?? 5)),
        ]
        let sequence = try store.write { (tx) throws(StoreError) in
          try tx.put(row, into: "todos")
          return tx.sequence
        }
        model.rows[id] = row
        model.sequences[id] = sequence
      case 45..<55:
        let existed = try store.write { (tx) throws(StoreError) in try tx.delete(.int(id), from: "todos") }
        if existed != (model.rows[id] != nil) { return "step \(step): delete of \(id) answered \(existed)" }
        model.rows[id] = nil
        model.sequences[id] = nil
      case 55..<65:
        let expected = model.sequences[id] ?? .zero
        let sequence = try store.write { (tx) throws(StoreError) in
          try tx.expect("todos", .int(id), sequence: expected)
          try tx.put(["id": .int(id), "title": "expected"], into: "todos")
          return tx.sequence
        }
        model.rows[id] = ["id": .int(id), "title": "expected"]
        model.sequences[id] = sequence
      case 65..<70:
        let version = try store.write { (tx) throws(StoreError) in
          try tx.append(
            ["step": .int(Int64(step))], type: "stepped", to: "steps", expecting: .version(UInt64(model.events.count)))
        }
        model.events.append("\(step)")
        if version != UInt64(model.events.count) { return "step \(step): event was given version \(version)" }
      case 70..<80: held.append((try store.view(), model))
      case 80..<86: try store.compact()
      case 86..<90:
        try store.reset()
        model = Model()
      case 90..<95:
        try store.close()
        store = try Store.open(at: "/store", schema: schema, options: options(disk, &generator))
      default: if !held.isEmpty { held.remove(at: Int.random(in: 0..<held.count, using: &generator)) }
      }
      if let difference = try difference(try store.view(), model) { return "step \(step): \(difference)" }
      for (index, one) in held.enumerated() {
        if let difference = try difference(one.view, one.model) {
          return "step \(step), held view \(index): \(difference)"
        }
      }
    }
    held = []
    try store.close()
    return nil
  }

  private static func difference(_ view: ReadView, _ model: Model) throws -> String? {
    for id in Int64(0)..<12 {
      let found = try view.get(.int(id), in: "todos")
      if found != model.rows[id] {
        return "row \(id) is \(String(describing: found)), not \(String(describing: model.rows[id]))"
      }
      if try view.sequence(of: .int(id), in: "todos") != model.sequences[id] { return "row \(id) has another sequence" }
    }
    let events = try view.events(of: "steps").map { try $0.get() }
    let steps = events.compactMap { event -> String? in
      guard case .int(let step)? = event.payload["step"] else { return nil }
      return "\(step)"
    }
    if steps != model.events { return "events \(steps), not \(model.events)" }
    return nil
  }
}
