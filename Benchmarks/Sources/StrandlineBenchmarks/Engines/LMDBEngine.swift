internal import CLMDB
internal import Glibc

/// LMDB with its own defaults: a sync each commit, no write map. Rows, outbox and pending notes are a tree each.
///
/// It has no cache to bound: pages stay in the system's, and count as resident while they are mapped.
final class LMDBEngine: StoreEngine, @unchecked Sendable {
  // Sendable: an environment is made for sharing; `compact` takes its place under the lock that commits take.
  fileprivate struct Trees {
    var rows: MDB_dbi = 0
    var outbox: MDB_dbi = 0
    var pending: MDB_dbi = 0
  }

  private let path: String
  private let settings: EngineSettings
  private let lock = Lock()
  fileprivate private(set) var environment: OpaquePointer
  fileprivate private(set) var trees: Trees

  init(path: String, settings: EngineSettings) throws {
    self.path = path
    self.settings = settings
    (environment, trees) = try Self.open(path, settings)
  }

  private static func open(_ path: String, _ settings: EngineSettings) throws -> (OpaquePointer, Trees) {
    var made: OpaquePointer?
    try check(mdb_env_create(&made))
    let environment = made!
    try check(mdb_env_set_mapsize(environment, 64 << 30))
    try check(mdb_env_set_maxdbs(environment, 4))
    // Readers belong to objects here, not to threads.
    let flags = UInt32(MDB_NOTLS) | (settings.syncsCommits ? 0 : UInt32(MDB_NOSYNC))
    try check(mdb_env_open(environment, path, flags, 0o644))
    var transaction: OpaquePointer?
    var trees = Trees()
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    if mdb_dbi_open(transaction, "rows", 0, &trees.rows) == MDB_NOTFOUND {
      mdb_txn_abort(transaction)
      try check(mdb_txn_begin(environment, nil, 0, &transaction))
      try check(mdb_dbi_open(transaction, "rows", UInt32(MDB_CREATE), &trees.rows))
      try check(mdb_dbi_open(transaction, "outbox", UInt32(MDB_CREATE), &trees.outbox))
      try check(mdb_dbi_open(transaction, "pending", UInt32(MDB_CREATE), &trees.pending))
    } else {
      try check(mdb_dbi_open(transaction, "outbox", 0, &trees.outbox))
      try check(mdb_dbi_open(transaction, "pending", 0, &trees.pending))
    }
    try check(mdb_txn_commit(transaction))
    return (environment, trees)
  }

  func reader() throws -> any EngineReader { try LMDBReader(self) }

  func commit(_ body: (any EngineTransaction) throws -> Void) throws {
    try lock.withLock {
      var begun: OpaquePointer?
      try Self.check(mdb_txn_begin(environment, nil, 0, &begun))
      do { try body(LMDBTransaction(begun!, trees)) } catch {
        mdb_txn_abort(begun)
        throw error
      }
      try Self.check(mdb_txn_commit(begun))
    }
  }

  /// Drops the trees' pages; the trees stay.
  func reset() throws {
    try lock.withLock {
      var transaction: OpaquePointer?
      try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
      for tree in [trees.rows, trees.outbox, trees.pending] { try Self.check(mdb_drop(transaction, tree, 0)) }
      try Self.check(mdb_txn_commit(transaction))
    }
  }

  /// A compact copy takes the place of the store. Commits wait: what they wrote meanwhile would be lost.
  func compact() throws {
    try lock.withLock {
      let copy = "\(path)/compact"
      try makeDirectories(copy)
      try Self.check(mdb_env_copy2(environment, copy, UInt32(MDB_CP_COMPACT)))
      mdb_env_close(environment)
      guard rename("\(copy)/data.mdb", "\(path)/data.mdb") == 0 else {
        throw BenchmarkError.ioFailed(operation: "rename", path: copy, errno: errno)
      }
      try removeTree(copy)
      (environment, trees) = try Self.open(path, settings)
    }
  }

  func close() { mdb_env_close(environment) }

  fileprivate static func check(_ code: Int32) throws {
    guard code != 0 else { return }
    throw BenchmarkError.failed("LMDB: \(String(cString: mdb_strerror(code)))")
  }

  /// nil where there is no such key.
  fileprivate static func get(
    _ transaction: OpaquePointer, _ tree: MDB_dbi, _ key: UnsafeRawPointer, count: Int = RowBytes.keyByteCount
  ) throws -> UnsafeRawBufferPointer? {
    var key = MDB_val(mv_size: count, mv_data: UnsafeMutableRawPointer(mutating: key))
    var value = MDB_val()
    let code = mdb_get(transaction, tree, &key, &value)
    if code == MDB_NOTFOUND { return nil }
    try check(code)
    return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
  }
}

private final class LMDBReader: EngineReader {
  private let engine: LMDBEngine
  private let transaction: OpaquePointer

  init(_ engine: LMDBEngine) throws {
    self.engine = engine
    var begun: OpaquePointer?
    try LMDBEngine.check(mdb_txn_begin(engine.environment, nil, UInt32(MDB_RDONLY), &begun))
    transaction = begun!
  }

  func refresh() throws {
    mdb_txn_reset(transaction)
    try LMDBEngine.check(mdb_txn_renew(transaction))
  }

  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    guard let bytes = try LMDBEngine.get(transaction, engine.trees.rows, key) else { return nil }
    value.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    return bytes.count
  }

  func scan(from start: UnsafeRawPointer?, _ body: RowVisitor) throws {
    try iterate(
      engine.trees.rows, from: start, first: start == nil ? MDB_FIRST : MDB_SET_RANGE, next: MDB_NEXT
    ) { key, value in
      body(key.baseAddress!, value)
    }
  }

  func scanBackwards(_ body: RowVisitor) throws {
    try iterate(engine.trees.rows, from: nil, first: MDB_LAST, next: MDB_PREV) { key, value in
      body(key.baseAddress!, value)
    }
  }

  func scanOutbox(_ body: (UInt64, UnsafeRawBufferPointer) -> Void) throws {
    try iterate(engine.trees.outbox, from: nil, first: MDB_FIRST, next: MDB_NEXT) { key, value in
      body(UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)), OutboxEntry.change(value))
      return true
    }
  }

  func close() { mdb_txn_abort(transaction) }

  @inline(__always)
  private func iterate(
    _ tree: MDB_dbi, from start: UnsafeRawPointer?, first: MDB_cursor_op, next: MDB_cursor_op,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws {
    var cursor: OpaquePointer?
    try LMDBEngine.check(mdb_cursor_open(transaction, tree, &cursor))
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val(mv_size: RowBytes.keyByteCount, mv_data: UnsafeMutableRawPointer(mutating: start))
    var value = MDB_val()
    var code = mdb_cursor_get(cursor, &key, &value, first)
    while code == 0 {
      let bytes = UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
      guard body(bytes, UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)) else { return }
      code = mdb_cursor_get(cursor, &key, &value, next)
    }
    if code != MDB_NOTFOUND { try LMDBEngine.check(code) }
  }
}

private final class LMDBTransaction: EngineTransaction {
  private let transaction: OpaquePointer
  private let trees: LMDBEngine.Trees
  private let entry = UnsafeMutableRawPointer.allocate(byteCount: 2 * RowBytes.valueByteCountMax, alignment: 8)

  init(_ transaction: OpaquePointer, _ trees: LMDBEngine.Trees) {
    self.transaction = transaction
    self.trees = trees
  }

  deinit { entry.deallocate() }

  func put(_ row: UnsafeRawBufferPointer) throws {
    try put(trees.rows, row.baseAddress!, RowBytes.keyByteCount, RowBytes.value(row))
  }

  func delete(_ key: UnsafeRawPointer) throws {
    var key = MDB_val(mv_size: RowBytes.keyByteCount, mv_data: UnsafeMutableRawPointer(mutating: key))
    let code = mdb_del(transaction, trees.rows, &key, nil)
    if code != MDB_NOTFOUND { try LMDBEngine.check(code) }
  }

  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    guard let bytes = try LMDBEngine.get(transaction, trees.rows, key) else { return nil }
    value.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    return bytes.count
  }

  func putPending(_ key: UnsafeRawPointer, sequence: UInt64, change: UnsafeRawBufferPointer) throws {
    let count = OutboxEntry.write(key, change, to: entry)
    let entry = UnsafeRawBufferPointer(start: entry, count: count)
    try withUnsafeBytes(of: sequence.bigEndian) { bytes in
      try put(trees.outbox, bytes.baseAddress!, bytes.count, entry)
      try put(trees.pending, key, RowBytes.keyByteCount, bytes)
    }
  }

  func pending(_ key: UnsafeRawPointer, into change: UnsafeMutableRawPointer) throws -> PendingChange? {
    guard let note = try LMDBEngine.get(transaction, trees.pending, key),
      let entry = try LMDBEngine.get(transaction, trees.outbox, note.baseAddress!, count: note.count)
    else { return nil }
    let bytes = OutboxEntry.change(entry)
    change.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    return PendingChange(sequence: UInt64(bigEndian: note.loadUnaligned(as: UInt64.self)), byteCount: bytes.count)
  }

  private func put(
    _ tree: MDB_dbi, _ key: UnsafeRawPointer, _ keyCount: Int, _ value: UnsafeRawBufferPointer
  ) throws {
    var key = MDB_val(mv_size: keyCount, mv_data: UnsafeMutableRawPointer(mutating: key))
    var value = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
    try LMDBEngine.check(mdb_put(transaction, tree, &key, &value, 0))
  }
}
