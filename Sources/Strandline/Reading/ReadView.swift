@_spi(Engine) public import StrandlineLog

/// The state right behind one commit, for as long as the view is held. Never changes, and keeps no writer waiting.
public struct ReadView: Sendable {
  let snapshot: Snapshot

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  /// The newest commit that the view shows.
  public var sequence: SequenceNumber { SequenceNumber(snapshot.sequence) }
  /// Resets in front of it.
  public var epoch: UInt64 { snapshot.state.stack.epoch }
  /// The tables there are, by name.
  public var tableNames: [String] { snapshot.state.tables.names }

  /// The row with a primary key; nil if there is none.
  ///
  /// - Parameter key: one value for each key column, in their order.
  /// - Throws: ``StoreError/unknownTable(_:)``, ``StoreError/invalidKey(table:reason:)``; ``StoreError/corrupt(_:)`` or
  ///   ``StoreError/ioFailed(_:)`` where the row's block cannot be read.
  /// - Complexity: a probe a layer, and at most one read from disk.
  public func get(_ key: Value..., in table: String) throws(StoreError) -> Row? { try get(key: key, in: table) }

  /// As the form with a list of values.
  public func get(key: [Value], in table: String) throws(StoreError) -> Row? {
    let table = try snapshot.state.tables.named(table)
    let key = try table.storeKey(key)
    var buffer = ValueBuffer()
    let finding = try key.withView { (key) throws(StoreError) in try snapshot.find(key, into: &buffer) }
    guard case .found = finding else { return nil }
    return try key.bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
      try table.row(key: bytes, buffer.bytes)
    }
  }

  /// The row with a primary key as a value of the application's own.
  public func get<Model: Decodable>(
    _ type: Model.Type, _ key: Value..., in table: String
  ) throws(StoreError) -> Model? {
    guard let row = try get(key: key, in: table) else { return nil }
    return try RowDecoder().decode(type, from: row)
  }

  /// The commit that last wrote a row; nil if there is no such row.
  public func sequence(of key: Value..., in table: String) throws(StoreError) -> SequenceNumber? {
    let table = try snapshot.state.tables.named(table)
    var buffer = ValueBuffer()
    let finding = try table.storeKey(key).withView { (key) throws(StoreError) in
      try snapshot.find(key, into: &buffer)
    }
    guard case .found(let sequence) = finding else { return nil }
    return SequenceNumber(sequence)
  }
}
