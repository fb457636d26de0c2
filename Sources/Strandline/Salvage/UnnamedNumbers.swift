/// Numbers of tables, columns and indexes that facts of a store use and no definition has: damage took the definition and left the facts.
///
/// Gathered version by version, those that are older than the state as well: whoever reads the past looks the numbers up, too.
struct UnnamedNumbers {
  struct InTable {
    /// Rows that are there now.
    var rowCount = 0
    /// Cells of such rows by column; none where only older versions have the column.
    var cellCounts: [UInt16: Int] = [:]
    var indexes: Set<UInt16> = []
  }

  /// Indexes that one table has ever had: no definition gives a number behind them.
  static let indexCountMax = 1024

  private let tables: Tables
  private(set) var byTable: [UInt16: InTable] = [:]
  /// The key of the row version that came last, and its prefix.
  private var lastKey: [UInt8] = []
  private var lastPrefix: KeyPrefix?

  /// - Parameter tables: the definitions that are there.
  init(knowing tables: Tables) { self.tables = tables }

  /// Of all versions of rows and index entries in `stack`.
  init(in stack: LayerStack, knowing tables: Tables) throws(StoreError) {
    self.init(knowing: tables)
    let cursor = MergedCursor(stack.cursors(usesCache: false))
    for family in [Family.row, .index] {
      try StoreKey(KeyPrefix(family)).withView { (key) throws(StoreError) in try cursor.seek(to: key) }
      while let version = cursor.current, version.key.prefix.familyNumber == family.rawValue {
        take(version)
        try cursor.advance()
      }
    }
  }

  /// Versions come in order, those of one key the newest first.
  private mutating func take(_ version: VersionView) {
    let number = version.key.prefix.table
    let definition = tables.numbered(number)?.definition
    // Nobody gives numbers to what belongs to a dropped table.
    if definition?.isDropped == true { return }
    if version.key.prefix.familyNumber == Family.index.rawValue {
      guard version.key.bytes.count >= 2 else { return }
      let index = UInt16(version.key.bytes[0]) << 8 | UInt16(version.key.bytes[1])
      guard index >= definition?.indexes.count ?? 0, index < Self.indexCountMax else { return }
      byTable[number, default: InTable()].indexes.insert(index)
      return
    }
    let row = version.value.flatMap { try? StoredRow($0) }
    let columnCount = definition?.columns.count ?? 0
    // Ascending: the last one tells whether there is any.
    let hasUnnamed = row.map { $0.columnCount > 0 && $0.column(at: $0.columnCount - 1) >= columnCount } ?? false
    let isNewest =
      lastPrefix != version.key.prefix || lastKey.withUnsafeBytes { KeyView.compare($0, version.key.bytes) } != 0
    if isNewest {
      lastPrefix = version.key.prefix
      lastKey.removeAll(keepingCapacity: true)
      lastKey.append(contentsOf: version.key.bytes)
    }
    guard definition == nil || hasUnnamed else { return }
    let count = isNewest && version.value != nil ? 1 : 0
    var found = byTable[number] ?? InTable()
    found.rowCount += count
    if let row {
      for index in 0..<row.columnCount {
        let column = row.column(at: index)
        guard column >= columnCount, column < StoreLimits.columnCountMax else { continue }
        found.cellCounts[column, default: 0] += count
      }
    }
    byTable[number] = found
  }
}
