// HOT PATH: once per row of a bulk load. Evidence: Docs/Benchmarks.md, "load.1M".

extension Transaction {
  /// A table with its names looked up once.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``.
  public func table(_ name: String) throws(StoreError) -> PreparedTable {
    try PreparedTable(name, in: state.tables)
  }

  /// Adds a row under a primary key of one `uuid`, or replaces the one that is there; cells that are not set are gone.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``, ``StoreError/invalidKey(table:reason:)``,
  ///   ``StoreError/typeMismatch(table:column:expected:found:)`` if a column that must have a value has none,
  ///   ``StoreError/limitExceeded(_:)``.
  public mutating func put(
    _ key: UUIDBytes, _ cells: borrowing RowCells, into prepared: borrowing PreparedTable
  ) throws(StoreError) {
    let table = try prepared.table(in: state.tables)
    try table.requireUUIDKey()
    try table.withKey(key) { (key) throws(StoreError) in try put(key, cells, table) }
  }

  /// As the form with a UUID, for any primary key: a value for each key column.
  public mutating func put(
    key: [Value], _ cells: borrowing RowCells, into prepared: borrowing PreparedTable
  ) throws(StoreError) {
    let table = try prepared.table(in: state.tables)
    try table.storeKey(key).withView { (key) throws(StoreError) in try put(key, cells, table) }
  }

  /// Lends `body` the newest row with a primary key of one `uuid`, this transaction's own writes included; false if there is none.
  ///
  /// - Throws: as ``RowReader/read(_:in:_:)``.
  @discardableResult
  public mutating func read(
    _ key: UUIDBytes, in prepared: borrowing PreparedTable,
    _ body: (borrowing StoredRowView) throws -> Void
  ) throws -> Bool {
    let table = try prepared.table(in: state.tables)
    try table.requireUUIDKey()
    return try table.withKey(key) { key in try read(key, table, body) }
  }

  /// As the form with a UUID, for any primary key: a value for each key column.
  @discardableResult
  public mutating func read(
    key: [Value], in prepared: borrowing PreparedTable,
    _ body: (borrowing StoredRowView) throws -> Void
  ) throws -> Bool {
    let table = try prepared.table(in: state.tables)
    return try table.storeKey(key).withView { key in try read(key, table, body) }
  }

  /// Removes the row with a primary key of one `uuid`. Otherwise as ``delete(_:from:)-(Value,_)``.
  @discardableResult
  public mutating func delete(_ key: UUIDBytes, from prepared: borrowing PreparedTable) throws(StoreError) -> Bool {
    let table = try prepared.table(in: state.tables)
    try table.requireUUIDKey()
    return try table.withKey(key) { (key) throws(StoreError) in
      if !table.indexes.isEmpty { return try delete(key: [.uuid(try table.uuid(ofKey: key))], from: table.name) }
      guard case .found = try find(key) else { return false }
      try apply(key, nil)
      return true
    }
  }

  @inline(__always)
  private mutating func read(
    _ key: KeyView, _ table: Table, _ body: (borrowing StoredRowView) throws -> Void
  ) throws -> Bool {
    guard case .found(let sequence) = try find(key) else { return false }
    try withExtendedLifetime(table) {
      try body(StoredRowView(table, key: key.bytes, value: buffer.bytes, sequence: sequence))
    }
    return true
  }

  private mutating func put(_ key: KeyView, _ cells: borrowing RowCells, _ table: Table) throws(StoreError) {
    precondition(
      cells.table == nil || cells.table == table.definition.number, "the cells are of another table's columns")
    if let column = cells.firstMissing(of: table.requiredColumns) {
      throw .typeMismatch(table: table.name, column: column.name, expected: "\(column.type)", found: "null")
    }
    let layout = try cells.layout()
    let byteCount = layout.byteCount + key.bytes.count
    guard byteCount <= StoreLimits.recordByteCountMax - 64 else {
      throw .limitExceeded(name: "recordByteCount", value: byteCount, maximum: StoreLimits.recordByteCountMax - 64)
    }
    if table.indexes.isEmpty {
      return try apply(key, valueByteCount: layout.byteCount) { room in cells.write(layout, to: room) }
    }
    let owned = StoreKey(copying: key)
    let old = try self.row(table, owned)
    let value = [UInt8](unsafeUninitializedCapacity: layout.byteCount) { room, count in
      cells.write(layout, to: UnsafeMutableRawBufferPointer(room))
      count = layout.byteCount
    }
    let new = try value.span.bytes.withUnsafeBytes { (value) throws(StoreError) in try table.row(key: key.bytes, value)
    }
    try apply(owned, value, of: new, replacing: old, table)
  }
}
