internal import CSQLite
internal import Glibc

/// SQLite in WAL mode: typed columns, tables without row ids, 4 KiB pages. `FULL` syncs each commit, `NORMAL` at
/// checkpoints only.
///
/// One connection writes, under a lock, and each reader is a connection of its own; the cache bound is each one's.
final class SQLiteEngine: StoreEngine, @unchecked Sendable {
  // Sendable: the writing connection is used under the lock.
  private let path: String
  private let settings: EngineSettings
  private let synchronous: String
  private let database: OpaquePointer
  private let lock = Lock()
  private var transaction: SQLiteTransaction?
  private var begin: SQLiteStatement?
  private var end: SQLiteStatement?

  init(path: String, settings: EngineSettings, synchronous: String) throws {
    self.path = path
    self.settings = settings
    self.synchronous = settings.syncsCommits ? synchronous : "OFF"
    database = try Self.connect(path, settings, self.synchronous)
    if try !Self.hasTables(database) { try SQLiteStatement.execute(database, SQLiteColumns.schema) }
  }

  private static func connect(
    _ path: String, _ settings: EngineSettings, _ synchronous: String
  ) throws -> OpaquePointer {
    var made: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2("\(path)/store.sqlite", &made, flags, nil) == SQLITE_OK, let database = made else {
      throw SQLiteStatement.error(made)
    }
    if settings.keepsAllInLog { _ = csqlite_keep_log_on_close(database) }
    try SQLiteStatement.execute(
      database,
      """
      PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous);
      PRAGMA cache_size = -\(settings.cacheByteCount >> 10); PRAGMA busy_timeout = 60000;
      \(settings.keepsAllInLog ? "PRAGMA wal_autocheckpoint = 0;" : "")
      """)
    return database
  }

  private static func hasTables(_ database: OpaquePointer) throws -> Bool {
    try SQLiteStatement(database, "SELECT 1 FROM sqlite_schema WHERE name = 'rows'").step()
  }

  func reader() throws -> any EngineReader { try SQLiteReader(Self.connect(path, settings, synchronous)) }

  func commit(_ body: (any EngineTransaction) throws -> Void) throws {
    try lock.withLock {
      let transaction = try self.transaction ?? SQLiteTransaction(database)
      self.transaction = transaction
      let begin = try self.begin ?? SQLiteStatement(database, "BEGIN IMMEDIATE")
      self.begin = begin
      let end = try self.end ?? SQLiteStatement(database, "COMMIT")
      self.end = end
      try begin.run()
      do { try body(transaction) } catch {
        try SQLiteStatement.execute(database, "ROLLBACK")
        throw error
      }
      try end.run()
    }
  }

  /// Deletes without a condition, which drop whole trees.
  func reset() throws {
    try lock.withLock {
      try SQLiteStatement.execute(
        database, "BEGIN IMMEDIATE; DELETE FROM rows; DELETE FROM outbox; DELETE FROM pending; COMMIT")
    }
  }

  func compact() throws {
    try lock.withLock { try SQLiteStatement.execute(database, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)") }
  }

  func close() throws {
    transaction = nil
    begin = nil
    end = nil
    guard sqlite3_close(database) == SQLITE_OK else { throw SQLiteStatement.error(database) }
  }
}

private final class SQLiteReader: EngineReader {
  private static let columns = "tbl, id, \(SQLiteColumns.value)"

  private let database: OpaquePointer
  private var get: SQLiteStatement?
  private var seek: SQLiteStatement?
  private var begin: SQLiteStatement?
  private var end: SQLiteStatement?
  private let row = UnsafeMutableRawPointer.allocate(byteCount: RowGenerator.scratchByteCount, alignment: 8)

  init(_ database: OpaquePointer) throws {
    self.database = database
    get = try SQLiteStatement(database, "SELECT \(SQLiteColumns.value) FROM rows WHERE tbl = ? AND id = ?")
    seek = try SQLiteStatement(
      database, "SELECT \(Self.columns) FROM rows WHERE (tbl, id) >= (?, ?) ORDER BY tbl, id")
    begin = try SQLiteStatement(database, "BEGIN")
    end = try SQLiteStatement(database, "COMMIT")
    try begin?.run()
  }

  deinit { row.deallocate() }

  func refresh() throws {
    try end?.run()
    try begin?.run()
  }

  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    guard let get else { return nil }
    defer { get.reset() }
    SQLiteColumns.bindKey(get, key)
    return try get.step() ? SQLiteColumns.read(get, first: 0, into: value) : nil
  }

  func scan(from start: UnsafeRawPointer?, _ body: RowVisitor) throws {
    if let start, let seek {
      SQLiteColumns.bindKey(seek, start)
      try visit(seek, body)
    } else {
      try visit(SQLiteStatement(database, "SELECT \(Self.columns) FROM rows ORDER BY tbl, id"), body)
    }
  }

  func scanBackwards(_ body: RowVisitor) throws {
    try visit(SQLiteStatement(database, "SELECT \(Self.columns) FROM rows ORDER BY tbl DESC, id DESC"), body)
  }

  func scanOutbox(_ body: (UInt64, UnsafeRawBufferPointer) -> Void) throws {
    let statement = try SQLiteStatement(database, "SELECT sequence, change FROM outbox ORDER BY sequence")
    while try statement.step() { body(UInt64(statement.integer(0)), statement.blob(1)) }
  }

  func close() throws {
    try end?.run()
    get = nil
    seek = nil
    begin = nil
    end = nil
    guard sqlite3_close(database) == SQLITE_OK else { throw SQLiteStatement.error(database) }
  }

  private func visit(_ statement: SQLiteStatement, _ body: RowVisitor) throws {
    defer { statement.reset() }
    let value = row + RowBytes.keyByteCount
    while try statement.step() {
      row.storeBytes(of: UInt16(statement.integer(0)), as: UInt16.self)
      let identifier = statement.blob(1)
      (row + RowGenerator.keyOffset).copyMemory(from: identifier.baseAddress!, byteCount: identifier.count)
      let count = SQLiteColumns.read(statement, first: 2, into: value)
      guard body(row, UnsafeRawBufferPointer(start: value, count: count)) else { return }
    }
  }
}

private final class SQLiteTransaction: EngineTransaction {
  private let putRow: SQLiteStatement
  private let deleteRow: SQLiteStatement
  private let getRow: SQLiteStatement
  private let putOutbox: SQLiteStatement
  private let putNote: SQLiteStatement
  private let getPending: SQLiteStatement

  init(_ database: OpaquePointer) throws {
    putRow = try SQLiteStatement(
      database,
      "INSERT OR REPLACE INTO rows (tbl, id, \(SQLiteColumns.value)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    deleteRow = try SQLiteStatement(database, "DELETE FROM rows WHERE tbl = ? AND id = ?")
    getRow = try SQLiteStatement(database, "SELECT \(SQLiteColumns.value) FROM rows WHERE tbl = ? AND id = ?")
    putOutbox = try SQLiteStatement(
      database, "INSERT OR REPLACE INTO outbox (tbl, id, sequence, change) VALUES (?, ?, ?, ?)")
    putNote = try SQLiteStatement(database, "INSERT OR REPLACE INTO pending (tbl, id, sequence) VALUES (?, ?, ?)")
    getPending = try SQLiteStatement(
      database,
      """
      SELECT outbox.sequence, change FROM pending JOIN outbox ON outbox.sequence = pending.sequence
      WHERE pending.tbl = ? AND pending.id = ?
      """)
  }

  func put(_ row: UnsafeRawBufferPointer) throws {
    SQLiteColumns.bind(putRow, row)
    try putRow.run()
  }

  func delete(_ key: UnsafeRawPointer) throws {
    SQLiteColumns.bindKey(deleteRow, key)
    try deleteRow.run()
  }

  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    defer { getRow.reset() }
    SQLiteColumns.bindKey(getRow, key)
    return try getRow.step() ? SQLiteColumns.read(getRow, first: 0, into: value) : nil
  }

  func putPending(_ key: UnsafeRawPointer, sequence: UInt64, change: UnsafeRawBufferPointer) throws {
    SQLiteColumns.bindKey(putOutbox, key)
    putOutbox.bind(3, Int64(sequence))
    putOutbox.bind(4, blob: change)
    try putOutbox.run()
    SQLiteColumns.bindKey(putNote, key)
    putNote.bind(3, Int64(sequence))
    try putNote.run()
  }

  func pending(_ key: UnsafeRawPointer, into change: UnsafeMutableRawPointer) throws -> PendingChange? {
    defer { getPending.reset() }
    SQLiteColumns.bindKey(getPending, key)
    guard try getPending.step() else { return nil }
    let bytes = getPending.blob(1)
    change.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    return PendingChange(sequence: UInt64(getPending.integer(0)), byteCount: bytes.count)
  }
}
