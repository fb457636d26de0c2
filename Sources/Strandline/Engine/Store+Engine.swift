@_spi(Engine) internal import StrandlineLog

// What is built on the store, in this package, needs of it beyond what applications do.

extension Store {
  /// Another in every copy of the store.
  @_spi(Engine) public var incarnation: UInt64 { engine.log.status.incarnation }

  /// Why the store takes no writes any more; nil while it does. A transaction of a poisoned store sees what is in doubt.
  @_spi(Engine) public var poison: StoreError? {
    let status = engine.log.status
    return status.poison.map { .poisoned(first: $0, buffered: status.bufferedCommitCount) }
  }

  /// Puts a declared schema in force, as ``open(at:schema:options:)-(String,Schema?,StoreOptions)`` does with one that it is given.
  @_spi(Engine) public func adopt(_ schema: Schema) async throws {
    let engine = engine
    try await OwnThread.run { () throws(StoreError) in try engine.adopt(schema) }
  }

  /// Voids everything but the tables' definitions and the rows that `carrying` answers, with one record.
  ///
  /// - Parameter carrying: called with the state that is voided, and nothing can change any more. What it answers, a few kilobytes of rows of
  ///   tables with declared columns and without indexes, is there behind the reset.
  /// - Returns: what was done, and the voided state.
  /// - Throws: ``StoreError`` as ``reset(keepCopy:)-(Bool)``, with nothing changed when `carrying` throws.
  @_spi(Engine) public func reset(
    keepCopy: Bool, copyName: String? = nil,
    carrying: @escaping @Sendable (ReadView) throws(StoreError) -> [(table: String, row: Row)]
  ) async throws -> (report: StoreResetReport, before: ReadView) {
    try Task.checkCancellation()
    let engine = engine
    return try await OwnThread.run { () throws(StoreError) in
      try engine.reset(keepCopy: keepCopy, copyName: copyName, carrying: carrying)
    }
  }
}

extension ReadView {
  /// The key columns of a table, in key order.
  @_spi(Engine) public func key(ofTable name: String) throws(StoreError) -> [KeyColumn] {
    try snapshot.state.tables.named(name).definition.key
  }

  /// Whether there are application events.
  @_spi(Engine) public func hasEvents() throws(StoreError) -> Bool {
    try snapshot.visible(in: .all(KeyPrefix(.streamHead))).next() != nil
  }
}
