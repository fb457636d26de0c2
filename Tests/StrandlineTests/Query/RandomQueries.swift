import StrandlineTestSupport

@testable import Strandline

/// Random values, filters, tables and plans from a small world in which things meet often.
struct RandomQueries {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Columns that filters name, with their types.
  var columns: [(name: String, type: ColumnType)] = ["a", "b", "c", "d"].map { ($0, .any) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }

  // MARK: Values

  private static let long = String(repeating: "x", count: 256)
  private static let types: [ColumnType] = [
    .bool, .int, .decimal, .double, .string, .bytes, .uuid, .timestamp, .array, .object,
  ]
  private static let strings = [
    "", "a", "ab", "abc", "b", "B", "aé", "a%b", "[1,2]", "{\"a\":1}", "1", "true", "a\0", "a\0b", "\0", "a b", long,
    long + "a",
    long + "b", String(long.dropLast()), long + "a" + long,
  ]
  private static let arrays: [Value] = [[], [1], [1, 2], [2, 1], [1.0], ["a"], [[1]], [.null], ["a", 1]]
  private static let objects: [Value] = [[:], ["a": 1], ["a": 1.0], ["a": 1, "b": [1, 2]], ["b": .null]]

  mutating func value(of type: ColumnType) -> Value {
    switch type {
    case .bool: .bool(chance(50))
    case .int: .int(chance(5) ? pick([.min, .max, 1 << 40]) : Int64.random(in: -3...6, using: &generator))
    case .decimal: .decimal(pick(["1.5", "2", "2.00", "-0.25", "0", "-0.0", "3.125", "12"]))
    case .double: .double(pick([1.5, 2, 0, -0.0, -3, 0.25, .infinity, -.infinity, 1e20]))
    case .string: .string(pick(Self.strings))
    case .bytes: .bytes(pick([[], [0], [0, 255], [255], [255, 255], [1, 2, 3], Array(repeating: 7, count: 300)]))
    case .uuid: .uuid(UUIDBytes(high: pick([0, 1, .max]), low: UInt64.random(in: 0...3, using: &generator)))
    case .timestamp: .timestamp(pick([-1, 0, 1, 5, 1000, .min, .max]))
    case .array: pick(Self.arrays)
    case .object: pick(Self.objects)
    case .any: value(of: pick(Self.types))
    }
  }

  /// A value of a column, or now and then null, or one of a kind that the column never holds.
  private mutating func operand(of type: ColumnType) -> Value {
    if chance(5) { return .null }
    if chance(8) { return value(of: .any) }
    switch type {
    case .int, .decimal, .double: return chance(30) ? value(of: pick([.int, .decimal, .double])) : value(of: type)
    default: return value(of: type)
    }
  }

  mutating func looseRow() -> [String: Value] {
    var row: [String: Value] = [:]
    for (name, type) in columns where chance(85) { row[name] = chance(12) ? .null : value(of: type) }
    return row
  }

  // MARK: Filters

  mutating func filter(depth: Int) -> Filter {
    if depth > 0, chance(35) {
      let parts = (0..<Int.random(in: 0...3, using: &generator)).map { _ in filter(depth: depth - 1) }
      switch Int.random(in: 0...2, using: &generator) {
      case 0: return .and(parts)
      case 1: return .or(parts)
      default: return .not(parts.first ?? .and([]))
      }
    }
    if chance(4) { return .search(pick(["a", "A", "1", "", "x", " b"])) }
    let (column, type) = pick(columns)
    if chance(4) {
      return .textSearch(column, pick(["a", "a b", "\"a b\" a", "", "1"]), pick(TextSearchType.allCases))
    }
    return comparison(column, type)
  }

  /// Half of the time of the kinds that a planner can use.
  private mutating func comparison(_ column: String, _ type: ColumnType) -> Filter {
    let useful: [Comparison] = [
      .equals, .equals, .equals, .in, .in, .greaterThan, .greaterThanOrEquals, .lessThan, .lessThanOrEquals, .is, .like,
    ]
    let comparison = chance(60) ? pick(useful) : pick(Comparison.allCases)
    let patterns = ["%", "a%", "%b", "_", "a_c", "", "x%", "1%", "tr%", "abc", "A%", "a\\%%"]
    let operand: Value =
      switch comparison {
      case .like, .ilike: chance(5) ? .null : .string(pick(patterns))
      case .likeAllOf, .likeAnyOf, .ilikeAllOf, .ilikeAnyOf:
        .array((0..<Int.random(in: 0...2, using: &generator)).map { _ in chance(5) ? .null : .string(pick(patterns)) })
      case .match, .imatch: chance(5) ? .null : .string(pick(["a", "^a", "b$", "[0-9]", "a|b", "x+a$", "^$"]))
      case .is: pick([.null, .null, .bool(true), .bool(false)])
      case .in, .notIn: .array((0..<Int.random(in: 0...4, using: &generator)).map { _ in self.operand(of: type) })
      case .overlaps: chance(5) ? .null : value(of: .array)
      case .contains, .containedBy: chance(60) ? pick([value(of: .array), value(of: .object)]) : self.operand(of: type)
      default: self.operand(of: type)
      }
    return .column(column, comparison, operand)
  }

  // MARK: Tables

  private mutating func someOf<Element>(_ elements: [Element], _ counts: ClosedRange<Int>) -> [Element] {
    Array(elements.shuffled(using: &generator).prefix(Int.random(in: counts, using: &generator)))
  }

  mutating func table() -> TableDefinition {
    let key = (0..<pick([1, 1, 1, 2, 2, 3])).map { place in
      KeyColumn("k\(place)", pick([.int, .string, .uuid, .bytes, .timestamp]))
    }
    var columns: [ColumnDefinition] = []
    var number = UInt16.random(in: 0...2, using: &generator)
    if chance(70) {
      for column in key {
        columns.append(
          ColumnDefinition(number: number, name: column.name, type: column.type.columnType, isNullable: false))
        number += 1
      }
    }
    for place in 0..<Int.random(in: 1...6, using: &generator) {
      columns.append(
        ColumnDefinition(
          number: number, name: "c\(place)", type: chance(20) ? .any : pick(Self.types), isNullable: chance(75),
          isDropped: chance(8)))
      number += UInt16.random(in: 1...3, using: &generator)
    }
    let live = columns.filter { !$0.isDropped }.map(\.number)
    var indexes: [IndexDefinition] = []
    if !live.isEmpty {
      for place in 0..<Int.random(in: 0...4, using: &generator) {
        indexes.append(
          IndexDefinition(
            number: UInt16(place * 255), name: "i\(place)", columns: someOf(live, 1...3),
            state: pick([.ready, .ready, .ready, .ready, .building, .dropped])))
      }
    }
    return TableDefinition(
      number: UInt16.random(in: 1...300, using: &generator), name: "t", key: key, columns: columns, indexes: indexes,
      allowsOtherColumns: chance(30), isDropped: false)
  }

  /// The key's values, and cells by column number.
  mutating func row(of table: TableDefinition) -> (key: [Value], cells: [UInt16: Value]) {
    let key = table.key.map { value(of: $0.type.columnType) }
    var cells: [UInt16: Value] = [:]
    for column in table.columns where !table.key.contains(where: { $0.name == column.name }) {
      if column.isNullable, chance(15) { continue }
      cells[column.number] = column.isNullable && chance(15) ? .null : value(of: column.type)
    }
    return (key, cells)
  }

  // MARK: Plans

  mutating func plan(over table: TableDefinition) -> QueryPlan {
    columns =
      table.key.map { ($0.name, $0.type.columnType) }
      + table.columns.filter { !$0.isDropped }.map { ($0.name, $0.type) }
    if table.allowsOtherColumns, chance(20) { columns.append(("unheard", .any)) }
    var plan = QueryPlan()
    for _ in 0..<pick([0, 1, 1, 1, 2, 2, 3]) { plan.filters.append(filter(depth: chance(30) ? 2 : 0)) }
    for _ in 0..<pick([0, 0, 1, 1, 2, 3]) {
      plan.orders.append(
        QueryOrder(pick(columns).name, ascending: chance(50), nulls: pick([nil, nil, .first, .last])))
    }
    if chance(40) { plan.limit = Int.random(in: 0...8, using: &generator) }
    if chance(25) { plan.offset = Int.random(in: 0...5, using: &generator) }
    if chance(25) { plan.columns = (0..<Int.random(in: 1...3, using: &generator)).map { _ in pick(columns).name } }
    plan.stripsNulls = chance(15)
    plan.isHead = chance(5)
    plan.isCounted = chance(20)
    plan.cardinality = pick([.many, .many, .many, .many, .many, .many, .single, .maybeSingle])
    return plan
  }
}
