extension TableReading {
  /// Runs a plan over the table. Called where `Self` is known, so that everything below is specialised for it.
  ///
  /// Counting and the check of a cardinality are done before it returns; rows are read as they are asked for.
  ///
  /// - Throws: ``StoreError/invalidQuery(reason:)``, ``StoreError/unknownColumn(table:column:)``, ``StoreError/cardinality(expected:found:)``,
  ///   and what reading throws.
  func run(_ plan: QueryPlan, limits: QueryLimits = QueryLimits()) throws(StoreError) -> QueryRows {
    try plan.validate()
    let bound = BoundTable(table)
    let projection = try Projection(plan, bound)
    let physical = try Planner(table: bound, plan: plan).physicalPlan()
    var count: Int?
    if plan.isCounted {
      let counting = try Planner(table: bound, plan: QueryPlan(filters: plan.filters), keepsOrder: false).physicalPlan()
      count = try QueryExecution(self, bound, counting, projection, limits).count()
    }
    let execution = QueryExecution(self, bound, physical, projection, limits)
    if plan.cardinality != .many {
      let row = try execution.one(plan.cardinality)
      return QueryRows(columns: projection.header, count: count, rows: plan.isHead ? [] : row.map { [$0] } ?? [])
    }
    if plan.isHead { return QueryRows(columns: projection.header, count: count, rows: []) }
    return QueryRows(columns: projection.header, count: count) { () throws(StoreError) -> Row? in try execution.next() }
  }

  /// Rows of a plan one by one, without count and cardinality.
  ///
  /// - Throws: as ``run(_:limits:)``.
  func execution(of plan: QueryPlan, limits: QueryLimits = QueryLimits()) throws(StoreError) -> QueryExecution<Self> {
    try plan.validate()
    let bound = BoundTable(table)
    let physical = try Planner(table: bound, plan: plan).physicalPlan()
    return QueryExecution(self, bound, physical, try Projection(plan, bound), limits)
  }

  /// How ``run(_:limits:)`` would find the rows; reads none.
  func explain(_ plan: QueryPlan) throws(StoreError) -> QueryExplanation {
    try plan.validate()
    let bound = BoundTable(table)
    _ = try Projection(plan, bound)
    return try Planner(table: bound, plan: plan).physicalPlan().explanation
  }
}

extension QueryExecution {
  fileprivate func one(_ cardinality: QueryPlan.Cardinality) throws(StoreError) -> Row? {
    let expected = cardinality == .single ? "exactly 1" : "at most 1"
    guard let row = try next() else {
      if cardinality == .single { throw .cardinality(expected: expected, found: 0) }
      return nil
    }
    if try next() != nil { throw .cardinality(expected: expected, found: 2) }
    return row
  }
}
