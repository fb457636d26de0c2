@_spi(Engine) internal import StrandlineLog

// HOT PATH: once per row read. Evidence: RowSpeedTests.

/// A row as stored (layout: RowEncoding). Its structure is checked once, when it is made; then each cell is reached without the rest.
///
/// It does not own the bytes.
struct StoredRow {
  private let bytes: UnsafeRawBufferPointer
  let columnCount: Int
  private let form: RowForm
  private let numbersAt: Int
  private let typesAt: Int
  private let endsAt: Int
  private let bodiesAt: Int

  /// - Throws: ``StoreError/undecodable(what:reason:)``.
  init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    var offset = 0
    guard let count = Varint.read(bytes, at: &offset), count <= UInt64(StoreLimits.columnCountMax) else {
      throw Self.undecodable("its column count is not a number up to \(StoreLimits.columnCountMax)")
    }
    guard offset < bytes.count, let form = RowForm(stored: bytes[offset]) else {
      throw Self.undecodable("its form is unknown")
    }
    columnCount = Int(count)
    numbersAt = offset &+ 1
    typesAt = numbersAt &+ columnCount << form.numberShift
    endsAt = typesAt &+ columnCount
    bodiesAt = endsAt &+ columnCount << form.endShift
    self.bytes = bytes
    self.form = form
    guard bodiesAt <= bytes.count else { throw Self.undecodable("it is too short for its columns") }
    if let reason = defect() { throw Self.undecodable(reason) }
  }

  /// Numbers, types and ends, each against the next.
  @inline(__always)
  private func defect() -> String? {
    var lastColumn = -1
    var start = 0
    for index in 0..<columnCount {
      let column = Int(self.column(at: index))
      guard column > lastColumn else { return "its columns are not in order" }
      lastColumn = column
      let end = self.end(at: index)
      guard end >= start else { return "an end lies in front of its start" }
      let byteCount = end &- start
      start = end
      let isFitting =
        switch ValueKind(rawValue: bytes[typesAt &+ index]) {
        case .null, .false, .true: byteCount == 0
        case .int, .timestamp: byteCount <= 8
        case .double: byteCount == 8
        case .uuid: byteCount == 16
        case .decimal, .string, .bytes: true
        case .array, .object: byteCount > 0
        case nil: false
        }
      guard isFitting else { return "the type of column \(column) is unknown or does not fit its length" }
    }
    guard start == bytes.count &- bodiesAt else { return "its cells do not fill it" }
    guard form == RowForm(lastColumn: UInt16(max(lastColumn, 0)), bodyByteCount: start) else {
      return "its form is wider than need be"
    }
    return nil
  }

  /// Ascending with the index.
  @inline(__always)
  func column(at index: Int) -> UInt16 {
    form.numberShift == 0 ? UInt16(bytes.u8(numbersAt &+ index)) : bytes.u16(numbersAt &+ 2 &* index)
  }

  @inline(__always)
  private func end(at index: Int) -> Int {
    switch form.endShift {
    case 0: Int(bytes.u8(endsAt &+ index))
    case 1: Int(bytes.u16(endsAt &+ 2 &* index))
    default: Int(bytes.u32(endsAt &+ 4 &* index))
    }
  }

  /// The cell as stored.
  @inline(__always)
  func cell(at index: Int) -> StoredCell {
    let start = index == 0 ? 0 : end(at: index &- 1)
    return StoredCell(
      kind: ValueKind(rawValue: bytes.u8(typesAt &+ index)).unsafelyUnwrapped,
      body: bytes.slice(bodiesAt &+ start, end(at: index) &- start))
  }

  /// Nil if the row has no such column.
  @inline(__always)
  func cell(of column: UInt16) -> StoredCell? { index(of: column).map { cell(at: $0) } }

  /// Decodes one cell and looks at no other.
  @inline(__always)
  func value(of column: UInt16) throws(StoreError) -> Value? {
    guard let index = index(of: column) else { return nil }
    return try value(at: index)
  }

  @inline(__always)
  func value(at index: Int) throws(StoreError) -> Value {
    guard let value = cell(at: index).value else {
      throw Self.undecodable("the bytes of column \(column(at: index)) are not a value of its type")
    }
    return value
  }

  /// All cells, ascending by column.
  func cells() throws(StoreError) -> [(column: UInt16, value: Value)] {
    var cells: [(column: UInt16, value: Value)] = []
    cells.reserveCapacity(columnCount)
    for index in 0..<columnCount { cells.append((column(at: index), try value(at: index))) }
    return cells
  }

  @inline(__always)
  func index(of column: UInt16) -> Int? {
    // Rows that have all columns of a table from the first on: the number is the index.
    if Int(column) < columnCount, self.column(at: Int(column)) == column { return Int(column) }
    var low = 0
    var high = min(columnCount, Int(column))
    while low < high {
      let middle = (low &+ high) >> 1
      let found = self.column(at: middle)
      if found == column { return middle }
      if found < column { low = middle &+ 1 } else { high = middle }
    }
    return nil
  }

  private static func undecodable(_ reason: String) -> StoreError { .undecodable(what: "row", reason: reason) }
}
