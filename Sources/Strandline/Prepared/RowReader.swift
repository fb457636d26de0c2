// HOT PATH: once per point read and once per row scanned. Evidence: Docs/Benchmarks.md, "read.random.hot", "scan.full".

extension ReadView {
  /// A reader of rows as they are stored. For one thread at a time; make one for many reads.
  public func rows() -> RowReader { RowReader(snapshot) }
}

/// Reads rows of one view where they are stored, with memory of its own that is used again: a read allocates nothing.
public struct RowReader: ~Copyable {
  private let snapshot: Snapshot
  private var buffer = ValueBuffer()

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  /// Lends `body` the row with a primary key of one `uuid`; false if there is none.
  ///
  /// - Throws: what `body` throws; ``StoreError/unknownTable(_:)``, ``StoreError/invalidKey(table:reason:)``;
  ///   ``StoreError/corrupt(_:)`` or ``StoreError/ioFailed(_:)`` where the row's block cannot be read.
  /// - Complexity: a probe a layer, and at most one read from disk.
  @discardableResult
  public mutating func read(
    _ key: UUIDBytes, in prepared: borrowing PreparedTable,
    _ body: (borrowing StoredRowView) throws -> Void
  ) throws -> Bool {
    let table = try prepared.table(in: snapshot.state.tables)
    try table.requireUUIDKey()
    return try table.withKey(key) { key in try read(key, table, body) }
  }

  /// As the form with a UUID, for any primary key: a value for each key column.
  @discardableResult
  public mutating func read(
    key: [Value], in prepared: borrowing PreparedTable,
    _ body: (borrowing StoredRowView) throws -> Void
  ) throws -> Bool {
    let table = try prepared.table(in: snapshot.state.tables)
    return try table.storeKey(key).withView { key in try read(key, table, body) }
  }

  @inline(__always)
  private mutating func read(
    _ key: KeyView, _ table: Table, _ body: (borrowing StoredRowView) throws -> Void
  ) throws -> Bool {
    guard case .found(let sequence) = try snapshot.find(key, into: &buffer) else { return false }
    try withExtendedLifetime(table) {
      try body(StoredRowView(table, key: key.bytes, value: buffer.bytes, sequence: sequence))
    }
    return true
  }

  /// Lends `body` one row after another in the order of their primary keys, until it returns false.
  ///
  /// - Parameters:
  ///   - from: the first key, or where it would be; nil: from the first row, or backwards from the last.
  ///   - backwards: whether the last row comes first; `from` is then the last key.
  /// - Throws: as ``read(_:in:_:)``.
  /// - Complexity: a look at each row. A scan takes room in the cache that nobody has, and it begins with sorting what is new in memory.
  public func scan(
    _ prepared: borrowing PreparedTable, from: [Value]? = nil, backwards: Bool = false,
    _ body: (borrowing StoredRowView) throws -> Bool
  ) throws {
    let table = try prepared.table(in: snapshot.state.tables)
    var range = KeyRange.all(table.rowPrefix)
    if let from {
      var key = try table.storeKey(from)
      if backwards {
        // The first key behind it.
        key.bytes.append(0)
        range.upper = key
      } else {
        range.lower = key
      }
    }
    let cursor = snapshot.visible(in: range, reverse: backwards)
    try withExtendedLifetime(table) {
      while let version = try cursor.next() {
        guard let value = version.value else { continue }
        let row = try StoredRowView(table, key: version.key.bytes, value: value, sequence: version.sequence)
        guard try body(row) else { return }
      }
    }
  }
}
