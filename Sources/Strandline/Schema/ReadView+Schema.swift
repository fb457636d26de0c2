extension ReadView {
  /// A table as it is now: everything that was ever declared and not dropped, and columns that rows brought along.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``.
  public func schema(of table: String) throws(StoreError) -> TableSchema {
    TableSchema(try snapshot.state.tables.named(table).definition)
  }
}

extension Store {
  /// Puts a declared schema in force, as ``open(at:schema:options:)`` does, in a store that is open.
  ///
  /// - Throws: as opening does for its schema; ``StoreError/readOnly`` where something is missing and nothing may be written.
  @available(*, noasync, message: "blocks")
  public func adopt(_ schema: Schema, migrations: [Migration] = []) throws(StoreError) {
    if engine.isReadOnly { throw .readOnly }
    precondition(!engine.isInLane, "adopt inside write: adopt in front of it or behind it")
    try engine.adopt(schema, migrations)
    engine.compactor.submit { $0.compactInBackground() }
  }
}

extension TableSchema {
  /// What a stored definition declares, as far as it is in force.
  init(_ definition: TableDefinition) {
    let keyNames = definition.key.map(\.name)
    let live = definition.columns.filter { !$0.isDropped }
    let names = Dictionary(live.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
    self.init(
      definition.name, key: definition.key,
      columns: live.filter { !keyNames.containsExactly($0.name) }.map {
        ColumnSchema($0.name, $0.type, isNullable: $0.isNullable)
      },
      indexes: definition.indexes.filter { $0.state != .dropped }.map { index in
        IndexSchema(index.name, index.columns.compactMap { names[$0] })
      }, allowsOtherColumns: definition.allowsOtherColumns)
  }
}
