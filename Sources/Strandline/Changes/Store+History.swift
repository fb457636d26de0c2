@_spi(Engine) public import StrandlineLog

/// One version of a row.
public struct RowVersion: Hashable, Sendable {
  /// The commit that wrote it.
  public var sequence: SequenceNumber
  /// Nil: the commit deleted the row.
  public var row: Row?
}

extension Store {
  /// The versions of a row that are kept, the newest first.
  ///
  /// How far back this reaches is ``StoreOptions/history``; what lies in the memory layer is there in any case. A commit that wrote the row
  /// several times left one version.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``, ``StoreError/invalidKey(table:reason:)``; ``StoreError/corrupt(_:)`` or
  ///   ``StoreError/ioFailed(_:)`` where a block cannot be read.
  public func history(of key: Value..., in table: String) throws(StoreError) -> [RowVersion] {
    try history(of: key, in: table)
  }

  /// As the form with a list of values.
  public func history(of key: [Value], in name: String) throws(StoreError) -> [RowVersion] {
    let snapshot = try engine.snapshot()
    let table = try snapshot.state.tables.named(name)
    let key = try table.storeKey(key)
    let cursor = MergedCursor(snapshot.state.stack.cursors(usesCache: true))
    try key.withView { (key) throws(StoreError) in try cursor.seek(to: key) }
    var versions: [RowVersion] = []
    while let version = cursor.current {
      guard key.withView({ KeyView.compare($0, version.key) }) == 0 else { break }
      if version.sequence <= snapshot.sequence {
        let row = try version.value.map { (value) throws(StoreError) in try table.row(key: version.key.bytes, value) }
        versions.append(RowVersion(sequence: SequenceNumber(version.sequence), row: row))
      }
      try cursor.advance()
    }
    return versions
  }
}
