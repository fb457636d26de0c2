/// One table at one moment, for queries.
struct SnapshotTable: TableReading {
  let snapshot: Snapshot
  let table: TableDefinition

  init(_ name: String, at snapshot: Snapshot) throws(StoreError) {
    self.snapshot = snapshot
    table = try snapshot.state.tables.named(name).definition
  }

  func find(_ key: KeyView, into buffer: inout ValueBuffer) throws(StoreError) -> Bool {
    if case .found = try snapshot.find(key, into: &buffer) { true } else { false }
  }

  func cursor(over range: KeyRange, reverse: Bool) throws(StoreError) -> VisibleCursor {
    snapshot.visible(in: range, reverse: reverse)
  }
}

extension ReadView: QuerySource {
  /// A question about the rows of one table.
  ///
  /// ```swift
  /// let open = try view.query("todos").where("done", .equals, false).order(by: "title").limit(20).all()
  /// ```
  public func query(_ table: String) -> Query { Query(table, from: self) }

  public func rows(of table: String, for plan: QueryPlan) throws(StoreError) -> QueryRows {
    try SnapshotTable(table, at: snapshot).run(plan)
  }

  public func explain(_ plan: QueryPlan, over table: String) throws(StoreError) -> QueryExplanation {
    try SnapshotTable(table, at: snapshot).explain(plan)
  }
}
