public import StrandlineProtocol

extension SyncClient {
  /// Answers a question from the local copy; never touches the network.
  ///
  /// - Parameters:
  ///   - plan: see ``QueryPlan``. Operands on key columns are compared as keys are written, UUIDs in lower case.
  ///   - includeDeleted: also rows that are marked as deleted.
  /// - Throws: ``SyncErrorCode/unknownTable``; ``SyncErrorCode/localUnsupported`` for a plan that means nothing, before any row is read;
  ///   ``SyncErrorCode/localConstraint`` if the answer has not as many rows as the plan's cardinality says; ``SyncErrorCode/json`` for a row
  ///   that does not decode; ``SyncErrorCode/store``, ``SyncErrorCode/engineUnavailable``.
  public func query(
    _ table: String, _ plan: QueryPlan, includeDeleted: Bool = false
  ) async throws -> SelectAnswer {
    try answer(table, plan, includeDeleted: includeDeleted) { rows in
      SelectAnswer(rows: try rows.collect(), count: rows.count)
    }
  }

  /// How a question would be answered: by which index, in which order. Reads no row.
  public func explain(
    _ table: String, _ plan: QueryPlan, includeDeleted: Bool = false
  ) async throws -> QueryExplanation {
    try read { view in
      let table = try tables.named(table)
      var explanation = try view.explain(
        try ReadRules.plan(plan, over: table, includeDeleted: includeDeleted), over: table.name)
      explanation.narrowingColumns = explanation.narrowingColumns.map {
        $0 == HiddenColumn.pk ? table.key.joined(separator: ", ") : $0
      }
      return explanation
    }
  }

  func answer<Answer>(
    _ table: String, _ plan: QueryPlan, includeDeleted: Bool, _ body: (QueryRows) throws -> Answer
  ) throws -> Answer {
    try read { view in
      try SyncView(view, tables).answer(table, plan, includeDeleted: includeDeleted, body)
    }
  }

  /// The rows as they were right behind an earlier commit, within the history that the store keeps.
  ///
  /// - Throws: ``SyncErrorCode/store`` if the history does not reach back so far.
  public func view(at sequence: SequenceNumber) async throws -> SyncView {
    try ensureOpen()
    do { return SyncView(try store.view(at: sequence), tables) } catch { throw SyncError.thrown(for: error) }
  }

  /// The rows as they are now, for as long as the view is held.
  public func view() async throws -> SyncView { try read { SyncView($0, tables) } }
}

/// A client's rows at one moment, for as long as the view is held.
public struct SyncView: Sendable {
  private let view: ReadView
  private let tables: ClientTables

  init(_ view: ReadView, _ tables: ClientTables) {
    self.view = view
    self.tables = tables
  }

  /// The newest commit that the view shows.
  public var sequence: SequenceNumber { view.sequence }

  /// As ``SyncClient/query(_:_:includeDeleted:)``.
  public func query(_ table: String, _ plan: QueryPlan, includeDeleted: Bool = false) throws -> SelectAnswer {
    do {
      return try answer(table, plan, includeDeleted: includeDeleted) { rows in
        SelectAnswer(rows: try rows.collect(), count: rows.count)
      }
    } catch {
      throw SyncError.thrown(for: error)
    }
  }

  func answer<Answer>(
    _ table: String, _ plan: QueryPlan, includeDeleted: Bool, _ body: (QueryRows) throws -> Answer
  ) throws -> Answer {
    let table = try tables.named(table)
    return try body(
      try view.rows(of: table.name, for: try ReadRules.plan(plan, over: table, includeDeleted: includeDeleted)))
  }
}
