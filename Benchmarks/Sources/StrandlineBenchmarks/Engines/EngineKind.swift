/// An engine that takes part in the store benches.
struct EngineKind: Sendable {
  var name: SubjectName
  /// Opens the store in the directory `path`, which exists; makes one if none is there.
  var open: @Sendable (_ path: String, _ settings: EngineSettings) throws -> any StoreEngine
  /// One sync makes the commits of several threads durable.
  var groupsCommits = false
  /// A freshly loaded store is compacted before rows are merged into it or it is reset, as its background work would do.
  var restsCompacted = false
  /// Opening what a killed process left and closing it again leaves the files as they were, under
  /// ``EngineSettings/keepsAllInLog``.
  var leavesKilledStore = false
  /// Rows beyond which writing in random order takes minutes.
  var randomWriteRowCountMax = Int.max

  static let peers: [EngineKind] = [sqliteFull, sqliteNormal, lmdb, rocksDB, levelDB]

  /// Who takes part in the store benches, in the order of their turns.
  static let all: [EngineKind] = [strandline] + peers

  /// Who fills an empty store, beside the logs.
  static let besideLogs: [EngineKind] = {
    var store = strandline
    store.name = .strandlineStore
    return [store] + peers
  }()

  static let strandline = EngineKind(
    name: .strandline, open: { try StrandlineEngine(path: $0, settings: $1) }, groupsCommits: true,
    restsCompacted: true)

  static let sqliteFull = EngineKind(
    name: .sqliteFull, open: { try SQLiteEngine(path: $0, settings: $1, synchronous: "FULL") },
    leavesKilledStore: true, randomWriteRowCountMax: 2_000_000)
  /// Not durable on each commit: it shows the cost without the sync.
  static let sqliteNormal = EngineKind(
    name: .sqliteNormal, open: { try SQLiteEngine(path: $0, settings: $1, synchronous: "NORMAL") },
    leavesKilledStore: true, randomWriteRowCountMax: 2_000_000)
  static let lmdb = EngineKind(
    name: .lmdb, open: { try LMDBEngine(path: $0, settings: $1) }, leavesKilledStore: true,
    randomWriteRowCountMax: 2_000_000)
  static let rocksDB = EngineKind(
    name: .rocksDB, open: { try RocksDBEngine(path: $0, settings: $1) }, groupsCommits: true, restsCompacted: true)
  static let levelDB = EngineKind(
    name: .levelDB, open: { try LevelDBEngine(path: $0, settings: $1) }, groupsCommits: true, restsCompacted: true)
}
