@_spi(Engine) internal import StrandlineLog

/// Which block a key is in: the index section in the form in which it stands in the file.
///
/// Everything that search follows was proved when it was made.
struct LayerIndex: ~Copyable {
  /// The blocks of one family and table.
  struct Run {
    var prefix: KeyPrefix
    /// Blocks `first ..< end`.
    var first: UInt32
    var end: UInt32 = 0
    var hasSeparators = false
    /// Head of the first block.
    var smallestHead: UInt64
    /// Top-bits table: entry of a head = (head − smallest) >> shift.
    var shift: UInt32 = 0
    /// Word where the table begins; 0 entries: there is none. One more entry than the count ends it.
    var tableAt: UInt32 = 0
    var tableCount: UInt32 = 0
    /// Word where the places of the separators begin, one for each block and one more.
    var separatorsAt: UInt32 = 0
    var versionCount: UInt64 = 0
    var deleteCount: UInt64 = 0
    var rawByteCount: UInt64 = 0

    static let encodedByteCount = 64

    init(prefix: KeyPrefix, first: UInt32, smallestHead: UInt64) {
      self.prefix = prefix
      self.first = first
      self.smallestHead = smallestHead
    }

    //  byte 0       4       8     12      16         24      28      32      36           40         48        56          64
    //       +-------+-------+-----+-------+----------+-------+-------+-------+------------+----------+---------+-----------+
    //       | prefix| first | end | flags | smallest | shift | table | count | separators | versions | deletes | raw bytes |
    //       +-------+-------+-----+-------+----------+-------+-------+-------+------------+----------+---------+-----------+
    func encode(into bytes: UnsafeMutableRawBufferPointer) {
      bytes.put(prefix.rawValue, at: 0)
      bytes.put(first, at: 4)
      bytes.put(end, at: 8)
      bytes.put(UInt32(hasSeparators ? 1 : 0), at: 12)
      bytes.put(smallestHead, at: 16)
      bytes.put(shift, at: 24)
      bytes.put(tableAt, at: 28)
      bytes.put(tableCount, at: 32)
      bytes.put(separatorsAt, at: 36)
      bytes.put(versionCount, at: 40)
      bytes.put(deleteCount, at: 48)
      bytes.put(rawByteCount, at: 56)
    }

    init(decoding bytes: UnsafeRawBufferPointer) {
      prefix = KeyPrefix(rawValue: bytes.u32(0))
      first = bytes.u32(4)
      end = bytes.u32(8)
      hasSeparators = bytes.u32(12) == 1
      smallestHead = bytes.u64(16)
      shift = bytes.u32(24)
      tableAt = bytes.u32(28)
      tableCount = bytes.u32(32)
      separatorsAt = bytes.u32(36)
      versionCount = bytes.u64(40)
      deleteCount = bytes.u64(48)
      rawByteCount = bytes.u64(56)
    }
  }

  /// In the place of a separator: the block goes on with the key of the block in front, and the separator ends with a sequence number.
  static let continuationFlag: UInt32 = 1 << 31

  private let memory: RawMemory
  private let heads: UnsafeRawPointer
  private let offsets: UnsafeRawPointer
  private let partitionTags: UnsafeRawPointer
  private let words: UnsafeRawPointer
  private let separators: UnsafeRawPointer
  private let runs: UnsafeMutablePointer<Run>
  let runCount: Int
  let blockCount: Int

  /// How long the section of a layer is, from the counts in its footer.
  static func byteCount(of footer: LayerFooter) -> Int {
    // The counts are below 2^48, and most below 2^32: no overflow.
    16 * footer.blockCount + 8 + 8 * footer.filterPartitionCount + Run.encodedByteCount * footer.runCount
      + 4 * footer.wordCount + footer.separatorByteCount
  }

  /// Takes over memory whose beginning is a section of the length that the footer says, its tag proved.
  init(_ memory: consuming RawMemory, footer: LayerFooter) throws(LayerDefect) {
    let start = UnsafeRawPointer(memory.start)
    self.memory = memory
    blockCount = footer.blockCount
    runCount = footer.runCount
    heads = start
    offsets = heads + 8 * blockCount
    partitionTags = offsets + 8 * (blockCount + 1)
    let runBytes = partitionTags + 8 * footer.filterPartitionCount
    words = runBytes + Run.encodedByteCount * runCount
    separators = words + 4 * footer.wordCount
    runs = .allocate(capacity: max(1, runCount))
    for index in 0..<runCount {
      (runs + index).initialize(
        to: Run(
          decoding: UnsafeRawBufferPointer(
            start: runBytes + Run.encodedByteCount * index, count: Run.encodedByteCount)))
    }
    guard areOffsetsProved(footer) else { throw .outOfRange("a block's place in the index") }
    guard areRunsProved(footer) else { throw .outOfRange("a table in the index") }
  }

  deinit { runs.deallocate() }

  private func areOffsetsProved(_ footer: LayerFooter) -> Bool {
    var lacking = 0
    var place = offset(of: 0)
    guard place == LayerFormat.headerBlockByteCount, offset(of: blockCount) == footer.blocksEnd else { return false }
    for block in 0..<blockCount {
      let next = offset(of: block &+ 1)
      // Negative as soon as a block is too short or too long; places beyond 2^62 cannot come back to the end.
      lacking |= (next &- place &- BlockView.headsOffset) | (LayerFormat.storedBlockByteCountMax &- (next &- place))
      place = next
    }
    return lacking >= 0
  }

  private func areRunsProved(_ footer: LayerFooter) -> Bool {
    var block: UInt32 = 0
    var prefix: UInt32?
    for index in 0..<runCount {
      let run = runs[index]
      guard run.first == block, run.end > run.first, prefix.map({ $0 < run.prefix.rawValue }) ?? true,
        run.prefix.rawValue < 1 << 24, run.shift < 64, Int(run.end) <= blockCount
      else { return false }
      if run.tableCount > 0 {
        guard Int(run.tableAt) + Int(run.tableCount) + 1 <= footer.wordCount else { return false }
        var bad = false
        var previous = run.first
        for entry in 0...Int(run.tableCount) {
          let value = word(Int(run.tableAt) &+ entry)
          bad = bad || value < previous || value > run.end
          previous = value
        }
        guard !bad, previous == run.end else { return false }
      }
      if run.hasSeparators {
        guard Int(run.separatorsAt) + Int(run.end - run.first) + 1 <= footer.wordCount else { return false }
        for entry in 0..<Int(run.end - run.first) {
          let place = word(Int(run.separatorsAt) &+ entry)
          let next = word(Int(run.separatorsAt) &+ entry &+ 1) & ~Self.continuationFlag
          let length = Int(next) &- Int(place & ~Self.continuationFlag)
          guard length >= (place & Self.continuationFlag == 0 ? 0 : 8), Int(next) <= footer.separatorByteCount else {
            return false
          }
        }
      }
      block = run.end
      prefix = run.prefix.rawValue
    }
    return Int(block) == blockCount
  }

  // MARK: Search

  @inline(__always)
  private func word(_ index: Int) -> UInt32 {
    words.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self).littleEndian
  }

  @inline(__always)
  func head(of block: Int) -> UInt64 { heads.loadUnaligned(fromByteOffset: 8 &* block, as: UInt64.self).littleEndian }

  /// Where a block begins in the file; of the block count: where the last one ends.
  @inline(__always)
  func offset(of block: Int) -> Int {
    Int(truncatingIfNeeded: offsets.loadUnaligned(fromByteOffset: 8 &* block, as: UInt64.self).littleEndian)
  }

  func filterTag(of partition: Int) -> UInt64 {
    partitionTags.loadUnaligned(fromByteOffset: 8 &* partition, as: UInt64.self).littleEndian
  }

  func run(_ index: Int) -> Run { runs[index] }

  /// The first run whose prefix is at or behind `prefix`; the run count if there is none.
  @inline(__always)
  func firstRun(from prefix: KeyPrefix) -> Int {
    // Branch-free: which table a key is of is not to be foretold.
    var below = 0
    var length = runCount
    while length > 1 {
      let half = length &>> 1
      below = runs[below &+ half &- 1].prefix < prefix ? below &+ half : below
      length &-= half
    }
    return length == 1 && runs[below].prefix < prefix ? below &+ 1 : below
  }

  /// The blocks of one prefix, as search needs them.
  @inline(__always)
  func blocks(ofRun index: Int) -> Range<Int> {
    Range(uncheckedBounds: (Int(runs[index].first), Int(runs[index].end)))
  }

  @inline(__always)
  func prefix(ofRun index: Int) -> KeyPrefix { runs[index].prefix }

  /// The last block of a run that does not begin behind the version of `key` with this sequence number: if the version is
  /// in the run, or the first one behind its place, then it is in this block or it is the first of the next one.
  /// One less than the run's first block if the whole run is behind it.
  @inline(__always)
  func lastBlock(ofRun index: Int, notBehind key: UnsafeRawBufferPointer, sequence: UInt64) -> Int {
    let run = runs + index
    let head = keyHead(key)
    let smallest = run.pointee.smallestHead
    var low = Int(run.pointee.first)
    var high = Int(run.pointee.end)
    if head < smallest { return low &- 1 }
    let tableCount = run.pointee.tableCount
    if tableCount > 0 {
      let part = (head &- smallest) &>> UInt64(run.pointee.shift)
      if part < UInt64(tableCount) {
        let entry = Int(run.pointee.tableAt) &+ Int(truncatingIfNeeded: part)
        low = Int(word(entry))
        high = Int(word(entry &+ 1))
      } else {
        low = high
      }
    }
    // The first block in low ..< high with a head above ours.
    while low < high {
      let middle = (low &+ high) &>> 1
      if self.head(of: middle) <= head { low = middle &+ 1 } else { high = middle }
    }
    if !run.pointee.hasSeparators || low == Int(run.pointee.first) || self.head(of: low &- 1) != head {
      return low &- 1
    }
    return lastBlockAmongEqual(run.pointee, upTo: low, key, head, sequence)
  }

  /// As above, where blocks up to `end` have the key's head: their separators decide.
  private func lastBlockAmongEqual(
    _ run: Run, upTo end: Int, _ key: UnsafeRawBufferPointer, _ head: UInt64, _ sequence: UInt64
  ) -> Int {
    var low = Int(run.first)
    var high = end
    while low < high {
      let middle = (low + high) / 2
      if self.head(of: middle) < head || beginsNotBehind(run, middle, key, sequence) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low - 1
  }

  private func beginsNotBehind(_ run: Run, _ block: Int, _ key: UnsafeRawBufferPointer, _ sequence: UInt64) -> Bool {
    let separator = separator(run, block)
    // Without one the head decides: all keys in front of the block have a smaller one.
    if separator.bytes.isEmpty, separator.sequence == nil { return true }
    let order = KeyView.compare(separator.bytes, key)
    guard order == 0, let first = separator.sequence else { return order <= 0 }
    return first >= sequence
  }

  private func separator(_ run: Run, _ block: Int) -> (bytes: UnsafeRawBufferPointer, sequence: UInt64?) {
    let entry = Int(run.separatorsAt) + block - Int(run.first)
    let place = word(entry)
    let begin = Int(place & ~Self.continuationFlag)
    let end = Int(word(entry + 1) & ~Self.continuationFlag)
    if place & Self.continuationFlag == 0 {
      return (UnsafeRawBufferPointer(start: separators + begin, count: end - begin), nil)
    }
    let sequence = separators.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self).littleEndian
    return (UnsafeRawBufferPointer(start: separators + begin, count: end - begin - 8), sequence)
  }

  /// Whether a block goes on with versions of `key`, the last key of the block in front.
  func continues(ofRun index: Int, block: Int, key: UnsafeRawBufferPointer) -> Bool {
    guard runs[index].hasSeparators else { return false }
    let separator = separator(runs[index], block)
    return separator.sequence != nil && KeyView.compare(separator.bytes, key) == 0
  }

  /// As above, of a block that may be another prefix's.
  func continues(block: Int, prefix: KeyPrefix, key: UnsafeRawBufferPointer) -> Bool {
    let run = firstRun(from: prefix)
    return run < runCount && blocks(ofRun: run).contains(block) && continues(ofRun: run, block: block, key: key)
  }

  /// Whether the separator of a block, if it has one, fits a first version and the last key in front.
  func separates(
    ofRun index: Int, block: Int, first: (key: UnsafeRawBufferPointer, sequence: UInt64),
    after last: UnsafeRawBufferPointer?
  ) -> Bool {
    let ties = last.map { keyHead($0) == keyHead(first.key) } ?? false
    guard runs[index].hasSeparators else { return !ties }
    let separator = separator(runs[index], block)
    guard let last, ties else { return separator.bytes.isEmpty && separator.sequence == nil }
    if let sequence = separator.sequence {
      return sequence == first.sequence && KeyView.compare(separator.bytes, first.key) == 0
        && KeyView.compare(last, first.key) == 0
    }
    return KeyView.compare(last, separator.bytes) < 0 && KeyView.compare(separator.bytes, first.key) <= 0
  }
}
