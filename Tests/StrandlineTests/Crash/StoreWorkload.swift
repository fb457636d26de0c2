import Strandline
import StrandlineLog
import StrandlineTestSupport

/// What a crash test's process does to its store, drawn from a seed.
struct StoreWorkload: Sendable {
  enum Operation: Sendable, CustomStringConvertible {
    /// Puts and deletes (nil) of rows, as one commit.
    case write([(table: String, id: Int64, title: String?)], Durability)
    case appendEvent(stream: String)
    /// A write whose closure throws at its end.
    case refusedWrite
    case sync
    case compact
    case reset(keepCopy: Bool)
    case backup(String)
    case closeAndReopen
    case abandonAndReopen

    var description: String {
      switch self {
      case .write(let rows, let durability): "write of \(rows.count), \(durability)"
      case .appendEvent(let stream): "event to \(stream)"
      case .refusedWrite: "refused write"
      case .sync: "sync"
      case .compact: "compact"
      case .reset(let keepCopy): "reset\(keepCopy ? " with a kept copy" : "")"
      case .backup(let path): "backup to \(path)"
      case .closeAndReopen: "close and reopen"
      case .abandonAndReopen: "abandon and reopen"
      }
    }
  }

  static let storePath = "/store"
  static let tables = ["todos", "notes"]
  let seed: UInt64
  let operations: [Operation]

  init(seed: UInt64, count: Int) {
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    var operations: [Operation] = []
    for index in 0..<count {
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<66: operations.append(Self.write(index, &generator))
      case 66..<72: operations.append(.appendEvent(stream: "order-\(Int.random(in: 0..<3, using: &generator))"))
      case 72..<75: operations.append(.refusedWrite)
      case 75..<79: operations.append(.sync)
      case 79..<87: operations.append(.compact)
      case 87..<91: operations.append(.reset(keepCopy: Bool.random(using: &generator)))
      case 91..<93: operations.append(.backup("/backup-\(index)"))
      case 93..<97: operations.append(.closeAndReopen)
      default: operations.append(.abandonAndReopen)
      }
    }
    self.operations = operations
  }

  private static func write(_ index: Int, _ generator: inout SeededGenerator) -> Operation {
    let count = [1, 1, 1, 3, 20].randomElement(using: &generator) ?? 1
    let durability: Durability = Bool.random(using: &generator) ? .synced : .buffered
    let rows = (0..<count).map { _ -> (table: String, id: Int64, title: String?) in
      let isDelete = Int.random(in: 0..<4, using: &generator) == 0
      let length = [10, 10, 200, 3000].randomElement(using: &generator) ?? 10
      let title = isDelete ? nil : String(repeating: "row \(index) ", count: length / 6 + 1)
      return (tables.randomElement(using: &generator) ?? "todos", Int64.random(in: 0..<40, using: &generator), title)
    }
    return .write(rows, durability)
  }

  static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string)],
      indexes: [IndexSchema("byTitle", ["title"])]),
    TableSchema("notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string)]),
  ])

  /// Small layers and segments, no threads, a standing clock: the same seed makes the same calls.
  static func options(_ fileSystem: any FileSystem, seed: UInt64) -> StoreOptions {
    var options = StoreOptions()
    options.memoryLayerByteCountMax = 64 << 10
    options.cacheByteCountMax = 1 << 20
    options.log.helpers = .callerRuns
    options.log.replayThreadCount = 1
    options.log.segmentByteCountMax = 16 << 10
    options.log.spaceAheadByteCount = 64 << 10
    let bits = SeededBits(seed: seed)
    options.log.environment = Environment(
      fileSystem: fileSystem, clock: ManualClock(), randomBits: { bits.next() })
    return options
  }

  static func open(_ fileSystem: any FileSystem, seed: UInt64, at path: String = storePath) throws -> Store {
    try Store.open(at: path, schema: schema, options: options(fileSystem, seed: seed))
  }

  /// Everything a store shows: the rows of each table, and each stream as a table of its events.
  static func state(of store: Store) throws -> StoreModel.State {
    let view = try store.view()
    var state: StoreModel.State = [:]
    for table in tables where view.tableNames.contains(table) {
      for id in Int64(0)..<40 {
        if let row = try view.get(.int(id), in: table) { state[table, default: [:]][id] = row }
      }
    }
    for stream in 0..<3 {
      for event in view.events(of: "order-\(stream)") {
        let event = try event.get()
        state["order-\(stream)", default: [:]][Int64(event.version)] = event.payload
      }
    }
    return state
  }
}
