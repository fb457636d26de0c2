internal import CReference

/// `open.loadAll`: from the call until every row lies in memory under its key.
struct OpenLoadAll: StoreWork {
  var writesAtRandom: Bool { false }

  func prepare(_ stage: EngineStage) throws { _ = try stage.compacted() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.compacted()
    try warmCache(under: path)
    let begun = monotonicNanoseconds()
    let engine = try stage.open(path)
    let reader = try engine.reader()
    let rows = CopiedRows(expecting: stage.rowCount)
    try reader.scan(from: nil) { key, value in
      rows.add(key, value)
      return true
    }
    rows.flush()
    let seconds = seconds(since: begun)
    var sample = Sample(rows: rows.count, seconds: seconds, resultHash: rows.stateHash)
    sample.addPeakResident()
    try reader.close()
    try engine.close()
    return sample
  }
}

/// Rows copied one after another, and a table of their places.
private final class CopiedRows {
  private static let batchCount = 1024

  private var table: KeyTable
  private let memory: UnsafeMutableRawPointer
  private let memoryByteCount: Int
  private var end = 8
  private let batch = UnsafeMutableBufferPointer<KeyTable.Slot>.allocate(capacity: CopiedRows.batchCount)
  private var batched = 0

  init(expecting rowCount: Int) {
    table = KeyTable(expecting: rowCount)
    // Untouched memory costs nothing: 256 bytes a row are more than enough.
    memoryByteCount = rowCount * 256 + (64 << 10)
    memory = reference_map(memoryByteCount)
  }

  deinit {
    reference_unmap(memory, memoryByteCount)
    batch.deallocate()
  }

  var count: Int { table.count }

  /// HOT PATH: once per row. A place holds the value's length, the key, the value.
  @inline(__always)
  func add(_ key: UnsafeRawPointer, _ value: UnsafeRawBufferPointer) {
    let place = memory + end
    place.storeBytes(of: UInt16(value.count), as: UInt16.self)
    (place + 2).copyMemory(from: key, byteCount: RowBytes.keyByteCount)
    (place + 2 + RowBytes.keyByteCount).copyMemory(from: value.baseAddress!, byteCount: value.count)
    end += 2 + RowBytes.keyByteCount + value.count
    precondition(end <= memoryByteCount, "more rows than were expected")
    let identifier = key + RowGenerator.keyOffset
    batch[batched] = KeyTable.Slot(
      key: (identifier.loadUnaligned(as: UInt64.self), (identifier + 8).loadUnaligned(as: UInt64.self)),
      place: UInt64(UInt(bitPattern: place)))
    batched += 1
    if batched == Self.batchCount { flush() }
  }

  func flush() {
    table.insert(UnsafeBufferPointer(rebasing: batch[..<batched]))
    batched = 0
  }

  /// The sum of XXH3 over all rows.
  var stateHash: UInt64 {
    var sum: UInt64 = 0
    table.forEachPlace { place in
      guard let row = UnsafeRawPointer(bitPattern: UInt(place)) else { return }
      sum &+= reference_xxh3(row + 2, RowBytes.keyByteCount + Int(row.loadUnaligned(as: UInt16.self)))
    }
    return sum
  }
}
