/// A filter made ready for one table: columns found, operands converted, patterns read. ``BoundFilter+Evaluation`` asks it about rows.
indirect enum BoundFilter {
  case always(Truth)
  /// The operand is not null.
  case order(ColumnReference, OrderTest, Value)
  /// Equals some of these, which are in order, without equals and nulls; `hasNull`: a null was among them.
  case oneOf(ColumnReference, [Value], hasNull: Bool)
  case pattern(ColumnReference, TextPattern)
  case isNull(ColumnReference)
  case isBool(ColumnReference, Bool)
  case isDistinct(ColumnReference, Value)
  case contains(ColumnReference, Value)
  case containedBy(ColumnReference, Value)
  case overlaps(ColumnReference, Value)
  case search([UInt8])
  case textSearch(ColumnReference, TextQuery)
  case and([BoundFilter])
  case or([BoundFilter])
  case not(BoundFilter)

  enum OrderTest {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// Values of different kinds are unequal and in no order.
    @inline(__always)
    func holds(_ order: Int?) -> Bool {
      guard let order else { return self == .notEqual }
      return switch self {
      case .equal: order == 0
      case .notEqual: order != 0
      case .less: order < 0
      case .lessOrEqual: order <= 0
      case .greater: order > 0
      case .greaterOrEqual: order >= 0
      }
    }
  }

  enum TextPattern {
    case like(LikePattern)
    case regularExpression(RegularExpression)

    func matches(_ text: String) -> Bool {
      switch self {
      case .like(let pattern): pattern.matches(text)
      case .regularExpression(let expression): expression.matches(text)
      }
    }
  }

  /// All of these; none is every row.
  init(allOf filters: [Filter], columns: some ColumnResolving) throws(StoreError) {
    self = try Self.bind(.and(filters), columns)
  }

  private static func bind(_ filter: Filter, _ columns: some ColumnResolving) throws(StoreError) -> BoundFilter {
    switch filter {
    case .column(let name, let comparison, let operand):
      return try bind(try columns.column(named: name), comparison, operand, columns)
    case .search(let text):
      return text.isBlank ? .always(.yes) : .search(TextFolding.folded(text))
    case .textSearch(let name, let text, let type):
      let column = try columns.column(named: name)
      let query = TextQuery(text, type)
      return query.parts.isEmpty ? .always(.yes) : .textSearch(column, query)
    case .and(let parts):
      var bound: [BoundFilter] = []
      for part in parts { bound.append(try bind(part, columns)) }
      return .and(bound)
    case .or(let parts):
      var bound: [BoundFilter] = []
      for part in parts { bound.append(try bind(part, columns)) }
      return .or(bound)
    case .not(let part):
      return .not(try bind(part, columns))
    }
  }

  private static func bind(
    _ column: ColumnReference, _ comparison: Comparison, _ operand: Value, _ columns: some ColumnResolving
  ) throws(StoreError) -> BoundFilter {
    func ordered(_ test: OrderTest) -> BoundFilter {
      operand.isNull ? .always(.unknown) : .order(column, test, columns.operand(operand, for: column))
    }
    func patterns(ignoringCase: Bool) throws(StoreError) -> [BoundFilter] {
      guard case .array(let members) = operand else { return [] }
      var bound: [BoundFilter] = []
      for member in members { bound.append(try pattern(column, member, ignoringCase: ignoringCase)) }
      return bound
    }
    switch comparison {
    case .equals: return ordered(.equal)
    case .notEquals: return ordered(.notEqual)
    case .greaterThan: return ordered(.greater)
    case .greaterThanOrEquals: return ordered(.greaterOrEqual)
    case .lessThan: return ordered(.less)
    case .lessThanOrEquals: return ordered(.lessOrEqual)
    case .like: return try pattern(column, operand, ignoringCase: false)
    case .ilike: return try pattern(column, operand, ignoringCase: true)
    case .likeAllOf: return .and(try patterns(ignoringCase: false))
    case .likeAnyOf: return .or(try patterns(ignoringCase: false))
    case .ilikeAllOf: return .and(try patterns(ignoringCase: true))
    case .ilikeAnyOf: return .or(try patterns(ignoringCase: true))
    case .match: return try expression(column, operand, ignoringCase: false)
    case .imatch: return try expression(column, operand, ignoringCase: true)
    case .is:
      if case .bool(let flag) = operand { return .isBool(column, flag) }
      return .isNull(column)
    case .isDistinct:
      return operand.isNull ? .not(.isNull(column)) : .isDistinct(column, columns.operand(operand, for: column))
    case .in: return list(column, operand, columns)
    case .notIn: return .not(list(column, operand, columns))
    case .contains: return operand.isNull ? .always(.unknown) : .contains(column, operand)
    case .containedBy: return operand.isNull ? .always(.unknown) : .containedBy(column, operand)
    case .overlaps: return operand.isNull ? .always(.unknown) : .overlaps(column, operand)
    }
  }

  private static func pattern(_ column: ColumnReference, _ operand: Value, ignoringCase: Bool) throws(StoreError)
    -> BoundFilter
  {
    guard case .string(let text) = operand else { return .always(.unknown) }
    return .pattern(column, .like(try LikePattern(text, ignoringCase: ignoringCase)))
  }

  private static func expression(
    _ column: ColumnReference, _ operand: Value, ignoringCase: Bool
  ) throws(StoreError) -> BoundFilter {
    guard case .string(let text) = operand else { return .always(.unknown) }
    return .pattern(column, .regularExpression(try RegularExpression(text, ignoringCase: ignoringCase)))
  }

  private static func list(_ column: ColumnReference, _ operand: Value, _ columns: some ColumnResolving) -> BoundFilter
  {
    guard case .array(let members) = operand, !members.isEmpty else { return .always(.no) }
    var values: [Value] = []
    for value in members.lazy.filter({ !$0.isNull }).map({ columns.operand($0, for: column) })
      .sorted(by: { Value.order($0, $1) < 0 })
    where values.last.map({ !Value.areEqualInOrder($0, value) }) ?? true {
      values.append(value)
    }
    return .oneOf(column, values, hasNull: members.contains { $0.isNull })
  }
}
