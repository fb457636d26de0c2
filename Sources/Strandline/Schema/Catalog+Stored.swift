extension Catalog {
  /// Reads the tables that a store knows, as of one commit.
  ///
  /// - Parameter sequence: at or behind the horizon of the layers.
  /// - Throws: ``StoreError/undecodable(what:reason:)``, ``StoreError/corrupt(_:)``, ``StoreError/ioFailed(_:)``.
  init(storedIn stack: LayerStack, at sequence: UInt64) throws(StoreError) {
    var definitions: [TableDefinition] = []
    let cursor = stack.visible(in: .all(KeyPrefix(.catalog)), at: sequence)
    while let version = try cursor.next() {
      guard let value = version.value, version.key.bytes.count == 2 else {
        throw .undecodable(
          what: "the table catalog", reason: "its key has \(version.key.bytes.count) bytes instead of 2")
      }
      let number = UInt16(version.key.bytes[0]) << 8 | UInt16(version.key.bytes[1])
      definitions.append(try TableDefinition.decode(value, number: number))
    }
    self.init(definitions)
  }
}
