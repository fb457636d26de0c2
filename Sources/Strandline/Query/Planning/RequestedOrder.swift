/// The order that an answer must have, and which paths have it by themselves.
struct RequestedOrder {
  enum Direction {
    case forward, reverse
  }

  /// Without those that change nothing: columns that are the same in all rows found, columns named before, columns behind the whole key.
  let columns: [BoundOrder]
  private let constraints: Constraints
  private let table: BoundTable

  init(_ orders: [BoundOrder], _ constraints: Constraints, _ table: BoundTable) {
    self.constraints = constraints
    self.table = table
    var columns: [BoundOrder] = []
    var freeKeyColumns = Set(
      table.definition.key.indices.map { ColumnReference.key($0) }.filter { !constraints[$0].isFixed })
    for order in orders {
      if freeKeyColumns.isEmpty { break }
      if order.column == .absent || constraints[order.column].isFixed
        || columns.contains(where: { $0.column == order.column })
      {
        continue
      }
      columns.append(order)
      freeKeyColumns.remove(order.column)
    }
    self.columns = columns
  }

  /// In which direction the primary key has the order; nil: in none.
  func directionOfPrimaryKey() -> Direction? { direction(of: columns[...]) }

  /// As ``directionOfPrimaryKey()``. Backwards the whole key must be asked for: rows without an order stand forwards.
  private func direction(of rest: ArraySlice<BoundOrder>) -> Direction? {
    if rest.isEmpty { return .forward }
    let key = table.definition.key.indices.map { ColumnReference.key($0) }.filter { !constraints[$0].isFixed }
    guard rest.count <= key.count, zip(rest, key).allSatisfy({ $0.column == $1 }) else { return nil }
    if rest.allSatisfy(\.isAscending) { return .forward }
    return rest.count == key.count && rest.allSatisfy { !$0.isAscending } ? .reverse : nil
  }

  /// The walk through the index that has the order; nil: none has.
  func given(by path: SecondaryIndexPath) -> IndexScan? {
    let free = path.index.columns.map(table.reference(of:)).filter { !constraints[$0].isFixed }
    guard columns.count >= free.count, zip(columns, free).allSatisfy({ $0.column == $1 && isExact($1) }) else {
      return nil
    }
    let leading = columns.prefix(free.count)
    let trailing = columns.dropFirst(free.count)
    let isAscending = columns.first?.isAscending ?? true
    guard leading.allSatisfy({ $0.isAscending == isAscending }), let keys = direction(of: trailing) else { return nil }
    let order: IndexScan.Order
    switch (isAscending, keys) {
    case (true, .forward), (false, .reverse): order = .entries
    case (false, .forward): order = .reverseEntriesTiesByKey
    case (true, .reverse): return nil
    }
    let misplaced = leading.filter { order in
      table.isNullable(order.column) && !constraints[order.column].excludesNull && order.areNullsFirst != isAscending
    }
    let ranges: [ByteRange]
    if let order = misplaced.first {
      guard leading.count == 1, path.ranges.count == 1, !path.hasRange else { return nil }
      ranges = path.splitAtNull(nullsFirst: order.areNullsFirst)
    } else {
      ranges = isAscending ? path.ranges : path.ranges.reversed()
    }
    return IndexScan(index: path.index, ranges: ranges, isReverse: !isAscending, order: order)
  }

  /// Entries of the column are never cut, so that their order is the values' order.
  private func isExact(_ column: ColumnReference) -> Bool { IndexEncoding.keepsOrder(table.type(of: column)) }
}
