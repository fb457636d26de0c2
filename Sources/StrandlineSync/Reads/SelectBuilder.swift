public import StrandlineProtocol

/// The answer to a question for rows.
public struct SelectAnswer: Hashable, Sendable {
  /// None of a head.
  public var rows: [Row]
  /// Rows that the filters find, whatever range and limit; nil unless asked for.
  public var count: Int?
}

/// A question for rows of one table, put together in steps; answered from the local copy, optimistic writes included.
public struct SelectBuilder: Sendable, FilterBuilding {
  let client: SyncClient
  let table: String
  var plan: QueryPlan
  var includesDeleted = false

  init(client: SyncClient, table: String, plan: QueryPlan) {
    self.client = client
    self.table = table
    self.plan = plan
  }

  private func with(_ change: (inout QueryPlan) -> Void) -> SelectBuilder {
    var builder = self
    change(&builder.plan)
    return builder
  }

  public func filter(_ filter: Filter) -> SelectBuilder { with { $0.filters.append(filter) } }

  /// Sorts by the column; a further call sorts what is equal in the columns before. Nulls stand last ascending, first descending.
  public func order(by column: String, ascending: Bool = true, nulls: QueryOrder.Nulls? = nil) -> SelectBuilder {
    with { $0.orders.append(QueryOrder(column, ascending: ascending, nulls: nulls)) }
  }

  public func limit(_ count: Int) -> SelectBuilder { with { $0.limit = count } }

  /// Rows by their places in the answer, the first is 0; both ends belong to it.
  public func range(from first: Int, through last: Int) -> SelectBuilder {
    let (count, overflow) = last.subtractingReportingOverflow(first)
    return with {
      $0.offset = first
      $0.limit = overflow || count == .max ? (count < 0 ? .max : -1) : count + 1
    }
  }

  /// Leaves null cells out of the rows.
  public func stripNulls() -> SelectBuilder { with { $0.stripsNulls = true } }

  /// Also rows that are marked as deleted.
  public func includeDeleted() -> SelectBuilder {
    var builder = self
    builder.includesDeleted = true
    return builder
  }

  // MARK: Answers

  /// - Throws: ``SyncErrorCode/localUnsupported`` for a question that means nothing, before any row is read; ``SyncErrorCode/json`` for a
  ///   row that does not decode; ``SyncErrorCode/store``, ``SyncErrorCode/engineUnavailable``. The others throw the same.
  public func execute() async throws -> SelectAnswer {
    try await client.query(table, plan, includeDeleted: includesDeleted)
  }

  public func rows() async throws -> [Row] { try await execute().rows }

  /// The rows as values of the application's own.
  public func all<Model: Decodable>(_ type: Model.Type) async throws -> [Model] {
    let decoder = RowDecoder()
    do {
      return try await rows().map { try decoder.decode(type, from: $0) }
    } catch {
      throw SyncError.thrown(for: error)
    }
  }

  /// The one row there is.
  ///
  /// - Throws: ``SyncErrorCode/localConstraint`` if there is none or another.
  public func single() async throws -> Row {
    guard let row = try await with({ $0.cardinality = .single }).rows().first else {
      throw SyncError(.localConstraint, "a query for exactly one row of \(table) is answered by a head")
    }
    return row
  }

  /// The one row there is, or nil.
  ///
  /// - Throws: ``SyncErrorCode/localConstraint`` if there are more.
  public func maybeSingle() async throws -> Row? { try await with { $0.cardinality = .maybeSingle }.rows().first }

  /// How many rows the filters find, whatever range and limit.
  public func count() async throws -> Int {
    let counting = with {
      $0.isHead = true
      $0.isCounted = true
      $0.cardinality = .many
    }
    return try await counting.execute().count ?? 0
  }

  /// The rows as csv with a header (RFC 4180).
  public func csv() async throws -> String {
    try client.answer(table, plan, includeDeleted: includesDeleted) { rows in
      var text: [UInt8] = []
      try rows.writeCSV { text += $0 }
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// How the rows would be found; reads none.
  public func explain() async throws -> QueryExplanation {
    try await client.explain(table, plan, includeDeleted: includesDeleted)
  }
}
