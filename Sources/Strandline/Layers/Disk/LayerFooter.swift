@_spi(Engine) internal import StrandlineLog

/// The last bytes of a layer file: where its sections are, and what they hold. Its tag is what META knows of the file.
struct LayerFooter: Hashable {
  /// Bytes of the file and the tag that proves them.
  struct Section: Hashable {
    var offset = 0
    var byteCount = 0
    var tag: UInt64 = 0

    var end: Int { offset + byteCount }
  }

  var id: UInt64
  var level: UInt8
  var firstSequence: SequenceNumber
  var lastSequence: SequenceNumber
  /// The merge that made the layer kept every version above it.
  var horizon: UInt64
  /// Of the hash that fills the filter.
  var keySeed: UInt64
  var versionCount = 0
  var deleteCount = 0
  var keyCount = 0
  /// Keys, with three bytes for each prefix, and values.
  var rawByteCount = 0
  /// Bytes of a block before compression, at most; a row that is larger has a block of its own.
  var blockByteCount = 0
  var blockCount = 0
  var runCount = 0
  /// 32-bit words of the index: top-bits tables and places of separators.
  var wordCount = 0
  var separatorByteCount = 0
  var filterLineCount = 0
  var timeCount = 0
  /// Where the last block ends.
  var blocksEnd = 0
  /// The filter's tags lie in the index, one for each partition.
  var filterOffset = 0
  var index = Section()
  var dictionary = Section()
  var times = Section()

  var filterByteCount: Int { filterLineCount * KeyFilter.lineByteCount }
  var filterPartitionCount: Int {
    (filterByteCount + LayerFormat.filterPartitionByteCount - 1) / LayerFormat.filterPartitionByteCount
  }

  static let encodedByteCount = 256

  // Little-endian.
  //
  //   0 magic 8 | 8 major 2 | 10 minor 2 | 12 zero 4 | 16 id | 24 first sequence | 32 last sequence | 40 horizon | 48 key seed
  //  56 versions | 64 deletes | 72 keys | 80 raw bytes | 88 level 8 | 96 block bytes 4 | 100 blocks 4 | 104 runs 4 | 108 words 4
  // 112 separator bytes | 120 filter lines | 128 times | 136 end of blocks | 144 filter
  // 152 index, 176 dictionary, 200 times: each offset, bytes, tag | 224 zero 24 | 248 tag of 0 ..< 248, seed = salt XOR offset
  static let magic: UInt64 = 0x0A1A_0A0D_464C_5389  // 89 "SLF" 0D 0A 1A 0A

  /// The footer's bytes for its place in the file, and its tag.
  func encoded(salt: UInt64, at offset: Int) -> (bytes: [UInt8], tag: UInt64) {
    var block = [UInt8](repeating: 0, count: Self.encodedByteCount)
    let tag = block.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, at: 0)
      bytes.put(LayerFormat.major, at: 8)
      bytes.put(LayerFormat.minor, at: 10)
      let numbers: [UInt64] =
        [id, firstSequence.rawValue, lastSequence.rawValue, horizon, keySeed]
        + [versionCount, deleteCount, keyCount, rawByteCount, Int(level)].map { UInt64($0) }
      for (place, number) in numbers.enumerated() { bytes.put(number, at: 16 + place * 8) }
      for (place, number) in [blockByteCount, blockCount, runCount, wordCount].enumerated() {
        bytes.put(UInt32(number), at: 96 + place * 4)
      }
      let places = [separatorByteCount, filterLineCount, timeCount, blocksEnd, filterOffset]
      for (place, number) in places.enumerated() { bytes.put(UInt64(number), at: 112 + place * 8) }
      for (place, section) in [index, dictionary, times].enumerated() {
        bytes.put(UInt64(section.offset), at: 152 + place * 24)
        bytes.put(UInt64(section.byteCount), at: 160 + place * 24)
        bytes.put(section.tag, at: 168 + place * 24)
      }
      let tag = LayerFormat.tag(UnsafeRawBufferPointer(rebasing: bytes[0..<248]), salt: salt, at: offset)
      bytes.put(tag, at: 248)
      return tag
    }
    return (block, tag)
  }

  /// Decodes the footer that stands at `offset` of a file with `salt`, and proves that its sections lie in order in front of it.
  init(decoding bytes: UnsafeRawBufferPointer, salt: UInt64, at offset: Int) throws(LayerDefect) {
    guard bytes.count >= Self.encodedByteCount else { throw .cutShort(missing: Self.encodedByteCount - bytes.count) }
    let computed = LayerFormat.tag(bytes.slice(0, 248), salt: salt, at: offset)
    guard bytes.u64(248) == computed else { throw .wrongTag(stored: bytes.u64(248), computed: computed) }
    guard bytes.u64(0) == Self.magic else { throw .notALayer }
    guard bytes.u16(8) == LayerFormat.major else { throw .unsupportedMajor(bytes.u16(8)) }
    guard bytes.u32(12) == 0, bytes.slice(224, 24).isAllZero, bytes.u64(88) <= 0xFF else {
      throw .outOfRange("zero bytes")
    }
    id = bytes.u64(16)
    firstSequence = SequenceNumber(bytes.u64(24))
    lastSequence = SequenceNumber(bytes.u64(32))
    horizon = bytes.u64(40)
    keySeed = bytes.u64(48)
    versionCount = try Self.number(bytes, 56)
    deleteCount = try Self.number(bytes, 64)
    keyCount = try Self.number(bytes, 72)
    rawByteCount = try Self.number(bytes, 80)
    level = bytes.u8(88)
    blockByteCount = Int(bytes.u32(96))
    blockCount = Int(bytes.u32(100))
    runCount = Int(bytes.u32(104))
    wordCount = Int(bytes.u32(108))
    separatorByteCount = try Self.number(bytes, 112)
    filterLineCount = try Self.number(bytes, 120)
    timeCount = try Self.number(bytes, 128)
    blocksEnd = try Self.number(bytes, 136)
    filterOffset = try Self.number(bytes, 144)
    index = try Self.section(bytes, 152)
    dictionary = try Self.section(bytes, 176)
    times = try Self.section(bytes, 200)
    try checkPlaces(footerOffset: offset)
  }

  init(
    id: UInt64, level: UInt8, firstSequence: SequenceNumber, lastSequence: SequenceNumber, horizon: UInt64,
    keySeed: UInt64
  ) {
    self.id = id
    self.level = level
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.horizon = horizon
    self.keySeed = keySeed
  }

  /// No number in a footer is as large as this: sums and small multiples of two of them cannot overflow.
  private static let numberMax: UInt64 = 1 << 48

  private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(LayerDefect) -> Int {
    let value = bytes.u64(offset)
    guard value < numberMax else { throw .outOfRange("the footer's number at \(offset)") }
    return Int(value)
  }

  private static func section(_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(LayerDefect) -> Section {
    Section(offset: try number(bytes, offset), byteCount: try number(bytes, offset + 8), tag: bytes.u64(offset + 16))
  }

  /// Blocks, filter, index, dictionary, times, footer: in this order, none over another.
  private func checkPlaces(footerOffset: Int) throws(LayerDefect) {
    let places = [
      LayerFormat.headerBlockByteCount, blocksEnd, filterOffset, filterOffset + filterByteCount, index.offset,
      index.end,
      dictionary.offset, dictionary.end, times.offset, times.end, footerOffset,
    ]
    for (place, next) in zip(places, places.dropFirst()) where place > next { throw .outOfRange("a section's place") }
    guard index.offset % 64 == 0, times.end == footerOffset, timeCount * 16 == times.byteCount,
      dictionary.byteCount <= LayerFormat.dictionaryByteCountMax,
      blockByteCount == LayerFormat.smallBlockByteCount || blockByteCount == LayerFormat.largeBlockByteCount,
      LayerIndex.byteCount(of: self) == index.byteCount, deleteCount <= versionCount, keyCount <= versionCount,
      blockCount <= versionCount, runCount <= blockCount, (runCount == 0) == (versionCount == 0),
      (filterLineCount == 0) == (keyCount == 0), blockCount < Int(UInt32.max >> 1)
    else { throw .outOfRange("a section's size") }
  }
}
