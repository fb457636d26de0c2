/// What a query asks of a table, as a value: to be kept, sent, changed and run by whoever holds the rows.
public struct QueryPlan: Hashable, Sendable {
  /// How many rows the answer must have, after `offset` and `limit`.
  public enum Cardinality: String, Hashable, Sendable {
    case many
    /// Exactly one.
    case single
    /// One or none.
    case maybeSingle
  }

  /// All of them must be true of a row.
  public var filters: [Filter]
  /// The first decides, the next among equals. Rows that are equal in all of them, and all rows without any order, stand in the order of
  /// their primary keys.
  public var orders: [QueryOrder]
  /// Rows left out at the front.
  public var offset: Int
  /// Most rows to answer; nil is all.
  public var limit: Int?
  /// The columns to answer, null where a row has none; nil is what each row has.
  public var columns: [String]?
  /// Leaves null cells out of the answered rows.
  public var stripsNulls: Bool
  /// Answers no rows, only what else was asked for.
  public var isHead: Bool
  /// Counts the rows that the filters find, whatever offset and limit.
  public var isCounted: Bool
  public var cardinality: Cardinality
  /// Whether a row as a whole has the columns that only who names them sees otherwise.
  @_spi(Engine) public var showsHiddenColumns = false

  public init(
    filters: [Filter] = [], orders: [QueryOrder] = [], offset: Int = 0, limit: Int? = nil, columns: [String]? = nil,
    stripsNulls: Bool = false, isHead: Bool = false, isCounted: Bool = false, cardinality: Cardinality = .many
  ) {
    self.filters = filters
    self.orders = orders
    self.offset = offset
    self.limit = limit
    self.columns = columns
    self.stripsNulls = stripsNulls
    self.isHead = isHead
    self.isCounted = isCounted
    self.cardinality = cardinality
  }

  /// Checks that the plan means something, before any row is read.
  ///
  /// - Throws: ``StoreError/invalidQuery(reason:)``.
  public func validate() throws(StoreError) {
    for filter in filters { try filter.validate() }
    if orders.contains(where: { $0.column.isEmpty }) { throw .invalidQuery(reason: "an order names no column") }
    if let limit, limit < 0 { throw .invalidQuery(reason: "the limit is negative (\(limit))") }
    if offset < 0 { throw .invalidQuery(reason: "the offset is negative (\(offset))") }
  }
}
