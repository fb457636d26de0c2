internal import StrandlineProtocol

/// What a client makes of a question before the store answers it.
enum ReadRules {
  /// The plan that the store runs for a plan of the application's.
  ///
  /// Operands on key columns are compared as keys are written; rows that are marked as deleted are left out; and where the root filters say
  /// which keys are asked for, the store is told, so that it reads only those rows.
  ///
  /// - Parameter narrows: whether the store is told.
  /// - Throws: ``SyncErrorCode/localUnsupported``.
  static func plan(
    _ plan: QueryPlan, over table: ClientTable, includeDeleted: Bool, narrows: Bool = true
  ) throws(SyncError) -> QueryPlan {
    for column in plan.columns ?? [] { try check(column) }
    for order in plan.orders { try check(order.column) }
    var result = plan
    result.filters = []
    let keys = Set(table.key)
    for filter in plan.filters {
      result.filters.append(try inJSONForm(filter).mappingOperands(of: keys) { RowKey.lowercasedUUID($0) })
    }
    if narrows, let key = table.loneKey { result.filters += result.filters.flatMap { narrowing($0, key) } }
    if !includeDeleted, let column = table.softDeleteColumn { result.filters.append(.column(column, .is, .null)) }
    return result
  }

  private static func check(_ column: String) throws(SyncError) {
    if HiddenColumn.isHidden(column) {
      throw SyncError(.localUnsupported, "columns whose names begin with U+0001 are the client's own")
    }
  }

  /// Operands as the stored cells are.
  private static func inJSONForm(_ filter: Filter) throws(SyncError) -> Filter {
    func each(_ parts: [Filter]) throws(SyncError) -> [Filter] {
      var changed: [Filter] = []
      for part in parts { changed.append(try inJSONForm(part)) }
      return changed
    }
    switch filter {
    case .column(let column, let comparison, let operand):
      try check(column)
      return .column(column, comparison, operand.jsonForm)
    case .search: return filter
    case .textSearch(let column, _, _):
      try check(column)
      return filter
    case .and(let parts): return .and(try each(parts))
    case .or(let parts): return .or(try each(parts))
    case .not(let part): return .not(try inJSONForm(part))
    }
  }

  /// What a root filter on the lone key column says about the store's own key.
  private static func narrowing(_ filter: Filter, _ key: String) -> [Filter] {
    switch filter {
    case .and(let parts): return parts.flatMap { narrowing($0, key) }
    case .column(key, .equals, let operand):
      guard let component = RowKey.component(operand) else { return [] }
      return [.column(HiddenColumn.pk, .equals, .string(component))]
    case .column(key, .in, .array(let operands)):
      var components: [Value] = []
      for operand in operands where !operand.isNull {
        guard let component = RowKey.component(operand) else { return [] }
        components.append(.string(component))
      }
      return [.column(HiddenColumn.pk, .in, .array(components))]
    default: return []
    }
  }
}
