/// How a query finds its rows.
public struct QueryExplanation: Hashable, Sendable, CustomStringConvertible {
  public enum Path: String, Hashable, Sendable {
    /// No row can be found; none is read.
    case nothing
    /// Rows by their whole keys.
    case keys
    /// Ranges of the primary key.
    case keyRange
    /// A secondary index.
    case index
    /// Every row of the table.
    case scan
  }

  public var table: String
  public var path: Path
  /// The secondary index that is used.
  public var index: String?
  /// Columns of the key or index that narrow down what is read, from its first on.
  public var narrowingColumns: [String]
  /// Keys or ranges that are looked up.
  public var rangeCount: Int
  /// Read from the last to the first.
  public var isReverse: Bool
  /// Columns that the rows are sorted by after they are found; empty: they come in the order asked for.
  public var sortColumns: [String]
  /// Rows that are kept for sorting at most; nil where there is no sorting or no limit.
  public var sortedRowsMax: Int?
  /// What is checked on each row, as text.
  public var filter: String?
  /// Reading stops once the answer is decided.
  public var stopsEarly: Bool

  init(
    _ table: BoundTable, _ plan: QueryPlan, _ path: AccessPath, _ narrowing: [String],
    _ physical: (sort: [BoundOrder], limit: Int?)
  ) {
    self.table = table.definition.name
    narrowingColumns = narrowing
    switch path {
    case .nothing: (self.path, rangeCount, isReverse) = (.nothing, 0, false)
    case .keys(let keys): (self.path, rangeCount, isReverse) = (.keys, keys.count, false)
    case .rows(let ranges, let isReverse):
      (self.path, rangeCount, self.isReverse) = (narrowing.isEmpty ? .scan : .keyRange, ranges.count, isReverse)
    case .index(let scan):
      (self.path, rangeCount, isReverse) = (.index, scan.ranges.count, scan.isReverse)
      index = scan.index.name
    }
    sortColumns = physical.sort.map { table.name(of: $0.column) }
    if !physical.sort.isEmpty, let limit = physical.limit {
      sortedRowsMax = limit.addingReportingOverflow(plan.offset).partialValue
    }
    filter = plan.filters.isEmpty ? nil : (plan.filters.count == 1 ? plan.filters[0] : .and(plan.filters)).description
    stopsEarly = physical.sort.isEmpty && physical.limit != nil
  }

  /// For people: what is read, what is checked, what is sorted.
  public var description: String {
    let reads =
      switch path {
      case .nothing: "nothing: no row can be found"
      case .keys: "\(rangeCount) \(rangeCount == 1 ? "row" : "rows") of \(table) by key"
      case .keyRange: "\(table) by key (\(narrowingColumns.joined(separator: ", "))), \(ranges)"
      case .index:
        "\(table) by index \(index ?? "")"
          + (narrowingColumns.isEmpty ? " for its order" : " (\(narrowingColumns.joined(separator: ", "))), \(ranges)")
      case .scan: "every row of \(table)"
      }
    var lines = ["read \(reads)" + (isReverse ? ", backwards" : "")]
    if let filter, path != .nothing { lines.append("check \(filter)") }
    if !sortColumns.isEmpty {
      lines.append(
        "sort by \(sortColumns.joined(separator: ", "))" + (sortedRowsMax.map { ", keeping \($0) rows" } ?? ""))
    }
    if stopsEarly, path != .nothing { lines.append("stop once the answer is decided") }
    return lines.joined(separator: "\n")
  }

  private var ranges: String { rangeCount == 1 ? "1 range" : "\(rangeCount) ranges" }

  /// The same as one JSON object.
  public var json: String {
    var members: [String: Value] = [
      "table": .string(table), "path": .string(path.rawValue),
      "narrowingColumns": .array(narrowingColumns.map { .string($0) }), "rangeCount": .int(Int64(rangeCount)),
      "reverse": .bool(isReverse), "sortColumns": .array(sortColumns.map { .string($0) }),
      "stopsEarly": .bool(stopsEarly),
    ]
    members["index"] = index.map { .string($0) } ?? .null
    members["filter"] = filter.map { .string($0) } ?? .null
    members["sortedRowsMax"] = sortedRowsMax.map { .int(Int64($0)) } ?? .null
    var text: [UInt8] = []
    Value.object(members).appendJSON(to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}
