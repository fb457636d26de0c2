import Strandline

/// The options of `strandline query` that say which rows, in which order and shape.
struct QueryArguments {
  static let options: [CommandSpecification.Option] = [
    .init(
      "--where", "CONDITION", isRepeatable: true,
      summary:
        "Only rows for which it is true: 'col=value', also != < <= > >= and ~ (like), 'col is null', 'col is not null'."
    ),
    .init("--filter", "JSON", isRepeatable: true, summary: "Only rows for which a filter is true; see above."),
    .init(
      "--order", "COLUMNS", summary: "Sort, as in date:desc,name. Behind each :asc, :desc, :nullsfirst, :nullslast."),
    .init("--limit", "N", summary: "At most N rows."),
    .init("--offset", "N", summary: "Leave out the first N rows."),
    .init("--select", "COLUMNS", summary: "Only these columns, as in id,name."),
  ]

  /// What `--filter` takes, for the help page.
  static let filterDiscussion = [
    "A filter is JSON:",
    #"  {"kind":"eq","column":"state","value":"open"}       neq gt gte lt lte like ilike match imatch is isDistinct …"#,
    #"  {"kind":"in","column":"state","values":["a","b"]}   notIn likeAnyOf overlaps contains containedBy …"#,
    #"  {"kind":"or","filters":[…]}                         and, or, not; {"kind":"search","query":"text"}"#,
  ]

  /// A condition before the table's columns are known.
  private var conditions: [WhereCondition] = []
  private var plan = QueryPlan()

  init(_ arguments: Arguments) throws(UsageError) {
    for text in arguments.values("--where") {
      guard let condition = WhereCondition(text) else {
        throw .invalidValue(
          option: "--where", value: text, expected: "a condition as in 'column=value' or 'column is null'")
      }
      conditions.append(condition)
    }
    for text in arguments.values("--filter") {
      do throws(StoreError) {
        plan.filters += try QueryPlan(json: ["filters": [try Value.json(text)]]).filters
      } catch {
        throw .invalidValue(option: "--filter", value: text, expected: "a filter: \(error.summary)")
      }
    }
    if let text = arguments.value("--order") { plan.orders = try Self.orders(text) }
    plan.limit = try arguments.integer("--limit", in: 0...Int.max)
    plan.offset = try arguments.integer("--offset", in: 0...Int.max) ?? 0
    if let text = arguments.value("--select") { plan.columns = QueryPlan.columns(of: text) }
  }

  func plan(over table: TableSchema) throws(Failure) -> QueryPlan {
    var plan = plan
    var filters: [Filter] = []
    for condition in conditions { filters.append(try condition.filter(over: table)) }
    plan.filters = filters + plan.filters
    return plan
  }

  private static func orders(_ text: String) throws(UsageError) -> [QueryOrder] {
    var orders: [QueryOrder] = []
    for part in text.split(separator: ",") {
      let words = part.split(separator: ":").map(String.init)
      guard let column = words.first else { continue }
      var order = QueryOrder(column)
      for word in words.dropFirst() {
        switch word {
        case "asc": order.isAscending = true
        case "desc": order.isAscending = false
        case "nullsfirst": order.nulls = .first
        case "nullslast": order.nulls = .last
        default:
          throw .invalidValue(
            option: "--order", value: text, expected: "columns with :asc, :desc, :nullsfirst or :nullslast")
        }
      }
      orders.append(order)
    }
    if orders.isEmpty { throw .invalidValue(option: "--order", value: text, expected: "a list of columns") }
    return orders
  }
}
