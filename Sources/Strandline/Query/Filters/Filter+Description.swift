extension Filter: CustomStringConvertible {
  public var description: String {
    switch self {
    case .column(let column, let comparison, let operand): "\(column) \(comparison.symbol) \(operand.literal)"
    case .search(let text): "search \(Value.string(text).literal)"
    case .textSearch(let column, let query, let type):
      "\(column) textSearch(\(type.rawValue)) \(Value.string(query).literal)"
    case .and(let parts): Self.joined(parts, "and", none: "true")
    case .or(let parts): Self.joined(parts, "or", none: "false")
    case .not(let part): "not (\(part))"
    }
  }

  private static func joined(_ parts: [Filter], _ word: String, none: String) -> String {
    parts.isEmpty ? none : "(" + parts.map(\.description).joined(separator: " \(word) ") + ")"
  }
}

extension Comparison {
  fileprivate var symbol: String {
    switch self {
    case .equals: "="
    case .notEquals: "<>"
    case .greaterThan: ">"
    case .greaterThanOrEquals: ">="
    case .lessThan: "<"
    case .lessThanOrEquals: "<="
    default: rawValue
    }
  }
}

extension Value {
  /// As JSON, cut where it is long.
  fileprivate var literal: String {
    var text: [UInt8] = []
    appendJSON(to: &text)
    return text.count <= 120
      ? String(decoding: text, as: UTF8.self) : String(decoding: text.prefix(117), as: UTF8.self) + "…"
  }
}
