/// A row of the benches as typed columns, and back.
enum SQLiteColumns {
  static let schema = """
    CREATE TABLE IF NOT EXISTS rows (
      tbl INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL, field_versions BLOB NOT NULL,
      list BLOB NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, status INTEGER NOT NULL,
      priority INTEGER NOT NULL, title TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS outbox (
      sequence INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, id BLOB NOT NULL, change BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS pending (
      tbl INTEGER NOT NULL, id BLOB NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
    """
  static let value = "version, field_versions, list, created, updated, status, priority, title, note"

  static func bindKey(_ statement: SQLiteStatement, _ key: UnsafeRawPointer, first: Int32 = 1) {
    statement.bind(first, Int64(key.loadUnaligned(as: UInt16.self)))
    statement.bind(first + 1, blob: key + RowGenerator.keyOffset, count: 16)
  }

  /// Key and value, places 1 to 11.
  static func bind(_ statement: SQLiteStatement, _ row: UnsafeRawBufferPointer) {
    let base = row.baseAddress!
    func integer(_ offset: Int) -> Int64 {
      Int64(bitPattern: (base + offset).loadUnaligned(as: UInt64.self))
    }
    bindKey(statement, base)
    statement.bind(3, integer(RowGenerator.versionOffset))
    statement.bind(4, blob: base + RowGenerator.fieldVersionsOffset, count: 24)
    statement.bind(5, blob: base + RowGenerator.listOffset, count: 16)
    statement.bind(6, integer(RowGenerator.createdOffset))
    statement.bind(7, integer(RowGenerator.updatedOffset))
    statement.bind(8, Int64(row[RowGenerator.statusOffset]))
    statement.bind(9, Int64(row[RowGenerator.priorityOffset]))
    let title = RowGenerator.titleOffset + 1
    let titleCount = Int(row[RowGenerator.titleOffset])
    statement.bind(10, text: base + title, count: titleCount)
    let note = title + titleCount + 1
    statement.bind(11, text: base + note, count: Int(row[note - 1]))
  }

  /// Writes a row's value from the columns that begin at `first`, and returns its length.
  static func read(
    _ statement: SQLiteStatement, first: Int32, into value: UnsafeMutableRawPointer
  ) -> Int {
    // Offsets of a value are those of the row less its key.
    let row = value - RowBytes.keyByteCount
    func store(_ integer: Int64, _ offset: Int) { row.storeBytes(of: integer, toByteOffset: offset, as: Int64.self) }
    func store(_ bytes: UnsafeRawBufferPointer, _ offset: Int) {
      if let base = bytes.baseAddress { (row + offset).copyMemory(from: base, byteCount: bytes.count) }
    }
    func store(text: UnsafeRawBufferPointer, _ offset: Int) -> Int {
      row.storeBytes(of: UInt8(text.count), toByteOffset: offset, as: UInt8.self)
      store(text, offset + 1)
      return offset + 1 + text.count
    }
    store(statement.integer(first), RowGenerator.versionOffset)
    store(statement.blob(first + 1), RowGenerator.fieldVersionsOffset)
    store(statement.blob(first + 2), RowGenerator.listOffset)
    store(statement.integer(first + 3), RowGenerator.createdOffset)
    store(statement.integer(first + 4), RowGenerator.updatedOffset)
    row.storeBytes(
      of: UInt8(statement.integer(first + 5)), toByteOffset: RowGenerator.statusOffset, as: UInt8.self)
    row.storeBytes(
      of: UInt8(statement.integer(first + 6)), toByteOffset: RowGenerator.priorityOffset, as: UInt8.self)
    let note = store(text: statement.text(first + 7), RowGenerator.titleOffset)
    return store(text: statement.text(first + 8), note) - RowBytes.keyByteCount
  }
}
