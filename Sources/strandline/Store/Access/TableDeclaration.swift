import Strandline

/// Options that make a table where there is none: its key, and if wanted columns and indexes.
struct TableDeclaration {
  static let options: [CommandSpecification.Option] = [
    .init(
      "--key", "COLUMN:TYPE", isRepeatable: true,
      summary: "Makes the table if there is none: a key column. TYPE: int, string, uuid, bytes, timestamp."),
    .init(
      "--column", "COLUMN:TYPE", isRepeatable: true,
      summary: "With --key: a column whose cells have a type. Others are taken as they come."),
    .init("--index", "COLUMNS", isRepeatable: true, summary: "With --key: a secondary index over columns, as in a,b."),
  ]

  private let table: TableSchema?

  init(_ arguments: Arguments, table name: String) throws(UsageError) {
    var key: [KeyColumn] = []
    for text in arguments.values("--key") {
      let (column, type) = Self.split(text)
      guard let type = type.flatMap(KeyType.init(rawValue:)) else {
        throw .invalidValue(
          option: "--key", value: text, expected: "COLUMN:TYPE with a type of int, string, uuid, bytes, timestamp")
      }
      key.append(KeyColumn(column, type))
    }
    var columns: [ColumnSchema] = []
    for text in arguments.values("--column") {
      let (column, type) = Self.split(text)
      guard let type = type.flatMap(ColumnType.init(rawValue:)) else {
        let types = ColumnType.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalidValue(option: "--column", value: text, expected: "COLUMN:TYPE with a type of \(types)")
      }
      columns.append(ColumnSchema(column, type))
    }
    var indexes: [IndexSchema] = []
    for text in arguments.values("--index") {
      let names = text.split(separator: ",").map(String.init)
      guard !names.isEmpty else { throw .invalidValue(option: "--index", value: text, expected: "a list of columns") }
      for name in names where !columns.contains(where: { $0.name == name }) && !key.contains(where: { $0.name == name })
      {
        columns.append(ColumnSchema(name, .any))
      }
      indexes.append(IndexSchema(names.joined(separator: "_"), names))
    }
    guard !key.isEmpty else {
      if !columns.isEmpty { throw .missingOption("--key", valueName: "COLUMN:TYPE") }
      table = nil
      return
    }
    table = TableSchema(name, key: key, columns: columns, indexes: indexes, allowsOtherColumns: true)
  }

  /// Makes the table if there is none.
  ///
  /// - Throws: ``Failure`` if there is none and no key says how to make it.
  func ensure(_ name: String, in store: Store) throws {
    if try store.view().tableNames.contains(name) { return }
    guard let table else {
      throw Failure(
        .usage, "\(store.path) has no table \(name). Say --key COLUMN:TYPE to make it. Nothing was written.")
    }
    try store.adopt(Schema(tables: [table]))
  }

  private static func split(_ text: String) -> (name: String, type: String?) {
    guard let colon = text.lastIndex(of: ":") else { return (text, nil) }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }
}
