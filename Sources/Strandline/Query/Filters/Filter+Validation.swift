extension Filter {
  /// Levels of `and`, `or` and `not` that a filter may have.
  static let depthMax = 64

  /// Checks that the filter means something.
  ///
  /// - Parameter forWrite: Refuses also what would not narrow down the rows to be written: an empty `and` or `or`, a blank search.
  /// - Throws: ``StoreError/invalidQuery(reason:)``.
  public func validate(forWrite: Bool = false) throws(StoreError) { try validate(forWrite: forWrite, depth: 0) }

  private func validate(forWrite: Bool, depth: Int) throws(StoreError) {
    guard depth <= Self.depthMax else {
      throw .invalidQuery(reason: "a filter is nested more than \(Self.depthMax) levels deep")
    }
    switch self {
    case .column(let column, let comparison, let operand):
      try Self.validate(column, comparison, operand)
    case .search(let text):
      if forWrite, text.isBlank { throw .invalidQuery(reason: "a blank search names no rows to write") }
    case .textSearch(let column, let query, _):
      if column.isEmpty { throw .invalidQuery(reason: "a filter names no column") }
      if forWrite, query.isBlank { throw .invalidQuery(reason: "a blank textSearch names no rows to write") }
    case .and(let parts), .or(let parts):
      if forWrite, parts.isEmpty { throw .invalidQuery(reason: "an empty and/or names no rows to write") }
      for part in parts { try part.validate(forWrite: forWrite, depth: depth + 1) }
    case .not(let part):
      try part.validate(forWrite: forWrite, depth: depth + 1)
    }
  }

  private static func validate(_ column: String, _ comparison: Comparison, _ operand: Value) throws(StoreError) {
    func refuse(_ wanted: String) -> StoreError {
      .invalidQuery(reason: "\(comparison.rawValue) on \(column) takes \(wanted), not \(operand.kindName)")
    }
    if column.isEmpty { throw .invalidQuery(reason: "a filter names no column") }
    switch comparison {
    case .equals, .notEquals, .greaterThan, .greaterThanOrEquals, .lessThan, .lessThanOrEquals, .isDistinct, .contains,
      .containedBy:
      return
    case .like, .ilike:
      switch operand {
      case .null: return
      case .string(let pattern): _ = try LikePattern(pattern, ignoringCase: false)
      default: throw refuse("a pattern")
      }
    case .match, .imatch:
      switch operand {
      case .null: return
      case .string(let pattern): _ = try RegularExpression(pattern, ignoringCase: false)
      default: throw refuse("a regular expression")
      }
    case .likeAllOf, .likeAnyOf, .ilikeAllOf, .ilikeAnyOf:
      guard case .array(let members) = operand else { throw refuse("an array of patterns") }
      for member in members {
        switch member {
        case .null: continue
        case .string(let pattern): _ = try LikePattern(pattern, ignoringCase: false)
        default: throw refuse("an array of patterns")
        }
      }
    case .is:
      switch operand {
      case .null, .bool: return
      default: throw refuse("null, true or false")
      }
    case .in, .notIn:
      guard case .array = operand else { throw refuse("an array") }
    case .overlaps:
      switch operand {
      case .null, .array: return
      default: throw refuse("an array")
      }
    }
  }
}

extension String {
  /// Nothing but white space.
  var isBlank: Bool { unicodeScalars.allSatisfy { $0.properties.isWhitespace } }
}
