/// A query being run over one table: gives the rows of its answer one by one.
final class QueryExecution<Table: TableReading> {
  private let plan: PhysicalPlan
  private let projection: Projection
  private let limits: QueryLimits
  private let candidates: CandidateCursor<Table>
  private var cells: StoredCells
  private var skippedCount = 0
  private var givenCount = 0
  /// Once everything was read and sorted, the next of these.
  private var sorted: ArraySlice<RowSorter.Item>?
  private var keyBuffer = ValueBuffer(capacity: 64)
  private var rowBuffer = ValueBuffer()

  init(_ table: Table, _ bound: BoundTable, _ plan: PhysicalPlan, _ projection: Projection, _ limits: QueryLimits) {
    self.plan = plan
    self.projection = projection
    self.limits = limits
    candidates = CandidateCursor(table, plan.path, limits)
    cells = StoredCells(bound)
  }

  func next() throws(StoreError) -> Row? {
    guard try moveToNext() else { return nil }
    return try projection.row(&cells)
  }

  /// As ``next()``, with the row's primary key as it is stored.
  func nextWithKey() throws(StoreError) -> (key: [UInt8], row: Row)? {
    guard try moveToNext() else { return nil }
    return (Array(cells.key), try projection.row(&cells))
  }

  private func moveToNext() throws(StoreError) -> Bool {
    if let limit = plan.limit, givenCount >= limit { return false }
    guard try plan.sort.isEmpty ? moveToMatch() : moveToSorted() else { return false }
    givenCount += 1
    return true
  }

  /// Rows that the filter finds from here on.
  func count() throws(StoreError) -> Int {
    var count = 0
    while try moveToFound() { count += 1 }
    return count
  }

  /// To the next row that the filter finds.
  private func moveToFound() throws(StoreError) -> Bool {
    while let candidate = try candidates.next() {
      try cells.move(key: candidate.key, row: candidate.row)
      if try plan.filter.truth(of: &cells) == .yes { return true }
    }
    return false
  }

  private func moveToMatch() throws(StoreError) -> Bool {
    while try moveToFound() {
      if skippedCount >= plan.offset { return true }
      skippedCount += 1
    }
    return false
  }

  private func moveToSorted() throws(StoreError) -> Bool {
    if sorted == nil { sorted = try sort().dropFirst(plan.offset) }
    guard let item = sorted?.popFirst() else { return false }
    keyBuffer.copy(item.key)
    if let row = item.row {
      rowBuffer.copy(row)
      try cells.move(key: keyBuffer.bytes, row: rowBuffer.bytes)
    } else {
      let candidate = try candidates.named(keyBuffer.bytes)
      try cells.move(key: candidate.key, row: candidate.row)
    }
    return true
  }

  private func sort() throws(StoreError) -> [RowSorter.Item] {
    let countMax = plan.limit.map { $0.addingReportingOverflow(plan.offset) }
    var sorter = RowSorter(
      plan.sort, countMax: countMax.flatMap { $0.overflow ? nil : $0.partialValue },
      keepsRows: countMax.map { !$0.overflow && $0.partialValue <= limits.sortedRowCountMax } ?? false)
    while try moveToFound() { try sorter.add(&cells) }
    return sorter.sorted()
  }
}

extension ValueBuffer {
  mutating func copy(_ bytes: [UInt8]) { bytes.withUnsafeBytes { set($0) } }
}
