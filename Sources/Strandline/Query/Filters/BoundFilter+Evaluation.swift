// HOT PATH: once per row looked at. Specialised for the reader of stored rows; no existential in here.

extension BoundFilter {
  /// What the filter says about a row.
  func truth<Cells: CellReading>(of cells: inout Cells) throws(StoreError) -> Truth {
    switch self {
    case .always(let truth):
      return truth
    case .order(let column, let test, let operand):
      let value = try cells.value(of: column)
      return value.isNull ? .unknown : Truth(test.holds(Value.orderWithinKind(value, operand)))
    case .oneOf(let column, let values, let hasNull):
      let value = try cells.value(of: column)
      if value.isNull { return .unknown }
      return Self.isMember(value, of: values) ? .yes : hasNull ? .unknown : .no
    case .pattern(let column, let pattern):
      let value = try cells.value(of: column)
      if value.isNull { return .unknown }
      return Truth(value.patternText.map(pattern.matches) ?? false)
    case .isNull(let column):
      return Truth(try cells.value(of: column).isNull)
    case .isBool(let column, let wanted):
      if case .bool(wanted) = try cells.value(of: column) { return .yes }
      return .no
    case .isDistinct(let column, let operand):
      return Truth(!Value.areEqualInOrder(try cells.value(of: column), operand))
    case .contains(let column, let operand):
      let value = try cells.value(of: column)
      return value.isNull ? .unknown : Truth(value.asDocument.contains(operand))
    case .containedBy(let column, let operand):
      let value = try cells.value(of: column)
      return value.isNull ? .unknown : Truth(operand.contains(value.asDocument))
    case .overlaps(let column, let operand):
      let value = try cells.value(of: column)
      return value.isNull ? .unknown : Truth(value.asDocument.overlaps(operand) ?? false)
    case .search(let needle):
      return Truth(
        try cells.hasValue { value in
          value.searchText.map { ByteSearch.contains(TextFolding.folded($0), needle) } ?? false
        })
    case .textSearch(let column, let query):
      let value = try cells.value(of: column)
      if value.isNull { return .unknown }
      return Truth(value.searchText.map(query.matches) ?? false)
    case .and(let parts):
      var truth = Truth.yes
      for part in parts {
        truth = min(truth, try part.truth(of: &cells))
        if truth == .no { break }
      }
      return truth
    case .or(let parts):
      var truth = Truth.no
      for part in parts {
        truth = max(truth, try part.truth(of: &cells))
        if truth == .yes { break }
      }
      return truth
    case .not(let part):
      return !(try part.truth(of: &cells))
    }
  }

  /// `values` are in order.
  private static func isMember(_ value: Value, of values: [Value]) -> Bool {
    var low = 0
    var high = values.count
    while low < high {
      let middle = (low + high) / 2
      let order = Value.order(value, values[middle])
      if order == 0 { return true }
      if order < 0 { high = middle } else { low = middle + 1 }
    }
    return false
  }
}
