internal import CReference
internal import StrandlineLog

/// What the recovery bench builds of a replay: every row decompressed in memory, under its key. The same as the C
/// reference.
final class HeldRows {
  private var table: KeyTable
  private var memory: [DecodedBytes] = []
  private var entries: UnsafeMutableBufferPointer<KeyTable.Slot>

  init(expecting rowCount: Int) {
    table = KeyTable(expecting: rowCount)
    entries = .allocate(capacity: 64 << 10)
  }

  deinit { entries.deallocate() }

  var count: Int { table.count }

  /// Keeps the memory of `batch` and puts its rows into the table.
  ///
  /// HOT PATH: once per row on recovery. Evidence: Docs/Benchmarks.md, "recovery.1M.1thread".
  func take(_ batch: inout ReplayBatch) {
    let entries = entries
    var count = 0
    for frame in batch.frames {
      if frame.kind == .reset {
        count = 0
        table.removeAll()
        memory.removeAll()
      }
      let records = batch.records(of: frame)
      guard let base = records.bytes.baseAddress else { continue }
      var offset = 0
      for _ in 0..<records.count {
        if count == entries.count {
          table.insert(UnsafeBufferPointer(entries))
          count = 0
        }
        let place = UInt64(UInt(bitPattern: base + offset))
        guard let length = Varint.read(records.bytes, at: &offset) else { break }
        let key = base + offset + RowGenerator.keyOffset
        entries[count] = KeyTable.Slot(
          key: (key.loadUnaligned(as: UInt64.self), key.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
          place: place)
        count &+= 1
        offset &+= Int(truncatingIfNeeded: length)
      }
    }
    table.insert(UnsafeBufferPointer(rebasing: entries[..<count]))
    memory.append(batch.takeBytes())
  }

  /// The sum of XXH3 over all rows.
  var stateHash: UInt64 {
    var sum: UInt64 = 0
    table.forEachPlace { place in
      let start = UnsafeRawPointer(bitPattern: UInt(place))
      let bytes = UnsafeRawBufferPointer(start: start, count: RowGenerator.rowByteCountMax)
      var offset = 0
      guard let start, let length = Varint.read(bytes, at: &offset) else { return }
      sum &+= reference_xxh3(start + offset, Int(length))
    }
    return sum
  }
}
