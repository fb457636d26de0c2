internal import StrandlineProtocol

/// A configured table, ready for use.
struct ClientTable: Sendable {
  let name: String
  let configuration: TableConfiguration

  init(_ name: String, _ configuration: TableConfiguration) {
    self.name = name
    self.configuration = configuration
  }

  var key: [String] { configuration.key }
  /// The key column of a key of one.
  var loneKey: String? { key.count == 1 ? key[0] : nil }
  var softDeleteColumn: String? { configuration.softDeleteColumn.flatMap { $0.isEmpty ? nil : $0 } }
  var isPullOnly: Bool { configuration.syncMode == .pullOnly }
  var hasStamps: Bool { configuration.conflictMode == .hlc }

  /// How the store has it.
  var schema: TableSchema {
    var indexed: [ColumnSchema] = []
    for column in configuration.indexes.flatMap(\.columns) where !indexed.contains(where: { $0.name == column }) {
      indexed.append(ColumnSchema(column, .any))
    }
    return TableSchema(
      name, key: [KeyColumn(HiddenColumn.pk, .string)], columns: indexed, indexes: configuration.indexes,
      allowsOtherColumns: true)
  }
}

/// The tables of a client.
struct ClientTables: Sendable {
  private let byName: [String: ClientTable]
  let localOnlyColumns: Set<String>

  init(_ configuration: SyncConfiguration) {
    byName = Dictionary(uniqueKeysWithValues: configuration.tables.map { ($0.key, ClientTable($0.key, $0.value)) })
    localOnlyColumns = configuration.localOnlyColumns
  }

  /// By name.
  var all: [ClientTable] { byName.values.sorted { $0.name < $1.name } }

  func find(_ name: String) -> ClientTable? { byName[name] }

  /// - Throws: ``SyncErrorCode/unknownTable``.
  func named(_ name: String) throws(SyncError) -> ClientTable {
    guard let table = byName[name] else {
      let known = byName.keys.sorted().joined(separator: ", ")
      throw SyncError(.unknownTable, "table \"\(name)\" is not configured; configured are: \(known)")
    }
    return table
  }

  /// Also a table that an earlier configuration named: what is queued for it is still sent and undone.
  func known(_ name: String) -> ClientTable { byName[name] ?? ClientTable(name, TableConfiguration()) }
}
