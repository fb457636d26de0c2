/// Tells of single rows whether a query finds them, and how it would answer them.
struct AnswerProbe<Table: TableReading> {
  private let table: Table
  private let rowPrefix: KeyPrefix
  private let filter: BoundFilter
  private let projection: Projection
  private let bound: BoundTable

  /// - Throws: as ``TableReading/run(_:limits:)``.
  init(_ table: Table, _ plan: QueryPlan) throws(StoreError) {
    self.table = table
    bound = BoundTable(table.table)
    rowPrefix = KeyPrefix(.row, table: table.table.number)
    filter = try BoundFilter(allOf: plan.filters, columns: bound)
    projection = try Projection(plan, bound)
  }

  /// The row with a primary key as the query answers it; nil if there is none that the filters find. Order, offset and limit say nothing here.
  func row(at key: [UInt8]) throws(StoreError) -> Row? {
    var buffer = ValueBuffer()
    return try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) -> Row? in
      guard try table.find(KeyView(prefix: rowPrefix, bytes: key), into: &buffer) else { return nil }
      var cells = StoredCells(bound)
      try cells.move(key: key, row: buffer.bytes)
      return try filter.truth(of: &cells) == .yes ? try projection.row(&cells) : nil
    }
  }
}
