/// Walks an index from its last entry to its first and gives primary keys; those of equal values from the first to the last all the same.
///
/// Entries of equal values are turned round in memory, or, where they are many, walked once more forwards.
final class ReverseTies<Table: TableReading> {
  /// Entries with equal values that are turned round in memory.
  static var turnedCountMax: Int { 256 }

  private let table: Table
  private let prefix: KeyPrefix
  private let walk: RangeWalk<Table>
  private let turnedCountMax: Int
  /// Keys with equal values, the first of them last.
  private var turned: [[UInt8]] = []
  /// Met behind those.
  private var pending: IndexEntry?
  private var forwards: RangeWalk<Table>?

  init(_ table: Table, _ prefix: KeyPrefix, _ scan: IndexScan, turnedCountMax: Int = ReverseTies.turnedCountMax) {
    self.table = table
    self.prefix = prefix
    self.turnedCountMax = turnedCountMax
    walk = RangeWalk(table, prefix, scan.ranges, isReverse: true)
  }

  func next() throws(StoreError) -> [UInt8]? {
    while true {
      if let forwards {
        if let version = try forwards.next() { return try IndexEntry(version.key.bytes).key }
        self.forwards = nil
      }
      if let key = turned.popLast() { return key }
      guard try readTies() else { return nil }
    }
  }

  private func readTies() throws(StoreError) -> Bool {
    if pending == nil, let version = try walk.next() { pending = try IndexEntry(version.key.bytes) }
    guard let first = pending else { return false }
    pending = nil
    turned.append(first.key)
    while let version = try walk.next() {
      let entry = try IndexEntry(version.key.bytes)
      guard entry.values == first.values else {
        pending = entry
        break
      }
      turned.append(entry.key)
      if turned.count > turnedCountMax {
        turned.removeAll()
        let range = ByteRange(beginningWith: first.values)
        forwards = RangeWalk(table, prefix, [range], isReverse: false)
        try walk.leave(to: first.values)
        break
      }
    }
    return true
  }
}
