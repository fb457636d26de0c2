@_spi(Engine) internal import StrandlineLog

/// The cells of a row that is to be put, by column and without names. Used again and again, it allocates nothing.
///
/// Cells are checked against their columns as they are set; ``Transaction/put(_:_:into:)`` checks what concerns the whole row.
public struct RowCells: ~Copyable {
  private struct Cell {
    var column: UInt16
    var kind: ValueKind
    var start: Int
    var byteCount: Int
  }

  /// Ascending by column.
  private var cells: [Cell] = []
  private var bodies: [UInt8] = []
  /// The table that the cells are of; nil before the first.
  private(set) var table: UInt16?

  /// No cells.
  public init() {}

  /// The cells set so far.
  public var count: Int { cells.count }

  /// Forgets all cells and keeps the memory.
  public mutating func removeAll() {
    cells.removeAll(keepingCapacity: true)
    bodies.removeAll(keepingCapacity: true)
    table = nil
  }

  /// Sets a cell, in place of one set before.
  ///
  /// - Throws: ``StoreError/typeMismatch(table:column:expected:found:)``, ``StoreError/limitExceeded(_:)``; the cells are as before.
  public mutating func set(_ column: borrowing PreparedColumn, _ value: Value) throws(StoreError) {
    let value = try column.table.checked(value, column.definition)
    let start = bodies.count
    let kind = try RowEncoding.appendBody(value, to: &bodies)
    note(column, kind, from: start)
  }

  /// Sets a cell of a column of type `bytes`, without an array of its own.
  ///
  /// - Throws: ``StoreError/typeMismatch(table:column:expected:found:)``; the cells are as before.
  public mutating func set(_ column: borrowing PreparedColumn, bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard column.type == .bytes || column.type == .any else {
      throw .typeMismatch(
        table: column.table.name, column: column.name, expected: column.type.rawValue, found: "bytes")
    }
    let start = bodies.count
    bodies.append(contentsOf: bytes)
    note(column, .bytes, from: start)
  }

  private mutating func note(_ column: borrowing PreparedColumn, _ kind: ValueKind, from start: Int) {
    let number = column.table.definition.number
    precondition(table == nil || table == number, "the cells of one row are of one table's columns")
    table = number
    let cell = Cell(column: column.number, kind: kind, start: start, byteCount: bodies.count - start)
    guard let last = cells.last, last.column >= cell.column else { return cells.append(cell) }
    let index = cells.firstIndex { $0.column >= cell.column } ?? cells.endIndex
    if index < cells.endIndex, cells[index].column == cell.column {
      cells[index] = cell
    } else {
      cells.insert(cell, at: index)
    }
  }

  /// The row that the cells make, as RowEncoding lays it out.
  struct Layout {
    fileprivate var form: RowForm
    /// Of the whole row.
    var byteCount: Int
  }

  /// - Throws: ``StoreError/limitExceeded(_:)`` (`columnCount`, `recordByteCount`).
  func layout() throws(StoreError) -> Layout {
    guard cells.count <= StoreLimits.columnCountMax else {
      throw .limitExceeded(name: "columnCount", value: cells.count, maximum: StoreLimits.columnCountMax)
    }
    var bodyByteCount = 0
    for cell in cells { bodyByteCount += cell.byteCount }
    guard bodyByteCount <= StoreLimits.recordByteCountMax else {
      throw .limitExceeded(name: "recordByteCount", value: bodyByteCount, maximum: StoreLimits.recordByteCountMax)
    }
    let form = RowForm(lastColumn: cells.last?.column ?? 0, bodyByteCount: bodyByteCount)
    return Layout(
      form: form,
      byteCount: Varint.byteCount(UInt64(cells.count)) + 1 + cells.count * form.byteCountPerColumn + bodyByteCount)
  }

  /// Writes the row; `room` is as long as the layout says.
  func write(_ layout: Layout, to room: UnsafeMutableRawBufferPointer) {
    guard var place = room.baseAddress else { return }
    let form = layout.form
    place += Varint.write(UInt64(cells.count), to: place)
    place.storeBytes(of: form.rawValue, as: UInt8.self)
    place += 1
    for cell in cells { place.put(cell.column, byteCount: 1 << form.numberShift) }
    for cell in cells { place.put(cell.kind.rawValue, byteCount: 1) }
    var end = 0
    for cell in cells {
      end += cell.byteCount
      place.put(end, byteCount: 1 << form.endShift)
    }
    bodies.withUnsafeBytes { bodies in
      for cell in cells where cell.byteCount > 0 {
        place.copyMemory(from: bodies.slice(cell.start, cell.byteCount).baseAddress!, byteCount: cell.byteCount)
        place += cell.byteCount
      }
    }
  }

  /// The first of the columns that has no cell, or a null one.
  func firstMissing(of columns: [ColumnDefinition]) -> ColumnDefinition? {
    columns.first { column in !cells.contains { $0.column == column.number && $0.kind != .null } }
  }
}

extension UnsafeMutableRawPointer {
  /// Writes the number's low bytes, the lowest first, and goes behind them.
  @inline(__always)
  fileprivate mutating func put(_ number: some FixedWidthInteger, byteCount: Int) {
    for place in 0..<byteCount {
      storeBytes(of: UInt8(truncatingIfNeeded: number >> (8 * place)), toByteOffset: place, as: UInt8.self)
    }
    self += byteCount
  }
}
