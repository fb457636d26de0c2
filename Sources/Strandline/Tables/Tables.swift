/// The tables of a store as of one moment, ready for use: definitions with the look-ups that reads and writes need.
final class Tables: Sendable {
  let catalog: Catalog
  private let byName: [ExactName: Table]
  private let byNumber: [UInt16: Table]

  init(_ catalog: Catalog) {
    self.catalog = catalog
    var byName: [ExactName: Table] = [:]
    var byNumber: [UInt16: Table] = [:]
    for definition in catalog.all {
      let table = Table(definition)
      byNumber[definition.number] = table
      if !definition.isDropped { byName[ExactName(definition.name)] = table }
    }
    self.byName = byName
    self.byNumber = byNumber
  }

  /// - Throws: ``StoreError/unknownTable(_:)``.
  func named(_ name: String) throws(StoreError) -> Table {
    guard let table = byName[ExactName(name)] else { throw .unknownTable(name) }
    return table
  }

  /// Dropped ones included.
  func numbered(_ number: UInt16) -> Table? { byNumber[number] }

  /// Names of the tables there are, sorted.
  var names: [String] { byName.values.map(\.name).sorted() }

  /// Definitions of all tables, dropped ones included, by number.
  var definitions: [TableDefinition] { catalog.all }

  /// False for facts of tables and indexes that were dropped: compaction leaves them out. What these tables do not know stays.
  func keeps(_ key: KeyView) -> Bool {
    switch Family(rawValue: key.prefix.familyNumber) {
    case .row: !(byNumber[key.prefix.table]?.definition.isDropped ?? false)
    case .index: byNumber[key.prefix.table]?.keepsIndex(key.bytes) ?? true
    default: true
    }
  }
}

/// One table, ready for use.
final class Table: Sendable {
  let definition: TableDefinition
  let rowPrefix: KeyPrefix
  let indexPrefix: KeyPrefix
  private let columnsByName: [ExactName: ColumnDefinition]
  private let namesByNumber: [UInt16: String]
  /// Names of key columns, in key order.
  let keyNames: [String]
  /// Whether no key column is of text or bytes.
  private let hasFixedWidthKey: Bool
  let isKeyedByUUID: Bool
  /// Columns that must have a value and are no part of the key.
  let requiredColumns: [ColumnDefinition]
  /// Indexes that writes keep: complete ones and those being filled.
  let indexes: [IndexDefinition]

  var name: String { definition.name }

  init(_ definition: TableDefinition) {
    self.definition = definition
    rowPrefix = KeyPrefix(.row, table: definition.number)
    indexPrefix = KeyPrefix(.index, table: definition.number)
    keyNames = definition.key.map(\.name)
    hasFixedWidthKey = definition.key.allSatisfy { $0.type != .string && $0.type != .bytes }
    isKeyedByUUID = definition.key.count == 1 && definition.key[0].type == .uuid
    let keyNames = keyNames
    requiredColumns = definition.columns.filter { column in
      !column.isNullable && !column.isDropped && !keyNames.containsExactly(column.name)
    }
    indexes = definition.indexes.filter { $0.state != .dropped }
    var byName: [ExactName: ColumnDefinition] = [:]
    var byNumber: [UInt16: String] = [:]
    for column in definition.columns where !column.isDropped {
      byName[ExactName(column.name)] = column
      byNumber[column.number] = column.name
    }
    columnsByName = byName
    namesByNumber = byNumber
  }

  func column(_ name: String) -> ColumnDefinition? { columnsByName[ExactName(name)] }
  func name(of column: UInt16) -> String? { namesByNumber[column] }

  func keepsIndex(_ key: UnsafeRawBufferPointer) -> Bool {
    if definition.isDropped { return false }
    guard key.count >= 2 else { return true }
    let number = UInt16(key[0]) << 8 | UInt16(key[1])
    return !definition.indexes.contains { $0.number == number && $0.state == .dropped }
  }

  // MARK: Keys

  /// - Throws: ``StoreError/invalidKey(table:reason:)``, ``StoreError/limitExceeded(_:)``.
  func storeKey(_ values: [Value]) throws(StoreError) -> StoreKey {
    var bytes: [UInt8] = []
    try KeyEncoding.encode(values, as: definition.key, table: name, into: &bytes)
    return StoreKey(rowPrefix, bytes)
  }

  /// The values of a stored key, in the order of the key columns.
  func keyValues(of bytes: UnsafeRawBufferPointer) throws(StoreError) -> [Value] {
    guard let values = KeyEncoding.decode(bytes, as: definition.key) else {
      throw .undecodable(
        what: "a key of table \(name)", reason: "it has \(bytes.count) bytes that fit no key of its columns")
    }
    return values
  }

  /// The value of a stored key of one column of type `uuid`.
  func uuid(ofKey key: KeyView) throws(StoreError) -> UUIDBytes {
    guard case .uuid(let uuid) = try keyValues(of: key.bytes).first else {
      throw .undecodable(what: "a key of table \(name)", reason: "it is no UUID")
    }
    return uuid
  }

  /// For messages.
  func text(ofKey bytes: [UInt8]) -> String {
    let values = bytes.span.bytes.withUnsafeBytes { KeyEncoding.decode($0, as: definition.key) }
    guard let values else { return "?" }
    return values.map { value in
      var text: [UInt8] = []
      value.appendJSON(to: &text)
      return String(decoding: text, as: UTF8.self)
    }.joined(separator: ", ")
  }

  // MARK: Indexes

  /// The entry of a row in an index; absent cells count as null.
  ///
  /// - Throws: ``StoreError/limitExceeded(_:)`` if the indexed values and the key together are too long.
  func indexEntry(_ index: IndexDefinition, of row: Row, key: [UInt8]) throws(StoreError) -> StoreKey {
    var bytes: [UInt8] = []
    let values = index.columns.map { number in name(of: number).flatMap { row[$0] } ?? .null }
    try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) in
      try IndexEncoding.appendEntry(
        index: index.number, values: values, primaryKey: key, isFixedWidth: hasFixedWidthKey, to: &bytes)
    }
    return StoreKey(indexPrefix, bytes)
  }

  // MARK: Rows

  /// The cell as its column holds it.
  ///
  /// - Throws: ``StoreError/typeMismatch(table:column:expected:found:)``.
  func checked(_ value: Value, _ column: ColumnDefinition) throws(StoreError) -> Value {
    if column.type.holds(value) { return value }
    guard let converted = value.converted(to: column.type) else {
      throw .typeMismatch(
        table: name, column: column.name, expected: column.type.rawValue, found: "\(ValueKind(of: value))")
    }
    return converted
  }

  // A stored row leaves out key columns whose cells the key tells already, value and type alike. What is read back has them again.

  /// The row that is stored under `key`.
  func row(key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Row {
    try row(key: key, StoredRow(value))
  }

  func row(key: UnsafeRawBufferPointer, _ stored: StoredRow) throws(StoreError) -> Row {
    var row = Row()
    for index in 0..<stored.columnCount {
      // Columns that were dropped since stay in the bytes and out of sight.
      guard let name = name(of: stored.column(at: index)) else { continue }
      row[name] = try stored.value(at: index)
    }
    for (name, value) in zip(keyNames, try keyValues(of: key)) where row[name] == nil { row[name] = value }
    return row
  }
}
