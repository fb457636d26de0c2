@_spi(Engine) internal import StrandlineLog

// HOT PATH: once per row read. Evidence: Docs/Benchmarks.md, "scan.full".

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
  @inline(__always)
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
    let isWhole =
      form.rawValue == 0
      ? isWhole(numberShift: 0, endShift: 0) : isWhole(numberShift: form.numberShift, endShift: form.endShift)
    guard isWhole else { throw Self.undecodable(defect()) }
  }

  /// Whether numbers, types and ends are what a row has, each against the next. Without branches, all at once.
  @inline(__always)
  private func isWhole(numberShift: Int, endShift: Int) -> Bool {
    let base = bytes.baseAddress.unsafelyUnwrapped
    let numbers = base + numbersAt
    let types = base + typesAt
    let ends = base + endsAt
    var nextColumn = 0
    var start = 0
    var isBad = false
    for index in 0..<columnCount {
      let column =
        numberShift == 0
        ? Int(numbers.load(fromByteOffset: index, as: UInt8.self))
        : Int(UInt16(littleEndian: numbers.loadUnaligned(fromByteOffset: 2 &* index, as: UInt16.self)))
      let end =
        switch endShift {
        case 0: Int(ends.load(fromByteOffset: index, as: UInt8.self))
        case 1: Int(UInt16(littleEndian: ends.loadUnaligned(fromByteOffset: 2 &* index, as: UInt16.self)))
        default: Int(UInt32(littleEndian: ends.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)))
        }
      let kind = types.load(fromByteOffset: index, as: UInt8.self)
      let byteCount = end &- start
      let (least, most) = ValueKind.byteCounts(ofRaw: kind)
      isBad = isBad || column < nextColumn || byteCount < least || byteCount > most
      nextColumn = column &+ 1
      start = end
    }
    return !isBad && start == bytes.count &- bodiesAt
      && form == RowForm(lastColumn: UInt16(truncatingIfNeeded: max(nextColumn &- 1, 0)), bodyByteCount: start)
  }

  /// What `isWhole` found.
  @inline(never)
  private func defect() -> String {
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
      let (least, most) = ValueKind.byteCounts(ofRaw: bytes[typesAt &+ index])
      guard least <= byteCount, byteCount <= most else {
        return "the type of column \(column) is unknown or does not fit its length"
      }
    }
    guard start == bytes.count &- bodiesAt else { return "its cells do not fill it" }
    return "its form is wider than need be"
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

  @inline(never)
  private static func undecodable(_ reason: String) -> StoreError { .undecodable(what: "row", reason: reason) }
}
