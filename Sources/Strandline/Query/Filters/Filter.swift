/// What rows must fulfil to be found.
///
/// Filters follow SQL's logic of three values; what makes an answer unknown is said at ``Comparison``. A filter is checked before the
/// first row is read: one that means nothing is ``StoreError/invalidQuery(reason:)``.
public indirect enum Filter: Hashable, Sendable {
  case column(String, Comparison, Value)
  /// The text is part of some string or number of the row, case ignored. A blank text finds every row.
  case search(String)
  /// The query is found in the column, case ignored. A blank query finds every row.
  case textSearch(String, String, TextSearchType)
  /// Of no filters: every row.
  case and([Filter])
  /// Of no filters: no row.
  case or([Filter])
  /// Unknown stays unknown.
  case not(Filter)
}

extension Filter {
  /// The filter with the operands of `equals`, `notEquals`, `in` and `notIn` on these columns, at any depth, replaced.
  public func mappingOperands(of columns: Set<String>, _ transform: (Value) -> Value) -> Filter {
    switch self {
    case .column(let name, let comparison, let operand) where columns.contains(name):
      switch comparison {
      case .equals, .notEquals: .column(name, comparison, transform(operand))
      case .in, .notIn:
        if case .array(let members) = operand {
          .column(name, comparison, .array(members.map(transform)))
        } else {
          self
        }
      default: self
      }
    case .column, .search, .textSearch: self
    case .and(let parts): .and(parts.map { $0.mappingOperands(of: columns, transform) })
    case .or(let parts): .or(parts.map { $0.mappingOperands(of: columns, transform) })
    case .not(let part): .not(part.mappingOperands(of: columns, transform))
    }
  }
}
