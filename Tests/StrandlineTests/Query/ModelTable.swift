@testable import Strandline

/// A table in a sorted array: what the engine gives to queries, and beside it the rows as they went in.
///
/// Safe to hand to several threads: nothing changes once it is made.
final class ModelTable: TableReading, @unchecked Sendable {
  let table: TableDefinition
  /// As they went in, in the order of their encoded keys.
  private(set) var rows: [(key: [UInt8], cells: [String: Value])] = []
  /// Reading the row at one of these keys fails.
  var unreadableKeys: Set<[UInt8]> = []
  private var entries: [(key: StoreKey, value: [UInt8])] = []
  private(set) var rowsRead = 0

  init(_ table: TableDefinition, _ rows: [(key: [Value], cells: [UInt16: Value])]) throws {
    self.table = table
    var taken: Set<[UInt8]> = []
    for row in rows {
      guard let stored = try? Self.stored(row, in: table), taken.insert(stored.key).inserted else { continue }
      let key = stored.key
      entries.append((StoreKey(KeyPrefix(.row, table: table.number), key), stored.value))
      for entry in stored.entries { entries.append((StoreKey(KeyPrefix(.index, table: table.number), entry), [])) }
      var cells: [String: Value] = [:]
      for (place, column) in table.key.enumerated() { cells[column.name] = row.key[place] }
      for column in table.columns where !column.isDropped && cells[column.name] == nil {
        cells[column.name] = row.cells[column.number]
      }
      self.rows.append((key, cells))
    }
    entries.sort { $0.key < $1.key }
    self.rows.sort { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// A row's key, value and index entries as the engine stores them; throws where the key of one is too long.
  private static func stored(
    _ row: (key: [Value], cells: [UInt16: Value]), in table: TableDefinition
  ) throws(StoreError) -> (key: [UInt8], value: [UInt8], entries: [[UInt8]]) {
    var key: [UInt8] = []
    try KeyEncoding.encode(row.key, as: table.key, table: table.name, into: &key)
    var value: [UInt8] = []
    try RowEncoding.encode(row.cells.sorted { $0.key < $1.key }.map { (column: $0.key, value: $0.value) }, into: &value)
    var cells = row.cells
    for (place, column) in table.key.enumerated() {
      for twin in table.columns where twin.name == column.name { cells[twin.number] = row.key[place] }
    }
    var entries: [[UInt8]] = []
    for index in table.indexes where index.state == .ready {
      var bytes: [UInt8] = []
      try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) in
        try IndexEncoding.appendEntry(
          index: index.number, values: index.columns.map { cells[$0] ?? .null }, primaryKey: key,
          isFixedWidth: KeyEncoding.isFixedWidth(table.key), to: &bytes)
      }
      entries.append(bytes)
    }
    return (key, value, entries)
  }

  /// The first entry at or behind the key.
  private func place(of key: StoreKey) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  fileprivate func read(_ place: Int) throws(StoreError) -> (key: StoreKey, value: [UInt8]) {
    let entry = entries[place]
    if entry.key.prefix.familyNumber == Family.row.rawValue {
      rowsRead += 1
      if unreadableKeys.contains(entry.key.bytes) { throw .undecodable(what: "row", reason: "it was made so") }
    }
    return entry
  }

  func find(_ key: KeyView, into buffer: inout ValueBuffer) throws(StoreError) -> Bool {
    let key = StoreKey(copying: key)
    let place = place(of: key)
    guard place < entries.count, entries[place].key == key else { return false }
    let value = try read(place).value
    value.withUnsafeBytes { buffer.set($0) }
    return true
  }

  func cursor(over range: KeyRange, reverse: Bool) throws(StoreError) -> ModelCursor {
    ModelCursor(
      self, place(of: range.lower)..<max(place(of: range.lower), range.upper.map(place(of:)) ?? entries.count), reverse)
  }
}

final class ModelCursor: TableCursor {
  private let table: ModelTable
  private var rest: Range<Int>
  private let isReverse: Bool
  private var key = ValueBuffer()
  private var value = ValueBuffer()

  init(_ table: ModelTable, _ range: Range<Int>, _ isReverse: Bool) {
    self.table = table
    rest = range
    self.isReverse = isReverse
  }

  func next() throws(StoreError) -> VersionView? {
    guard let place = isReverse ? rest.popLast() : rest.popFirst() else { return nil }
    let entry = try table.read(place)
    entry.key.bytes.withUnsafeBytes { key.set($0) }
    entry.value.withUnsafeBytes { value.set($0) }
    return VersionView(key: KeyView(prefix: entry.key.prefix, bytes: key.bytes), sequence: 1, value: value.bytes)
  }
}

extension ModelTable: QuerySource {
  func rows(of table: String, for plan: QueryPlan) throws(StoreError) -> QueryRows {
    guard table == self.table.name else { throw .unknownTable(table) }
    return try run(plan)
  }

  func explain(_ plan: QueryPlan, over table: String) throws(StoreError) -> QueryExplanation {
    guard table == self.table.name else { throw .unknownTable(table) }
    return try explain(plan)
  }
}

/// Answers by looking at every row.
extension ModelTable {
  func modelRows(_ plan: QueryPlan) throws(StoreError) -> (rows: [Row], count: Int?) {
    var types: [String: ColumnType] = [:]
    for column in table.key { types[column.name] = column.type.columnType }
    for column in table.columns where !column.isDropped { types[column.name] = column.type }
    let filter = ModelFilter(types: types)
    let found = rows.filter { filter.answer(.and(plan.filters), $0.cells) == true }
    let ordered = found.enumerated().sorted { one, other in
      for order in plan.orders {
        let left = one.element.cells[order.column] ?? .null
        let right = other.element.cells[order.column] ?? .null
        let nullsFirst = order.nulls.map { $0 == .first } ?? !order.isAscending
        if left == .null || right == .null {
          if left == .null, right == .null { continue }
          return (left == .null) == nullsFirst
        }
        let result = ModelFilter.total(left, right)
        if result != 0 { return order.isAscending ? result < 0 : result > 0 }
      }
      return one.offset < other.offset
    }
    var answer = Array(ordered.map(\.element.cells).dropFirst(plan.offset))
    if let limit = plan.limit { answer = Array(answer.prefix(limit)) }
    switch plan.cardinality {
    case .many: break
    case .single: if answer.count != 1 { throw .cardinality(expected: "exactly 1", found: min(answer.count, 2)) }
    case .maybeSingle: if answer.count > 1 { throw .cardinality(expected: "at most 1", found: 2) }
    }
    let shaped = answer.map { cells in
      var shaped = cells
      if let columns = plan.columns {
        shaped = [:]
        for column in columns { shaped[column] = cells[column] ?? .null }
      }
      return Row(plan.stripsNulls ? shaped.filter { $0.value != .null } : shaped)
    }
    return (plan.isHead ? [] : shaped, plan.isCounted ? found.count : nil)
  }
}
