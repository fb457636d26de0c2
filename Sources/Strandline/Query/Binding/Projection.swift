/// Makes the rows that a query answers out of stored ones.
struct Projection {
  private enum Columns {
    /// Each row's own, by name.
    case all([(name: String, reference: ColumnReference)])
    /// Always these, by name.
    case named([(name: String, reference: ColumnReference)])
  }

  private let columns: Columns
  private let table: BoundTable
  private let stripsNulls: Bool
  /// Names as a csv header has them.
  let header: [String]

  init(_ plan: QueryPlan, _ table: BoundTable) throws(StoreError) {
    self.table = table
    stripsNulls = plan.stripsNulls
    guard let names = plan.columns else {
      columns = .all(plan.showsHiddenColumns ? table.everyColumnByName : table.columnsByName)
      header = table.columnsInOrder.map(\.name)
      return
    }
    var named: [(name: String, reference: ColumnReference)] = []
    var header: [String] = []
    for name in names where !named.contains(where: { UTF8Order.areEqual($0.name, name) }) {
      named.append((name, try table.column(named: name)))
      header.append(name)
    }
    self.header = header
    columns = .named(named.sorted { UTF8Order.compare($0.name, $1.name) < 0 })
  }

  func row(_ cells: inout StoredCells) throws(StoreError) -> Row {
    var answer: [Row.Cell] = []
    switch columns {
    case .all(let columns):
      answer.reserveCapacity(columns.count)
      for (name, reference) in columns {
        guard let value = try cells.cell(of: reference), !(stripsNulls && value.isNull) else { continue }
        answer.append(Row.Cell(name: name, value: value))
      }
    case .named(let named):
      answer.reserveCapacity(named.count)
      for (name, reference) in named {
        let value = try cells.value(of: reference)
        if !(stripsNulls && value.isNull) { answer.append(Row.Cell(name: name, value: value)) }
      }
    }
    return Row(unordered: answer)
  }
}
