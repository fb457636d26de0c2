// HOT PATH: once per row looked at.

/// The cells of one stored row, decoded as they are asked for. Owns neither key nor row.
struct StoredCells: CellReading {
  private let table: BoundTable
  private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
  private(set) var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  private var row: StoredRow?
  /// Decoded when first asked for.
  private var keyValues: [Value]?

  init(_ table: BoundTable) { self.table = table }

  /// To another row.
  @inline(__always)
  mutating func move(key: UnsafeRawBufferPointer, row bytes: UnsafeRawBufferPointer) throws(StoreError) {
    self.key = key
    self.bytes = bytes
    keyValues = nil
    row = try StoredRow(bytes)
  }

  mutating func value(of column: ColumnReference) throws(StoreError) -> Value {
    switch column {
    case .stored(let number): return try row?.value(of: number) ?? .null
    case .key(let place): return try key(at: place)
    case .absent: return .null
    }
  }

  /// Nil: the row has no such cell.
  mutating func cell(of column: ColumnReference) throws(StoreError) -> Value? {
    switch column {
    case .stored(let number): return try row?.value(of: number)
    case .key(let place): return try key(at: place)
    case .absent: return nil
    }
  }

  private mutating func key(at place: Int) throws(StoreError) -> Value {
    if let keyValues { return keyValues[place] }
    guard let values = KeyEncoding.decode(key, as: table.definition.key) else {
      throw .undecodable(
        what: "a primary key of \(table.definition.name)", reason: "its bytes are no key of this table")
    }
    keyValues = values
    return values[place]
  }

  mutating func hasValue(where body: (Value) -> Bool) throws(StoreError) -> Bool {
    for place in table.shownKeyPlaces where body(try key(at: place)) { return true }
    guard let row else { return false }
    for index in 0..<row.columnCount where table.isSearched(row.column(at: index)) {
      if body(try row.value(at: index)) { return true }
    }
    return false
  }
}
