public import StrandlineLog

/// A row where it lies in the store's memory. Lent to the closure that is given it: cells are decoded, or their bytes looked at, one by
/// one.
public struct StoredRowView: ~Copyable {
  // Whoever lends the view holds the table as long: a count up and down for each row is not to be had for nothing.
  private unowned(unsafe) let table: Table
  private let keyBytes: UnsafeRawBufferPointer
  private let cells: StoredRow
  private let version: UInt64

  /// - Parameter table: held by the caller for as long as the view.
  @inline(__always)
  init(_ table: Table, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, sequence: UInt64) throws(StoreError)
  {
    self.table = table
    keyBytes = key
    cells = try StoredRow(value)
    version = sequence
  }

  /// The commit that wrote the row.
  public var sequence: SequenceNumber { SequenceNumber(version) }

  /// The primary key: a value for each key column.
  ///
  /// - Throws: ``StoreError/undecodable(what:reason:)`` for bytes that are no key of the table.
  public var key: [Value] { get throws(StoreError) { try table.keyValues(of: keyBytes) } }

  /// The primary key of a table that is keyed by one column of type `uuid`; nil for other tables.
  public var uuid: UUIDBytes? {
    guard table.isKeyedByUUID, keyBytes.count == 16, let base = keyBytes.baseAddress else { return nil }
    return UUIDBytes(
      high: UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: base.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// One cell, decoded without the rest; nil if the row has none in the column.
  ///
  /// - Throws: ``StoreError/undecodable(what:reason:)``.
  public func value(of column: borrowing PreparedColumn) throws(StoreError) -> Value? {
    try cells.value(of: column.number)
  }

  /// Lends `body` the bytes of a `bytes` cell, or a `string` or `decimal` cell's UTF-8; false if the row has none in the column.
  @discardableResult
  public func withBytes(of column: borrowing PreparedColumn, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
    guard let cell = bytesCell(of: column) else { return false }
    body(cell.body)
    return true
  }

  /// Copies the bytes of a `bytes` cell, or a `string` or `decimal` cell's UTF-8, to the front of `memory`.
  ///
  /// - Returns: how many the cell has, copied or, if `memory` has less room, not; nil if the row has none in the column.
  public func copyBytes(of column: borrowing PreparedColumn, to memory: UnsafeMutableRawBufferPointer) -> Int? {
    guard let cell = bytesCell(of: column) else { return nil }
    if cell.body.count <= memory.count, cell.body.count > 0 { memory.copyMemory(from: cell.body) }
    return cell.body.count
  }

  @inline(__always)
  private func bytesCell(of column: borrowing PreparedColumn) -> StoredCell? {
    guard let cell = cells.cell(of: column.number) else { return nil }
    switch cell.kind {
    case .bytes, .string, .decimal: return cell
    default: return nil
    }
  }

  /// All cells, by name.
  ///
  /// - Throws: ``StoreError/undecodable(what:reason:)``.
  public func row() throws(StoreError) -> Row { try table.row(key: keyBytes, cells) }
}
