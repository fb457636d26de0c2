/// What the cells of a column hold. Null is a matter of its own: ``ColumnSchema/isNullable``.
public enum ColumnType: String, Sendable, Hashable, CaseIterable {
  case bool
  case int
  /// Decimal digits, kept as text so that none is lost.
  case decimal
  case double
  case string
  case bytes
  case uuid
  /// Milliseconds since 1970 in UTC.
  case timestamp
  case array
  case object
  /// A value of any of the other types.
  case any
}
