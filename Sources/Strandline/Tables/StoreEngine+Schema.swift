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
