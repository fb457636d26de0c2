/// One key to sort by, its column found.
struct BoundOrder: Equatable {
  var column: ColumnReference
  var isAscending: Bool
  var areNullsFirst: Bool

  init(_ order: QueryOrder, _ table: BoundTable) throws(StoreError) {
    column = try table.column(named: order.column)
    isAscending = order.isAscending
    areNullsFirst = order.nulls.map { $0 == .first } ?? !order.isAscending
  }

  /// Below, at or above zero.
  @inline(__always)
  func compare(_ left: Value, _ right: Value) -> Int {
    switch (left.isNull, right.isNull) {
    case (true, true): return 0
    case (true, false): return areNullsFirst ? -1 : 1
    case (false, true): return areNullsFirst ? 1 : -1
    case (false, false):
      let order = Value.order(left, right)
      return isAscending ? order : -order
    }
  }
}
