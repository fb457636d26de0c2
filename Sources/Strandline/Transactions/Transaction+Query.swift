@_spi(Engine) internal import StrandlineLog

/// The newest state while a transaction is at work; refuses every use after it.
final class TransactionRows: QuerySource, @unchecked Sendable {
  // Sendable: the state changes with the transaction's tables, on its thread alone; use on another one is refused by `thread`.
  private let engine: StoreEngine
  private let sequence: UInt64
  var state: StoreState?

  init(engine: StoreEngine, sequence: UInt64, state: StoreState) {
    self.engine = engine
    self.sequence = sequence
    self.state = state
  }

  private func table(_ name: String) throws(StoreError) -> SnapshotTable {
    guard engine.isInLane, let state else {
      throw .invalidQuery(reason: "the query belongs to a transaction, and is asked outside of it")
    }
    state.stack.active.settle()
    return try SnapshotTable(name, at: Snapshot(state: state, sequence: sequence))
  }

  func rows(of name: String, for plan: QueryPlan) throws(StoreError) -> QueryRows { try table(name).run(plan) }

  func explain(_ plan: QueryPlan, over name: String) throws(StoreError) -> QueryExplanation {
    try table(name).explain(plan)
  }
}

extension Transaction {
  /// A question about the newest rows of one table, this transaction's own writes included.
  ///
  /// To be answered inside the transaction. An answer that is read row by row may or may not show what is written meanwhile.
  public mutating func query(_ table: String) -> Query { Query(table, from: rowsForQueries()) }
}
