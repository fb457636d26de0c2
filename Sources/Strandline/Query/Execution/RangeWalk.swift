/// Walks ranges of keys behind one prefix, one after the other.
final class RangeWalk<Table: TableReading> {
  private let table: Table
  private let prefix: KeyPrefix
  private let isReverse: Bool
  private var ranges: ArraySlice<ByteRange>
  private var current: ByteRange?
  private var cursor: Table.Cursor?

  init(_ table: Table, _ prefix: KeyPrefix, _ ranges: [ByteRange], isReverse: Bool) {
    self.table = table
    self.prefix = prefix
    self.isReverse = isReverse
    self.ranges = ranges[...]
  }

  /// Valid until the next call.
  func next() throws(StoreError) -> VersionView? {
    while true {
      if let version = try cursor?.next() { return version }
      guard let range = ranges.popFirst() else { return nil }
      try open(range)
    }
  }

  /// Goes on, backwards, in front of these bytes.
  func leave(to bytes: [UInt8]) throws(StoreError) {
    guard var range = current else { return }
    range.upper = bytes
    try open(range)
  }

  private func open(_ range: ByteRange) throws(StoreError) {
    current = range
    cursor = range.isEmpty ? nil : try table.cursor(over: range.keyRange(in: prefix), reverse: isReverse)
  }
}
