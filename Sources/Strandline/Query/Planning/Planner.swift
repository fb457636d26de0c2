/// Chooses how a query finds its rows.
///
/// There are no statistics. Whole keys come first, then the path with the most leading columns that are narrowed down by values, then one
/// with a range; among equals one that gives the order asked for, then the primary key. An index that narrows nothing down is walked only
/// for its order.
struct Planner {
  let table: BoundTable
  let plan: QueryPlan
  /// False: rows may come in any order, as for counting.
  var keepsOrder = true

  func physicalPlan() throws(StoreError) -> PhysicalPlan {
    let filter = try BoundFilter(allOf: plan.filters, columns: table)
    var orders: [BoundOrder] = []
    for order in plan.orders where keepsOrder { orders.append(try BoundOrder(order, table)) }
    let limit = plan.cardinality == .many ? plan.limit : min(plan.limit ?? 2, 2)
    // Which row of several comes first decides nothing when more than one is an error.
    if plan.cardinality != .many, plan.limit ?? 2 >= 2, plan.offset == 0 { orders = [] }
    let constraints = Constraints(filter, table)
    let order = RequestedOrder(orders, constraints, table)
    let choice = limit == 0 || constraints.isContradiction ? nil : choose(constraints, order)
    let sort = choice.map { $0.givesOrder ? [] : order.columns } ?? []
    let path = choice?.path ?? .nothing
    return PhysicalPlan(
      path: path, filter: filter, sort: sort, offset: plan.offset, limit: limit,
      explanation: QueryExplanation(table, plan, path, choice?.usedColumns ?? [], (sort, limit)))
  }

  private struct Candidate {
    var path: AccessPath
    var givesOrder: Bool
    var usedColumns: [String]
    /// Compared from the first on.
    var merits: (Int, Int, Int)
  }

  /// Nil: nothing can be found.
  private func choose(_ constraints: Constraints, _ order: RequestedOrder) -> Candidate? {
    guard let primary = primaryKeyCandidate(constraints, order) else { return nil }
    var best = primary
    for index in table.definition.indexes where index.state == .ready {
      if let candidate = indexCandidate(index, constraints, order), candidate.merits > best.merits { best = candidate }
    }
    return best
  }

  private func primaryKeyCandidate(_ constraints: Constraints, _ order: RequestedOrder) -> Candidate? {
    let path = PrimaryKeyPath(constraints, table.definition.key)
    if path.isEmpty { return nil }
    let direction = keepsOrder ? order.directionOfPrimaryKey() : .forward
    let isReverse = direction == .reverse
    let access: AccessPath =
      if let keys = path.keys { .keys(isReverse ? keys.reversed() : keys) } else {
        .rows(isReverse ? path.ranges.reversed() : path.ranges, isReverse: isReverse)
      }
    let used = table.definition.key.prefix(path.pointColumnCount + (path.hasRange ? 1 : 0)).map(\.name)
    let narrowing = path.keys != nil ? Int.max : path.pointColumnCount * 2 + (path.hasRange ? 1 : 0)
    return Candidate(
      path: access, givesOrder: direction != nil, usedColumns: used, merits: (narrowing, direction != nil ? 1 : 0, 1))
  }

  private func indexCandidate(
    _ index: IndexDefinition, _ constraints: Constraints, _ order: RequestedOrder
  ) -> Candidate? {
    let path = SecondaryIndexPath(index, constraints, table)
    let narrowing = path.pointColumnCount * 2 + (path.hasRange ? 1 : 0)
    let given = order.given(by: path)
    if narrowing == 0, given == nil || order.columns.isEmpty { return nil }
    let used = index.columns.prefix(path.pointColumnCount + (path.hasRange ? 1 : 0)).map {
      table.name(of: table.reference(of: $0))
    }
    if let given {
      return Candidate(path: .index(given), givesOrder: true, usedColumns: used, merits: (narrowing, 1, 0))
    }
    let isUnordered = order.columns.isEmpty
    let scan = IndexScan(
      index: index, ranges: path.ranges, isReverse: false, order: isUnordered && keepsOrder ? .keys : .entries)
    return Candidate(path: .index(scan), givesOrder: isUnordered, usedColumns: used, merits: (narrowing, 0, 0))
  }
}
