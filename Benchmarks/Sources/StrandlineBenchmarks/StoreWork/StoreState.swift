internal import CReference

/// What a store holds, as a number: equal for all engines that hold the same.
struct StoreState: Equatable {
  var rowCount = 0
  /// The sum of XXH3 over whole rows: equal to the logs' for the same rows.
  var rowSum: UInt64 = 0
  var outboxCount = 0
  var outboxSum: UInt64 = 0

  /// Reads everything. Not timed.
  init(_ engine: any StoreEngine) throws {
    let reader = try engine.reader()
    let row = UnsafeMutableRawPointer.allocate(byteCount: RowGenerator.scratchByteCount, alignment: 8)
    defer { row.deallocate() }
    var counted = (rows: 0, sum: UInt64(0), changes: 0, changeSum: UInt64(0))
    try reader.scan(from: nil) { key, value in
      row.copyMemory(from: key, byteCount: RowBytes.keyByteCount)
      (row + RowBytes.keyByteCount).copyMemory(from: value.baseAddress!, byteCount: value.count)
      counted.sum &+= reference_xxh3(row, RowBytes.keyByteCount + value.count)
      counted.rows += 1
      return true
    }
    try reader.scanOutbox { sequence, change in
      counted.changeSum &+= SplitMix64.mix(sequence &+ reference_xxh3(change.baseAddress, change.count))
      counted.changes += 1
    }
    try reader.close()
    (rowCount, rowSum, outboxCount, outboxSum) = counted
  }

  var hash: UInt64 { outboxCount == 0 ? rowSum : SplitMix64.mix(rowSum) &+ outboxSum }
}

/// XXH3 of values one after another: the order counts.
struct ValueHash {
  private(set) var hash: UInt64 = 0
  private(set) var count = 0

  @inline(__always)
  mutating func add(_ value: UnsafeRawPointer?, _ byteCount: Int) {
    hash = hash &* 0x9E37_79B9_7F4A_7C15 &+ reference_xxh3(value, byteCount)
    count &+= 1
  }
}
