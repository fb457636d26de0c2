@_spi(Engine) internal import StrandlineLog

/// Gathers what the index says of each block and lays the section out.
struct LayerIndexBuilder {
  private var heads: [UInt64] = []
  private var offsets: [UInt64] = []
  private var runs: [LayerIndex.Run] = []
  private var words: [UInt32] = []
  private var separators: [UInt8] = []
  /// Of the run under way: where each block's separator begins, with the flag.
  private var separatorPlaces: [UInt32] = []

  var blockCount: Int { heads.count }
  var runCount: Int { runs.count }
  var wordCount: Int { words.count }
  var separatorByteCount: Int { separators.count }

  /// Notes the block at `offset`.
  ///
  /// - Parameter last: the last version in front of it, if that has the same prefix.
  mutating func add(
    prefix: KeyPrefix, first: (key: UnsafeRawBufferPointer, sequence: UInt64), after last: [UInt8]?,
    at offset: Int
  ) {
    let head = keyHead(first.key)
    if runs.last?.prefix != prefix {
      endRun()
      runs.append(LayerIndex.Run(prefix: prefix, first: UInt32(heads.count), smallestHead: head))
    }
    var place = UInt32(separators.count)
    if let last, last.withUnsafeBytes({ keyHead($0) }) == head {
      if last.elementsEqual(first.key) {
        place |= LayerIndex.continuationFlag
        separators += first.key
        withUnsafeBytes(of: first.sequence.littleEndian) { separators += $0 }
      } else {
        // The shortest beginning that is behind the last key.
        var length = 0
        while length < last.count, last[length] == first.key[length] { length += 1 }
        separators += first.key[0...length]
      }
    }
    separatorPlaces.append(place)
    heads.append(head)
    offsets.append(UInt64(offset))
  }

  /// Adds versions of the block under way to its run's statistics.
  mutating func count(versions: Int, deletes: Int, byteCount: Int) {
    runs[runs.count - 1].versionCount += UInt64(versions)
    runs[runs.count - 1].deleteCount += UInt64(deletes)
    runs[runs.count - 1].rawByteCount += UInt64(byteCount)
  }

  private mutating func endRun() {
    guard !runs.isEmpty else { return }
    var run = runs.removeLast()
    run.end = UInt32(heads.count)
    addTable(&run)
    if separatorPlaces.contains(where: { Int($0 & ~LayerIndex.continuationFlag) != separators.count })
      || separatorPlaces.contains(where: { $0 & LayerIndex.continuationFlag != 0 })
    {
      run.hasSeparators = true
      run.separatorsAt = UInt32(words.count)
      words += separatorPlaces
      words.append(UInt32(separators.count))
    }
    separatorPlaces = []
    runs.append(run)
  }

  /// About one entry for two blocks: `table[x]` is the first block whose head is at or behind the x-th part of the heads' range.
  private mutating func addTable(_ run: inout LayerIndex.Run) {
    let blocks = Int(run.end - run.first)
    let range = heads[Int(run.end) - 1] - run.smallestHead
    guard blocks > 4, range > 0 else { return }
    let bits = min(Int.bitWidth - (blocks - 1).leadingZeroBitCount - 1, 64 - range.leadingZeroBitCount)
    run.shift = UInt32(max(0, 64 - range.leadingZeroBitCount - bits))
    run.tableAt = UInt32(words.count)
    run.tableCount = UInt32(range >> UInt64(run.shift)) + 1
    var block = Int(run.first)
    for entry in 0..<UInt64(run.tableCount) {
      while block < Int(run.end), (heads[block] - run.smallestHead) >> UInt64(run.shift) < entry { block += 1 }
      words.append(UInt32(block))
    }
    words.append(run.end)
  }

  /// The section's bytes, after the last block.
  ///
  /// - Parameter partitionTags: of the filter.
  mutating func encoded(blocksEnd: Int, partitionTags: [UInt64]) -> [UInt8] {
    endRun()
    let byteCount =
      16 * heads.count + 8 + 8 * partitionTags.count + LayerIndex.Run.encodedByteCount * runs.count + 4 * words.count
      + separators.count
    return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var place = 0
      func put(_ value: some FixedWidthInteger) {
        bytes.baseAddress!.storeBytes(of: value.littleEndian, toByteOffset: place, as: type(of: value))
        place += value.bitWidth / 8
      }
      for head in heads { put(head) }
      for offset in offsets { put(offset) }
      put(UInt64(blocksEnd))
      for tag in partitionTags { put(tag) }
      for run in runs {
        run.encode(
          into: UnsafeMutableRawBufferPointer(rebasing: bytes[place..<place + LayerIndex.Run.encodedByteCount]))
        place += LayerIndex.Run.encodedByteCount
      }
      for word in words { put(word) }
      bytes[place...].copyBytes(from: separators)
      count = byteCount
    }
  }
}
