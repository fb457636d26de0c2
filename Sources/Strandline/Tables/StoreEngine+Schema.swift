@_spi(Engine) internal import StrandlineLog

extension StoreEngine {
  /// Puts a declared schema in force: what is missing is added, and rows are migrated, in one commit.
  ///
  /// A read-only store takes what it can without writing: tables that are not there stay unknown, and what needs a migration does not fit.
  func adopt(_ schema: Schema, _ migrations: [Migration] = []) throws(StoreError) {
    if isReadOnly {
      _ = try snapshot().state.tables.catalog.adopting(schema)
      return
    }
    try commit(.schemaChanged) { (transaction) throws(StoreError) in
      let adoption = try transaction.state.tables.catalog.adopting(schema, migrations)
      if adoption.changed.isEmpty { return }
      try transaction.define(Tables(adoption.catalog), changed: adoption.changed)
      for migration in adoption.migrations { try transaction.migrate(migration) }
    }
  }

  /// Gives definitions to tables and columns that facts are there of and no definition: their numbers are never given to anything else.
  ///
  /// - Returns: what they are called now; nothing where each has its own, and then nothing is written.
  /// - Complexity: reads all versions of all rows and index entries.
  func nameLostDefinitions() throws(StoreError) -> [LostDefinition] {
    let state = lane.withLock { $0.state }
    let unnamed = try UnnamedNumbers(in: state.stack, knowing: state.tables)
    if unnamed.byTable.isEmpty { return [] }
    var lost: [LostDefinition] = []
    try commit(.schemaChanged) { (transaction) throws(StoreError) in
      let named = transaction.state.tables.catalog.naming(unnamed)
      try transaction.define(Tables(named.catalog), changed: named.changed)
      lost = named.lost
    }
    return lost
  }

  // MARK: Filling indexes

  /// Fills indexes that were declared over rows that were there before, and puts them to use. On the compactor's thread.
  ///
  /// Writers keep such an index from its declaration on, so only rows of before are missing. Interrupted, it begins again: an entry that is
  /// there already is written once more.
  func buildIndexes() throws(StoreError) {
    let tables = lane.withLock { $0.state.tables }
    for definition in tables.definitions where !definition.isDropped {
      for index in definition.indexes where index.state == .building {
        try fill(index, of: definition)
        if compactor.shouldStop { return }
      }
    }
  }

  /// Makes every secondary index anew from the rows that are there, and waits until they are in use.
  ///
  /// - Returns: names of the tables that have any.
  func reindex() throws(StoreError) -> [String] {
    let tables = lane.withLock { $0.state.tables }
    let schemas = tables.definitions.filter { !$0.isDropped }.map { TableSchema($0) }.filter { !$0.indexes.isEmpty }
    if schemas.isEmpty { return [] }
    try adopt(
      Schema(
        tables: schemas.map { schema in
          var bare = schema
          bare.droppedIndexes = schema.indexes.map(\.name)
          bare.indexes = []
          return bare
        }))
    try adopt(Schema(tables: schemas))
    try onCompactor { (engine) throws(StoreError) in try engine.buildIndexes() }
    return schemas.map(\.name)
  }

  private static let rowsPerCommit = 500

  private func fill(_ index: IndexDefinition, of definition: TableDefinition) throws(StoreError) {
    let cursor = try snapshot().visible(in: .all(KeyPrefix(.row, table: definition.number)))
    var keys: [[UInt8]] = []
    while let version = try cursor.next() {
      if compactor.shouldStop { return }
      keys.append(Array(version.key.bytes))
      if keys.count == Self.rowsPerCommit {
        try writeEntries(index, definition.number, keys)
        keys.removeAll(keepingCapacity: true)
      }
    }
    try writeEntries(index, definition.number, keys)
    try commit(.indexBuilt) { (transaction) throws(StoreError) in
      var catalog = transaction.state.tables.catalog
      guard let changed = catalog.markReady(index: index.number, ofTable: definition.number) else { return }
      try transaction.define(Tables(catalog), changed: [changed])
    }
  }

  /// Writes the entries of rows as they are now.
  private func writeEntries(_ index: IndexDefinition, _ number: UInt16, _ keys: [[UInt8]]) throws(StoreError) {
    if keys.isEmpty { return }
    try commit(.indexBuilt) { (transaction) throws(StoreError) in
      guard let table = transaction.state.tables.numbered(number), !table.definition.isDropped else { return }
      for key in keys {
        guard let row = try transaction.row(table, StoreKey(table.rowPrefix, key)) else { continue }
        try transaction.apply(try table.indexEntry(index, of: row, key: key), [])
      }
    }
  }

  /// One commit of the store's own.
  private func commit(
    _ cause: Cause, _ body: (inout Transaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    let queued: Queued?
    do throws(WriteError<StoreError>) {
      queued = try transact(CommitHeader(cause: cause), durability: .synced, waits: false, body).queued
    } catch {
      switch error {
      case .store(let reason), .body(let reason): throw reason
      }
    }
    if let queued { _ = try finish(queued) }
  }
}
