/// A query being put together; each step gives a new one, and nothing is read before one of the last steps asks for rows.
///
/// ```swift
/// let open = try view.query("todos").where("done", .equals, false).order(by: "title").limit(20).all(Todo.self)
/// ```
public struct Query: Sendable {
  public let table: String
  public var plan: QueryPlan
  private let source: any QuerySource

  public init(_ table: String, from source: any QuerySource, plan: QueryPlan = QueryPlan()) {
    self.table = table
    self.source = source
    self.plan = plan
  }

  private func with(_ change: (inout QueryPlan) -> Void) -> Query {
    var query = self
    change(&query.plan)
    return query
  }
}

// MARK: Which rows

extension Query {
  /// Only rows for which the comparison is true, besides what was asked for before.
  public func `where`(_ column: String, _ comparison: Comparison, _ operand: Value) -> Query {
    `where`(.column(column, comparison, operand))
  }

  public func `where`(_ filter: Filter) -> Query { with { $0.filters.append(filter) } }

  /// Only rows for which at least one of the filters is true.
  public func whereAny(of filters: [Filter]) -> Query { `where`(.or(filters)) }

  public func whereNot(_ filter: Filter) -> Query { `where`(.not(filter)) }

  /// Only rows with the text somewhere in a string or number, case ignored.
  public func search(_ text: String) -> Query { `where`(.search(text)) }

  public func textSearch(_ column: String, _ query: String, type: TextSearchType = .plain) -> Query {
    `where`(.textSearch(column, query, type))
  }
}

// MARK: In which order and shape

extension Query {
  /// Sorts by the column; a further call sorts what is equal in the columns before.
  public func order(by column: String, ascending isAscending: Bool = true, nulls: QueryOrder.Nulls? = nil) -> Query {
    with { $0.orders.append(QueryOrder(column, ascending: isAscending, nulls: nulls)) }
  }

  public func limit(_ count: Int) -> Query { with { $0.limit = count } }

  public func offset(_ count: Int) -> Query { with { $0.offset = count } }

  /// Rows by their places in the answer, the first is 0; both ends belong to it.
  public func range(from first: Int, through last: Int) -> Query {
    let (count, overflow) = last.subtractingReportingOverflow(first)
    return with {
      $0.offset = first
      $0.limit = overflow || count == .max ? (count < 0 ? .max : -1) : count + 1
    }
  }

  /// Only these columns, null where a row lacks one. A name may also be a list with commas.
  public func select(_ columns: String...) -> Query {
    with { $0.columns = QueryPlan.columns(of: columns.joined(separator: ",")) }
  }

  /// Leaves null cells out of the rows.
  public func strippingNulls() -> Query { with { $0.stripsNulls = true } }
}

// MARK: Running it

extension Query {
  /// The rows, read as they are asked for.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``; ``StoreError/unknownColumn(table:column:)`` where a table does not allow other columns;
  ///   ``StoreError/invalidQuery(reason:)`` before any row is read; what reading throws.
  public func rows() throws(StoreError) -> QueryRows { try source.rows(of: table, for: plan) }

  /// The rows in memory.
  public func all() throws(StoreError) -> [Row] { try rows().collect() }

  /// The first row, or nil.
  public func first() throws(StoreError) -> Row? {
    let limited = with { $0.limit = min($0.limit ?? 1, 1) }
    return try limited.rows().next()
  }

  /// The one row there is.
  ///
  /// - Throws: ``StoreError/cardinality(expected:found:)`` if there is none or another.
  public func single() throws(StoreError) -> Row {
    guard let row = try with({ $0.cardinality = .single }).rows().next() else {
      throw .cardinality(expected: "exactly 1", found: 0)
    }
    return row
  }

  /// The one row there is, or nil.
  ///
  /// - Throws: ``StoreError/cardinality(expected:found:)`` if there is more than one.
  public func maybeSingle() throws(StoreError) -> Row? { try with { $0.cardinality = .maybeSingle }.rows().next() }

  /// How many rows the filters find, whatever offset and limit.
  public func count() throws(StoreError) -> Int {
    let counting = with {
      $0.isHead = true
      $0.isCounted = true
      $0.cardinality = .many
    }
    return try counting.rows().count ?? 0
  }

  /// The rows as csv with a header, in memory. ``QueryRows/writeCSV(_:)`` writes it in pieces.
  public func csv() throws(StoreError) -> String {
    var text: [UInt8] = []
    try rows().writeCSV { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  /// How the rows would be found; reads none.
  public func explain() throws(StoreError) -> QueryExplanation { try source.explain(plan, over: table) }
}
