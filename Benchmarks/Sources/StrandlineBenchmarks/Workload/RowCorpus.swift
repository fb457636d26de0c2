internal import CReference

/// Which rows a corpus holds.
struct CorpusShape: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// The rows of ``RowGenerator``.
    case rows
    /// 32 bytes each: table, key, and 14 bytes more. LZ4 can do nothing with them.
    case smallRecords
  }

  var kind: Kind = .rows
  var range: Range<Int>
}

/// Rows made before the clock starts, one after another in memory.
final class RowCorpus: @unchecked Sendable {
  // Sendable: nothing changes after init.
  let shape: CorpusShape
  var count: Int { shape.range.count }
  private let memory: UnsafeMutableRawPointer
  private let memoryByteCount: Int
  private let offsets: UnsafeMutablePointer<UInt64>

  init(_ shape: CorpusShape, seed: UInt64) {
    self.shape = shape
    let generator = RowGenerator(seed: seed)
    let count = shape.range.count
    memoryByteCount = count * 256 + RowGenerator.scratchByteCount
    memory = reference_map(memoryByteCount)
    offsets = .allocate(capacity: count + 1)
    var offset = 0
    for (place, index) in shape.range.enumerated() {
      offsets[place] = UInt64(offset)
      switch shape.kind {
      case .rows: offset += generator.write(index, to: memory + offset)
      case .smallRecords: offset += generator.writeSmallRecord(index, to: memory + offset)
      }
    }
    offsets[count] = UInt64(offset)
  }

  deinit {
    reference_unmap(memory, memoryByteCount)
    offsets.deallocate()
  }

  var byteCount: Int { Int(offsets[count]) }

  subscript(index: Int) -> UnsafeRawBufferPointer {
    let start = Int(offsets[index])
    return UnsafeRawBufferPointer(start: memory + start, count: Int(offsets[index + 1]) - start)
  }

  /// For C; valid as long as the corpus.
  var rows: reference_rows {
    reference_rows(bytes: memory.assumingMemoryBound(to: UInt8.self), offsets: offsets, count: UInt64(count))
  }

  /// What every subject that stores these rows must hold: the sum of XXH3 over all rows.
  var stateHash: UInt64 {
    (0..<count).reduce(0) { sum, index in sum &+ reference_xxh3(self[index].baseAddress, self[index].count) }
  }
}
