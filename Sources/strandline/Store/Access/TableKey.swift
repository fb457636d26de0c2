import Strandline

/// `--key …` of one row: a value for each key column.
struct TableKey {
  static let option = CommandSpecification.Option(
    "--key", "K", isRepeatable: true,
    summary: "Value of the key; once for each of its columns, in their order.", isRequired: true)

  private let texts: [String]

  init(_ arguments: Arguments) throws(UsageError) {
    texts = arguments.values("--key")
    if texts.isEmpty { throw .missingOption("--key", valueName: "K") }
  }

  /// The values as the key columns of `table` hold them.
  func values(of table: TableSchema) throws(Failure) -> [Value] {
    let names = table.key.map(\.name).joined(separator: ", ")
    guard texts.count == table.key.count else {
      throw Failure(
        .usage,
        "the key of table \(table.name) has \(HumanUnits.number(table.key.count, of: "column")) (\(names)), --key was given "
          + HumanUnits.number(texts.count, of: "time")
      )
    }
    var values: [Value] = []
    for (text, column) in zip(texts, table.key) {
      guard let value = Self.value(text, as: column.type) else {
        throw Failure(.usage, "--key '\(text)' is not of type \(column.type), which column \(column.name) has")
      }
      values.append(value)
    }
    return values
  }

  static func value(_ text: String, as type: KeyType) -> Value? {
    switch type {
    case .string: .string(text)
    case .int: Int64(text).map { .int($0) }
    case .uuid: Value.string(text).converted(to: .uuid)
    case .bytes: Value.string(text).converted(to: .bytes)
    case .timestamp: Value.string(text).converted(to: .timestamp)
    }
  }
}
