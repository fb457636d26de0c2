/// Where a ``Query`` gets its rows from: a view, a transaction, a sync client.
public protocol QuerySource: Sendable {
  /// Runs a plan over a table.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``, ``StoreError/invalidQuery(reason:)`` and the other errors of ``Query/rows()``.
  func rows(of table: String, for plan: QueryPlan) throws(StoreError) -> QueryRows
  /// How the plan's rows would be found; reads none.
  func explain(_ plan: QueryPlan, over table: String) throws(StoreError) -> QueryExplanation
}
