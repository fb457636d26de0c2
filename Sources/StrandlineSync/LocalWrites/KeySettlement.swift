internal import StrandlineProtocol

/// Finds out which row a write is for.
enum KeySettlement {
  /// Longest key text, with the table's name, that the client's own tables can hold whatever is in it.
  static let byteCountMax = 480

  /// Settles the key of a write; key columns of an insert are brought into their form.
  ///
  /// - Parameter mint: makes up a key, for an insert without any.
  /// - Throws: ``SyncErrorCode/localConstraint``; ``SyncErrorCode/localUnsupported`` for a key that is too long.
  static func settle(
    _ write: inout LocalWrite, of table: ClientTable, mint: () -> String
  ) throws(SyncError) -> String {
    let pk =
      switch write.operation {
      case .insert: try insertKey(&write, table, mint)
      case .update, .delete: try targetKey(write, table)
      }
    if pk.utf8.count + table.name.utf8.count > byteCountMax {
      throw SyncError(
        .localUnsupported,
        "a key of \(table.name) has \(pk.utf8.count) bytes; with the table's name \(byteCountMax) fit")
    }
    return pk
  }

  private static func insertKey(
    _ write: inout LocalWrite, _ table: ClientTable, _ mint: () -> String
  ) throws(SyncError) -> String {
    let given = write.pk.map { RowKey.normalized($0, count: table.key.count) }
    if table.key == ["id"], write.columns["id"] == nil { return given ?? mint() }
    var components: [String] = []
    var missing: [String] = []
    for column in table.key {
      let value = write.columns[column].map { RowKey.lowercasedUUID($0) }
      if let value, let component = RowKey.component(value), !component.isEmpty {
        write.columns[column] = value
        components.append(component)
      } else {
        missing.append(column)
      }
    }
    guard missing.isEmpty else {
      throw SyncError(
        .localConstraint,
        "an insert into \(table.name) needs a text that is not empty or a whole number in \(missing.joined(separator: ", "))"
      )
    }
    let pk = RowKey.text(of: components)
    if let given, !given.utf8.elementsEqual(pk.utf8) {
      throw SyncError(.localConstraint, "the key columns of the insert into \(table.name) make \(pk), not \(given)")
    }
    return pk
  }

  private static func targetKey(_ write: LocalWrite, _ table: ClientTable) throws(SyncError) -> String {
    guard let given = write.pk, !given.isEmpty else {
      throw SyncError(.localConstraint, "an update or delete in \(table.name) needs the row's key")
    }
    let pk = RowKey.normalized(given, count: table.key.count)
    if RowKey.components(of: pk, count: table.key.count) == nil {
      throw SyncError(
        .localConstraint, "\"\(given)\" is no key of \(table.name), whose key is \(table.key.joined(separator: ", "))")
    }
    if write.operation == .update { try checkUpdate(write.columns, write.transforms, table) }
    return pk
  }

  /// An update leaves the key alone.
  static func checkUpdate(
    _ columns: [String: Value], _ transforms: [String: Value]?, _ table: ClientTable
  ) throws(SyncError) {
    for column in table.key where columns[column] != nil || transforms?[column] != nil {
      throw SyncError(.localConstraint, "an update of \(table.name) names the key column \(column)")
    }
  }
}
