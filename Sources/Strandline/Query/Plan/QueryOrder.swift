/// One key to sort by.
public struct QueryOrder: Hashable, Sendable {
  public enum Nulls: String, Hashable, Sendable {
    case first, last
  }

  public var column: String
  public var isAscending: Bool
  /// Where rows without a value stand. Nil: behind the others ascending, in front of them descending.
  public var nulls: Nulls?

  public init(_ column: String, ascending isAscending: Bool = true, nulls: Nulls? = nil) {
    self.column = column
    self.isAscending = isAscending
    self.nulls = nulls
  }
}
