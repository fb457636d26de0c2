public import StrandlineProtocol

/// Something that filters narrow down; each step gives a new one. All filters have to be true of a row.
public protocol FilterBuilding: Sendable {
  func filter(_ filter: Filter) -> Self
}

extension FilterBuilding {
  public func filter(_ column: String, _ comparison: Comparison, _ operand: Value) -> Self {
    filter(.column(column, comparison, operand))
  }

  public func eq(_ column: String, _ value: Value) -> Self { filter(column, .equals, value) }
  public func neq(_ column: String, _ value: Value) -> Self { filter(column, .notEquals, value) }
  public func gt(_ column: String, _ value: Value) -> Self { filter(column, .greaterThan, value) }
  public func gte(_ column: String, _ value: Value) -> Self { filter(column, .greaterThanOrEquals, value) }
  public func lt(_ column: String, _ value: Value) -> Self { filter(column, .lessThan, value) }
  public func lte(_ column: String, _ value: Value) -> Self { filter(column, .lessThanOrEquals, value) }
  public func like(_ column: String, _ pattern: String) -> Self { filter(column, .like, .string(pattern)) }
  public func ilike(_ column: String, _ pattern: String) -> Self { filter(column, .ilike, .string(pattern)) }
  public func likeAllOf(_ column: String, _ patterns: [String]) -> Self {
    filter(column, .likeAllOf, .array(patterns.map { .string($0) }))
  }
  public func likeAnyOf(_ column: String, _ patterns: [String]) -> Self {
    filter(column, .likeAnyOf, .array(patterns.map { .string($0) }))
  }
  public func ilikeAllOf(_ column: String, _ patterns: [String]) -> Self {
    filter(column, .ilikeAllOf, .array(patterns.map { .string($0) }))
  }
  public func ilikeAnyOf(_ column: String, _ patterns: [String]) -> Self {
    filter(column, .ilikeAnyOf, .array(patterns.map { .string($0) }))
  }
  /// A regular expression finds something in the column.
  public func match(_ column: String, _ expression: String) -> Self { filter(column, .match, .string(expression)) }
  public func imatch(_ column: String, _ expression: String) -> Self { filter(column, .imatch, .string(expression)) }
  /// Null, true or false.
  public func `is`(_ column: String, _ value: Value) -> Self { filter(column, .is, value) }
  public func isDistinct(_ column: String, _ value: Value) -> Self { filter(column, .isDistinct, value) }
  public func `in`(_ column: String, _ values: [Value]) -> Self { filter(column, .in, .array(values)) }
  public func notIn(_ column: String, _ values: [Value]) -> Self { filter(column, .notIn, .array(values)) }
  public func contains(_ column: String, _ value: Value) -> Self { filter(column, .contains, value) }
  public func containedBy(_ column: String, _ value: Value) -> Self { filter(column, .containedBy, value) }
  public func overlaps(_ column: String, _ values: [Value]) -> Self { filter(column, .overlaps, .array(values)) }
  public func not(_ part: Filter) -> Self { filter(.not(part)) }
  public func or(_ parts: Filter...) -> Self { filter(.or(parts)) }
  public func and(_ parts: Filter...) -> Self { filter(.and(parts)) }
  public func search(_ text: String) -> Self { filter(.search(text)) }
  public func textSearch(_ column: String, _ query: String, type: TextSearchType = .plain) -> Self {
    filter(.textSearch(column, query, type))
  }
}
