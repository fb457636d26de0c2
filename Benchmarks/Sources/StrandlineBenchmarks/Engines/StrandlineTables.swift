import Strandline

/// The tables of ``StrandlineEngine``, their names looked up.
///
/// A row's value is one cell of bytes, as the engines without columns hold it. The row's table is a table here, and which row has a
/// local change pending stands in a table beside each.
struct StrandlineTables: Sendable {
  static let count = 8

  static let schema = Schema(
    tables: (0..<count).map { table("rows\($0)", ColumnSchema("value", .bytes)) }
      + (0..<count).map { table("pending\($0)", ColumnSchema("sequence", .int)) }
      + [
        TableSchema(
          "outbox", key: [KeyColumn("sequence", .int)],
          columns: [ColumnSchema("row", .bytes), ColumnSchema("change", .bytes)])
      ])

  private static func table(_ name: String, _ column: ColumnSchema) -> TableSchema {
    TableSchema(name, key: [KeyColumn("id", .uuid)], columns: [column])
  }

  let rows: [PreparedTable]
  let values: [PreparedColumn]
  let pending: [PreparedTable]
  let pendingSequences: [PreparedColumn]
  let outbox: PreparedTable
  let outboxRow: PreparedColumn
  let outboxChange: PreparedColumn

  init(_ view: ReadView) throws {
    rows = try (0..<Self.count).map { try view.table("rows\($0)") }
    values = try rows.map { try $0.column("value") }
    pending = try (0..<Self.count).map { try view.table("pending\($0)") }
    pendingSequences = try pending.map { try $0.column("sequence") }
    outbox = try view.table("outbox")
    outboxRow = try outbox.column("row")
    outboxChange = try outbox.column("change")
  }

  /// The table and the identifier in a row's key.
  @inline(__always)
  static func place(_ key: UnsafeRawPointer) -> (table: Int, id: UUIDBytes) {
    let id = key + RowGenerator.keyOffset
    return (
      Int(key.loadUnaligned(as: UInt16.self)),
      UUIDBytes(
        high: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: id.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    )
  }

  @inline(__always)
  static func write(_ table: Int, _ id: UUIDBytes, to key: UnsafeMutableRawPointer) {
    key.storeBytes(of: UInt16(table), as: UInt16.self)
    key.storeBytes(of: id.high.bigEndian, toByteOffset: RowGenerator.keyOffset, as: UInt64.self)
    key.storeBytes(of: id.low.bigEndian, toByteOffset: RowGenerator.keyOffset + 8, as: UInt64.self)
  }
}
