/// All tables a store has ever had.
struct Catalog: Hashable, Sendable {
  private var byNumber: [UInt16: TableDefinition]

  init(_ definitions: [TableDefinition] = []) {
    byNumber = Dictionary(definitions.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
  }

  /// Dropped ones included, by number.
  var all: [TableDefinition] { byNumber.values.sorted { $0.number < $1.number } }

  private func live(_ name: String) -> TableDefinition? {
    byNumber.values.first { !$0.isDropped && UTF8Order.areEqual($0.name, name) }
  }

  // MARK: Changes in use

  /// Gives numbers to columns that a table which allows others has not seen yet; nil if there are none.
  mutating func addColumns(_ names: [String], to number: UInt16) throws(StoreError) -> TableDefinition? {
    guard var table = byNumber[number] else { return nil }
    var known = Set(table.columns.filter { !$0.isDropped }.map { ExactName($0.name) })
    let columnCount = table.columns.count
    for name in names where known.insert(ExactName(name)).inserted {
      try Self.check(name: name, of: "column")
      try table.add(ColumnSchema(name, .any))
    }
    if table.columns.count == columnCount { return nil }
    byNumber[number] = table
    return table
  }

  /// Puts a filled index to use; nil if it is gone.
  mutating func markReady(index: UInt16, ofTable number: UInt16) -> TableDefinition? {
    guard let place = byNumber[number]?.indexes.firstIndex(where: { $0.number == index && $0.state == .building })
    else { return nil }
    byNumber[number]?.indexes[place].state = .ready
    return byNumber[number]
  }

  // MARK: Declared schemas

  /// What it takes to put a declared schema in force.
  struct Adoption {
    /// With which it is.
    var catalog: Catalog
    /// Definitions that have to be written.
    var changed: [TableDefinition]
    /// What the rows that are there need.
    var migrations: [TableMigration]
  }

  /// What it takes to put `schema` in force.
  ///
  /// - Throws: ``StoreError/invalidSchema(reason:)`` for a schema that contradicts itself, ``StoreError/schemaMismatch(_:)`` with every
  ///   difference that neither it nor `migrations` bridge.
  func adopting(_ schema: Schema, _ migrations: [Migration] = []) throws(StoreError) -> Adoption {
    try schema.check()
    var catalog = self
    var differences: [SchemaDifference] = []
    var needed: [TableMigration] = []
    for name in schema.dropped {
      guard let number = live(name)?.number else { continue }
      catalog.byNumber[number]?.isDropped = true
    }
    for table in schema.tables {
      if let stored = catalog.live(table.name) ?? table.renamedFrom.flatMap({ catalog.live($0) }) {
        var migration = TableMigration(number: stored.number)
        catalog.byNumber[stored.number] = try stored.adopting(table, migrations, &migration, &differences)
        if !migration.steps.isEmpty { needed.append(migration) }
      } else {
        let number = (catalog.byNumber.keys.max() ?? 0).addingReportingOverflow(1)
        guard !number.overflow else {
          throw .limitExceeded(
            StoreLimit(name: "tableCount", value: 65_536, maximum: UInt64(StoreLimits.tableCountMax)))
        }
        catalog.byNumber[number.partialValue] = try TableDefinition(table, number: number.partialValue)
      }
    }
    if !differences.isEmpty { throw .schemaMismatch(differences) }
    return Adoption(
      catalog: catalog, changed: catalog.all.filter { byNumber[$0.number] != $0 }, migrations: needed)
  }

  static func check(name: String, of what: String) throws(StoreError) {
    guard !name.isEmpty, name.utf8.count <= 256 else {
      throw .invalidSchema(
        reason: "the name of a \(what) has 1 to 256 bytes, and \(name.prefix(40)) has \(name.utf8.count)")
    }
  }
}

extension TableDefinition {
  static let indexColumnCountMax = 8

  /// A table that was not there before.
  init(_ schema: TableSchema, number: UInt16) throws(StoreError) {
    self.init(
      number: number, name: schema.name, key: schema.key, columns: [], indexes: [],
      allowsOtherColumns: schema.allowsOtherColumns, isDropped: false)
    for column in schema.key { try add(ColumnSchema(column.name, column.type.columnType, isNullable: false)) }
    for column in schema.columns { try add(column) }
    for index in schema.indexes { try add(index, state: .ready) }
  }

  /// The table as `schema` wants it; what its rows need goes into `needed`, and what stands in the way into `differences`.
  func adopting(
    _ schema: TableSchema, _ migrations: [Migration], _ needed: inout TableMigration,
    _ differences: inout [SchemaDifference]
  ) throws(StoreError) -> TableDefinition {
    var table = self
    var fills: [Migration] = []
    table.name = schema.name
    table.allowsOtherColumns = allowsOtherColumns || schema.allowsOtherColumns
    if schema.key != key {
      differences.append(.keyChanged(table: name, stored: Self.text(key), declared: Self.text(schema.key)))
    }
    for name in schema.droppedColumns where !key.map(\.name).containsExactly(name) {
      if let place = table.place(ofColumn: name) { table.dropColumn(place) }
    }
    // Renames first: the old name may be declared anew.
    for column in schema.columns where table.place(ofColumn: column.name) == nil {
      if let place = column.renamedFrom.flatMap({ table.place(ofColumn: $0) }) {
        table.columns[place].name = column.name
      }
    }
    for column in schema.columns {
      if let place = table.place(ofColumn: column.name) {
        needed.steps += table.change(place, to: column, migrations, &differences)
        guard columns.indices.contains(place), columns[place].isNullable, !column.isNullable else { continue }
      } else if let former = column.renamedFrom {
        differences.append(.renameOfUnknown(table: name, from: former))
        continue
      } else {
        try table.add(column)
        if column.isNullable { continue }
      }
      if let fill = migrations.filling(column.name, of: schema.name) {
        fills.append(fill)
      } else {
        differences.append(.columnBecameRequired(table: name, column: column.name))
      }
    }
    needed.steps += fills
    for name in schema.droppedIndexes { table.dropIndex(name) }
    for index in schema.indexes {
      let numbers = index.columns.compactMap { name in table.place(ofColumn: name).map { table.columns[$0].number } }
      if let stored = table.indexes.first(where: { UTF8Order.areEqual($0.name, index.name) && $0.state != .dropped }) {
        if stored.columns == numbers { continue }
        table.dropIndex(index.name)
      }
      try table.add(index, state: .building)
    }
    return table
  }

  /// Answers the steps that lead to the column's new type.
  private mutating func change(
    _ place: Int, to column: ColumnSchema, _ migrations: [Migration], _ differences: inout [SchemaDifference]
  ) -> [Migration] {
    let stored = columns[place]
    columns[place].isNullable = column.isNullable
    if stored.type == column.type { return [] }
    guard let path = migrations.path(column.name, of: name, from: stored.type, to: column.type) else {
      differences.append(
        .columnTypeChanged(
          table: name, column: column.name, stored: stored.type.rawValue, declared: column.type.rawValue))
      return []
    }
    columns[place].type = column.type
    return path
  }

  /// Of columns that are not dropped.
  private func place(ofColumn name: String) -> Int? {
    columns.firstIndex { !$0.isDropped && UTF8Order.areEqual($0.name, name) }
  }

  /// Indexes over it go with it.
  private mutating func dropColumn(_ place: Int) {
    columns[place].isDropped = true
    for index in indexes.indices where indexes[index].columns.contains(columns[place].number) {
      indexes[index].state = .dropped
    }
  }

  private mutating func dropIndex(_ name: String) {
    guard let place = indexes.firstIndex(where: { UTF8Order.areEqual($0.name, name) && $0.state != .dropped }) else {
      return
    }
    indexes[place].state = .dropped
  }

  mutating func add(_ column: ColumnSchema) throws(StoreError) {
    guard columns.count < StoreLimits.columnCountMax else {
      throw .limitExceeded(
        name: "columnCount", value: columns.count + 1, maximum: StoreLimits.columnCountMax)
    }
    columns.append(
      ColumnDefinition(
        number: UInt16(columns.count), name: column.name, type: column.type, isNullable: column.isNullable))
  }

  private mutating func add(_ index: IndexSchema, state: IndexDefinition.State) throws(StoreError) {
    guard indexes.count < 1024 else {
      throw .limitExceeded(name: "indexCount", value: indexes.count + 1, maximum: 1024)
    }
    var numbers: [UInt16] = []
    for name in index.columns {
      guard let place = place(ofColumn: name) else {
        throw .invalidSchema(reason: "index \(index.name) of \(self.name) names column \(name), which is not there")
      }
      numbers.append(columns[place].number)
    }
    indexes.append(IndexDefinition(number: UInt16(indexes.count), name: index.name, columns: numbers, state: state))
  }

  private static func text(_ key: [KeyColumn]) -> String {
    key.map { "\($0.name) \($0.type.rawValue)" }.joined(separator: ", ")
  }
}

extension Schema {
  /// Whether the schema makes sense by itself.
  func check() throws(StoreError) {
    try Self.checkUnique(tables.map(\.name), "table")
    for name in dropped where tables.map(\.name).containsExactly(name) {
      throw .invalidSchema(reason: "table \(name) is declared and dropped at once")
    }
    for table in tables { try table.check() }
  }

  fileprivate static func checkUnique(_ names: [String], _ what: String) throws(StoreError) {
    var seen: Set<ExactName> = []
    for name in names {
      try Catalog.check(name: name, of: what)
      guard seen.insert(ExactName(name)).inserted else {
        throw .invalidSchema(reason: "\(what) \(name) is declared twice")
      }
    }
  }
}

extension TableSchema {
  fileprivate func check() throws(StoreError) {
    guard !key.isEmpty else { throw .invalidSchema(reason: "table \(name) has no key") }
    try Schema.checkUnique(key.map(\.name) + columns.map(\.name), "column")
    try Schema.checkUnique(indexes.map(\.name), "index")
    try checkDropsAndRenames()
    for index in indexes {
      guard (1...TableDefinition.indexColumnCountMax).contains(index.columns.count) else {
        throw .invalidSchema(
          reason: "index \(index.name) of \(name) has \(index.columns.count) columns instead of 1 to "
            + "\(TableDefinition.indexColumnCountMax)")
      }
      try Schema.checkUnique(index.columns, "column of index \(index.name)")
    }
  }

  private func checkDropsAndRenames() throws(StoreError) {
    for (dropped, declared, what) in [
      (droppedColumns, columns.map(\.name), "column"), (droppedIndexes, indexes.map(\.name), "index"),
    ] {
      if let name = dropped.first(where: declared.containsExactly) {
        throw .invalidSchema(reason: "\(what) \(name) of \(self.name) is declared and dropped at once")
      }
    }
    let renamed = columns.filter { $0.renamedFrom != nil }
    try Schema.checkUnique(renamed.compactMap(\.renamedFrom), "former name of a column of \(name)")
    for column in renamed {
      guard let former = column.renamedFrom else { continue }
      guard !key.map(\.name).containsExactly(former), !renamed.map(\.name).containsExactly(former) else {
        throw .invalidSchema(
          reason:
            "column \(column.name) of \(name) is renamed from \(former), which is a key column or is renamed itself")
      }
    }
  }
}
