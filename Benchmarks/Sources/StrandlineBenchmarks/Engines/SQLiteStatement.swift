internal import CSQLite

/// A prepared statement of one connection. Values bound to it must last until it is run.
final class SQLiteStatement {
  let handle: OpaquePointer
  private let database: OpaquePointer

  init(_ database: OpaquePointer, _ text: String) throws {
    self.database = database
    var made: OpaquePointer?
    let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made else { throw Self.error(database) }
    handle = made
  }

  deinit { sqlite3_finalize(handle) }

  static func error(_ database: OpaquePointer?) -> BenchmarkError {
    .failed("SQLite: \(String(cString: sqlite3_errmsg(database)))")
  }

  static func execute(_ database: OpaquePointer, _ text: String) throws {
    guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw error(database) }
  }

  /// Whether there is a row.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw Self.error(database)
    }
  }

  /// Runs a statement that gives no rows.
  func run() throws {
    defer { reset() }
    _ = try step()
  }

  func reset() { sqlite3_reset(handle) }

  func bind(_ place: Int32, _ integer: Int64) { sqlite3_bind_int64(handle, place, integer) }

  func bind(_ place: Int32, blob: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(handle, place, blob.baseAddress, Int32(blob.count), nil)
  }

  func bind(_ place: Int32, blob: UnsafeRawPointer, count: Int) {
    sqlite3_bind_blob(handle, place, blob, Int32(count), nil)
  }

  func bind(_ place: Int32, text: UnsafeRawPointer, count: Int) {
    sqlite3_bind_text(handle, place, text.assumingMemoryBound(to: CChar.self), Int32(count), nil)
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }

  func text(_ column: Int32) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_column_text(handle, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
