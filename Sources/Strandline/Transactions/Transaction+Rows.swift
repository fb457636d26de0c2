@_spi(Engine) public import StrandlineLog

extension Transaction {
  // MARK: Reading

  /// The newest row with a primary key, this transaction's own writes included; nil if there is none.
  ///
  /// - Throws: as ``ReadView/get(key:in:)``.
  public mutating func get(_ key: Value..., in table: String) throws(StoreError) -> Row? {
    try get(key: key, in: table)
  }

  /// As the form with a list of values.
  public mutating func get(key: [Value], in name: String) throws(StoreError) -> Row? {
    let table = try state.tables.named(name)
    return try row(table, try table.storeKey(key))
  }

  /// The newest row as a value of the application's own.
  public mutating func get<Model: Decodable>(
    _ type: Model.Type, _ key: Value..., in table: String
  ) throws(StoreError) -> Model? {
    guard let row = try get(key: key, in: table) else { return nil }
    return try RowDecoder().decode(type, from: row)
  }

  mutating func row(_ table: Table, _ key: StoreKey) throws(StoreError) -> Row? {
    let finding = try key.withView { (key) throws(StoreError) in try find(key) }
    guard case .found = finding else { return nil }
    let bytes = key.bytes
    return try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
      try table.row(key: bytes, buffer.bytes)
    }
  }

  /// Goes on only if the row was last written by the commit `sequence`; zero: if there is no such row.
  ///
  /// - Throws: ``StoreError/conflict(_:)``.
  public mutating func expect(
    _ name: String, _ key: Value..., sequence: SequenceNumber
  ) throws(StoreError) {
    try expect(name, key: key, sequence: sequence)
  }

  /// As the form with a list of values.
  public mutating func expect(_ name: String, key: [Value], sequence: SequenceNumber) throws(StoreError) {
    let table = try state.tables.named(name)
    let key = try table.storeKey(key)
    let found: SequenceNumber
    if case .found(let number) = try key.withView({ (key) throws(StoreError) in try find(key) }) {
      found = SequenceNumber(number)
    } else {
      found = .zero
    }
    guard found == sequence else {
      throw .conflict(.row(table: name, key: table.text(ofKey: key.bytes), expected: sequence, found: found))
    }
  }

  // MARK: Writing

  /// Adds a row.
  ///
  /// A table whose key is one `uuid` or `string` column makes up a random UUID for a row that lacks it.
  ///
  /// - Returns: the row's primary key.
  /// - Throws: ``StoreError/keyExists(table:key:)`` if there is such a row; ``StoreError/unknownTable(_:)``,
  ///   ``StoreError/unknownColumn(table:column:)``, ``StoreError/typeMismatch(table:column:expected:found:)``,
  ///   ``StoreError/invalidKey(table:reason:)``, ``StoreError/limitExceeded(_:)``.
  @discardableResult
  public mutating func insert(_ row: Row, into name: String) throws(StoreError) -> [Value] {
    let table = try state.tables.named(name)
    let (key, values) = try key(of: row, table, mintsMissing: true)
    if case .found = try key.withView({ (key) throws(StoreError) in try find(key) }) {
      throw .keyExists(table: name, key: table.text(ofKey: key.bytes))
    }
    try store(row, values, key, table, old: nil)
    return values
  }

  /// Adds a row, or replaces the one with its key.
  ///
  /// - Returns: the row's primary key.
  /// - Throws: as ``insert(_:into:)``, but for ``StoreError/keyExists(table:key:)``.
  @discardableResult
  public mutating func put(_ row: Row, into name: String) throws(StoreError) -> [Value] {
    let table = try state.tables.named(name)
    let (key, values) = try key(of: row, table, mintsMissing: true)
    try store(row, values, key, table, old: table.indexes.isEmpty ? nil : try self.row(table, key))
    return values
  }

  /// Sets some cells of a row and leaves the others; a cell set to ``Value/null`` is null from then on.
  ///
  /// - Throws: ``StoreError/rowMissing(table:key:)`` if there is no such row; ``StoreError/invalidKey(table:reason:)`` if `cells` has a key
  ///   column with another value; otherwise as ``insert(_:into:)``.
  public mutating func update(_ key: Value..., in name: String, set cells: Row) throws(StoreError) {
    try update(key: key, in: name, set: cells)
  }

  /// As the form with a list of values.
  public mutating func update(key values: [Value], in name: String, set cells: Row) throws(StoreError) {
    let table = try state.tables.named(name)
    let key = try table.storeKey(values)
    guard let old = try row(table, key) else {
      throw .rowMissing(table: name, key: table.text(ofKey: key.bytes))
    }
    var row = old
    for column in cells.columns { row[column] = cells[column] }
    let (newKey, keyValues) = try self.key(of: row, table, mintsMissing: false)
    guard newKey == key else {
      throw .invalidKey(table: name, reason: "an update cannot change it; delete the row and insert another")
    }
    try store(row, keyValues, key, table, old: old)
  }

  /// Removes a row.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  public mutating func delete(_ key: Value..., from name: String) throws(StoreError) -> Bool {
    try delete(key: key, from: name)
  }

  /// As the form with a list of values.
  @discardableResult
  public mutating func delete(key values: [Value], from name: String) throws(StoreError) -> Bool {
    let table = try state.tables.named(name)
    let key = try table.storeKey(values)
    guard let old = try row(table, key) else { return false }
    try apply(key, nil as [UInt8]?)
    for entry in try indexEntries(of: old, key, table) { try apply(entry, nil as [UInt8]?) }
    return true
  }

  // MARK: Application types

  /// Adds a row made of a value of the application's own. Otherwise as ``insert(_:into:)``.
  // A literal of a dictionary is a row.
  @discardableResult @_disfavoredOverload
  public mutating func insert(_ model: some Encodable, into name: String) throws(StoreError) -> [Value] {
    try insert(try RowEncoder().encode(model), into: name)
  }

  /// Adds or replaces a row made of a value of the application's own. Otherwise as ``put(_:into:)``.
  // A literal of a dictionary is a row.
  @discardableResult @_disfavoredOverload
  public mutating func put(_ model: some Encodable, into name: String) throws(StoreError) -> [Value] {
    try put(try RowEncoder().encode(model), into: name)
  }

  /// Appends one event made of a value of the application's own; its type is the name of the value's. Otherwise as
  /// ``append(_:type:to:expecting:)``.
  @discardableResult
  public mutating func append<Event: Encodable>(
    _ event: Event, to stream: String, expecting expectation: StreamExpectation = .any
  ) throws(StoreError) -> UInt64 {
    try append(
      try RowEncoder().encode(event), type: String(describing: Event.self), to: stream, expecting: expectation)
  }

  // MARK: Inside

  /// Takes every row of a table through the steps of a migration. The table's definition is the new one already.
  mutating func migrate(_ migration: TableMigration) throws(StoreError) {
    guard let table = state.tables.numbered(migration.number) else { return }
    // Of what was there in front of this commit: what it writes itself is not met again.
    let rows = Snapshot(state: state, sequence: sequenceNumber - 1).visible(in: .all(table.rowPrefix))
    while let version = try rows.next() {
      guard let value = version.value else { continue }
      let old = try table.row(key: version.key.bytes, value)
      try store(
        try migration.migrated(old), try table.keyValues(of: version.key.bytes), StoreKey(copying: version.key), table,
        old: old)
    }
  }

  /// The key of a row and its values.
  private mutating func key(
    of row: Row, _ table: Table, mintsMissing: Bool
  ) throws(StoreError) -> (StoreKey, [Value]) {
    var values: [Value] = []
    for column in table.definition.key {
      if let value = row[column.name], value != .null {
        values.append(value)
      } else if mintsMissing, table.definition.key.count == 1, let value = mint(column.type) {
        values.append(value)
      } else {
        throw .invalidKey(table: table.name, reason: "the row has no value for column \(column.name)")
      }
    }
    return (try table.storeKey(values), values)
  }

  private func mint(_ type: KeyType) -> Value? {
    let random = engine.environment.randomBits
    var uuid = UUIDBytes(high: random(), low: random())
    // Version 4, variant 1.
    uuid.high = uuid.high & ~0xF000 | 0x4000
    uuid.low = uuid.low & ~(3 << 62) | 2 << 62
    switch type {
    case .uuid: return .uuid(uuid)
    case .string: return .string(uuid.description)
    default: return nil
    }
  }

  /// Writes a row and its index entries.
  private mutating func store(
    _ row: Row, _ keyValues: [Value], _ key: StoreKey, _ table: Table, old: Row?
  ) throws(StoreError) {
    let table = try admit(row, table)
    var row = row
    var cells: [(column: UInt16, value: Value)] = []
    cells.reserveCapacity(row.count)
    for cell in row.cells {
      // What the key tells is not stored twice.
      if let index = table.keyNames.firstIndex(where: { UTF8Order.areEqual($0, cell.name) }),
        keyValues[index] == cell.value
      {
        continue
      }
      guard let column = table.column(cell.name) else {
        throw .unknownColumn(table: table.name, column: cell.name)
      }
      let value = try table.checked(cell.value, column)
      if value != cell.value { row[cell.name] = value }
      cells.append((column.number, value))
    }
    for column in table.definition.columns where !column.isNullable && !column.isDropped {
      let isKey = table.keyNames.containsExactly(column.name)
      guard isKey || row[column.name] ?? .null != .null else {
        throw .typeMismatch(table: table.name, column: column.name, expected: "\(column.type)", found: "null")
      }
    }
    cells.sort { $0.column < $1.column }
    var value: [UInt8] = []
    value.reserveCapacity(256)
    try RowEncoding.encode(cells, into: &value)
    let byteCount = value.count + key.bytes.count
    guard byteCount <= StoreLimits.recordByteCountMax - 64 else {
      throw .limitExceeded(name: "recordByteCount", value: byteCount, maximum: StoreLimits.recordByteCountMax - 64)
    }
    try apply(key, value, of: row, replacing: old, table)
  }

  /// Writes an encoded row, and its index entries in place of those of the row that was there.
  mutating func apply(
    _ key: StoreKey, _ value: [UInt8], of row: Row, replacing old: Row?, _ table: Table
  ) throws(StoreError) {
    if table.indexes.isEmpty { return try apply(key, value) }
    var entries = Set(try indexEntries(of: row, key, table))
    let former = try old.map { (old) throws(StoreError) in Set(try indexEntries(of: old, key, table)) } ?? []
    try apply(key, value)
    for entry in former.subtracting(entries).sorted() { try apply(entry, nil as [UInt8]?) }
    entries.subtract(former)
    for entry in entries.sorted() { try apply(entry, []) }
  }

  /// Numbers columns that a table which allows others has not seen yet.
  private mutating func admit(_ row: Row, _ table: Table) throws(StoreError) -> Table {
    guard table.definition.allowsOtherColumns else { return table }
    let fresh = row.columns.filter { table.column($0) == nil && !table.keyNames.containsExactly($0) }
    if fresh.isEmpty { return table }
    var catalog = state.tables.catalog
    guard let changed = try catalog.addColumns(fresh, to: table.definition.number) else { return table }
    try define(Tables(catalog), changed: [changed])
    return try state.tables.named(table.name)
  }

  private func indexEntries(of row: Row, _ key: StoreKey, _ table: Table) throws(StoreError) -> [StoreKey] {
    var entries: [StoreKey] = []
    for index in table.indexes { entries.append(try table.indexEntry(index, of: row, key: key.bytes)) }
    return entries
  }
}
