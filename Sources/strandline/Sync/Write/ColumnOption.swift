import StrandlineSync

/// Options of the form `COLUMN=JSON`.
enum ColumnOption {
  /// By column. What does not read as JSON is a text.
  static func values(_ arguments: Arguments, _ option: String) throws(UsageError) -> [String: Value] {
    var values: [String: Value] = [:]
    for text in arguments.values(option) {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty, values[parts[0]] == nil else {
        throw .invalidValue(option: option, value: text, expected: "COLUMN=JSON, each column once")
      }
      values[parts[0]] = (try? Value.json(parts[1])) ?? .string(parts[1])
    }
    return values
  }
}
