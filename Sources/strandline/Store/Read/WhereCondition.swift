import Strandline

/// `--where`: a column, a comparison and a value, as text.
struct WhereCondition: Equatable {
  var column: String
  var comparison: Comparison
  /// Nil for the comparisons with null.
  var text: String?
  /// `is not null`.
  var isNegated = false

  /// Longer signs first: the first that is found decides.
  private static let signs: [(String, Comparison)] = [
    ("!=", .notEquals), ("<>", .notEquals), ("<=", .lessThanOrEquals), (">=", .greaterThanOrEquals), ("=", .equals),
    ("<", .lessThan), (">", .greaterThan), ("~", .like),
  ]

  /// Nil if there is no comparison in it.
  init?(_ condition: String) {
    for (ending, isNegated) in [(" is not null", true), (" is null", false)]
    where condition.lowercased().hasSuffix(ending) {
      self.init(
        column: Self.trimmed(condition.dropLast(ending.count)), comparison: .is, text: nil, isNegated: isNegated)
      return
    }
    // The leftmost sign; of two at one place the longer.
    var best: (place: String.Index, sign: String, comparison: Comparison)?
    for (sign, comparison) in Self.signs {
      guard let place = condition.firstRange(of: sign)?.lowerBound else { continue }
      if best.map({ place < $0.place }) ?? true { best = (place, sign, comparison) }
    }
    guard let best else { return nil }
    let column = Self.trimmed(condition[..<best.place])
    let value = condition[best.place...].dropFirst(best.sign.count)
    self.init(column: column, comparison: best.comparison, text: String(value.drop { $0 == " " }), isNegated: false)
  }

  private init?(column: String, comparison: Comparison, text: String?, isNegated: Bool) {
    guard !column.isEmpty else { return nil }
    self.column = column
    self.comparison = comparison
    self.text = text
    self.isNegated = isNegated
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    var rest = text[...]
    while rest.first == " " { rest = rest.dropFirst() }
    while rest.last == " " { rest = rest.dropLast() }
    return String(rest)
  }

  /// The filter over the columns of a table.
  ///
  /// A value has the type of its column. Where that is open, it is JSON if it reads as JSON, and text otherwise.
  func filter(over table: TableSchema) throws(Failure) -> Filter {
    guard let text else {
      let isNull = Filter.column(column, .is, .null)
      return isNegated ? .not(isNull) : isNull
    }
    if comparison == .like { return .column(column, .like, .string(text)) }
    let type =
      table.key.first { $0.name == column }.map { ColumnType(rawValue: $0.type.rawValue) ?? .any }
      ?? table.columns.first { $0.name == column }?.type ?? .any
    guard let value = Self.value(text, as: type) else {
      throw Failure(.usage, "--where '\(column)': '\(text)' is not of type \(type), which the column has")
    }
    return .column(column, comparison, value)
  }

  static func value(_ text: String, as type: ColumnType) -> Value? {
    switch type {
    case .string: return .string(text)
    case .uuid, .bytes, .timestamp, .decimal: return Value.string(text).converted(to: type)
    case .any: return (try? Value.json(text)) ?? .string(text)
    case .bool, .int, .double, .array, .object: return (try? Value.json(text))?.converted(to: type)
    }
  }
}
