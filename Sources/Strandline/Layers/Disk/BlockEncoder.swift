internal import CStrandline
internal import Glibc
@_spi(Engine) internal import StrandlineLog

// HOT PATH: once per version that is written out or merged. Evidence: Docs/Benchmarks.md, "compact.1M".

/// Gathers the versions of one block, then encodes it, and reads what it made before it lets anybody have it.
struct BlockEncoder: ~Copyable {
  private struct Entry {
    var sequence: UInt64
    /// Key, then value.
    var offset: Int
    var valueByteCount: Int
    var keyByteCount: Int
    var isDelete: Bool
  }

  let blockByteCount: Int
  private let dictionaryByteCount: Int
  /// Keys and values as they came, behind each other.
  private var staging: RawMemory
  private var stagedByteCount = 0
  private let entries: UnsafeMutablePointer<Entry>
  private let entryCountMax: Int
  private(set) var count = 0

  private(set) var prefix = KeyPrefix(rawValue: 0)
  private var sharedByteCount = 0
  private var keyByteCountMin = 0
  private var keyByteCountMax = 0
  private var keyByteCounts = 0
  private var valueByteCounts = 0
  private var sequenceMin: UInt64 = 0
  private var sequenceMax: UInt64 = 0

  /// Dictionary, and directly behind it the bodies to compress.
  private var workspace: RawMemory
  private var output: RawMemory
  private let compressor: BlockCompressor
  private let check: BlockScratch

  /// - Parameter dictionary: empty for none; copied.
  init(blockByteCount: Int, dictionary: UnsafeRawBufferPointer, effort: LayerOptions.Effort) {
    self.blockByteCount = blockByteCount
    dictionaryByteCount = dictionary.count
    compressor = BlockCompressor(effort)
    staging = RawMemory(byteCount: blockByteCount * 2)
    entryCountMax = blockByteCount / 8
    entries = .allocate(capacity: entryCountMax)
    workspace = RawMemory(byteCount: dictionary.count + blockByteCount)
    output = RawMemory(byteCount: blockByteCount * 2)
    check = BlockScratch(dictionary: dictionary, blockByteCount: blockByteCount, inputByteCount: 0)
    if dictionary.count > 0 {
      workspace.bytes.copyMemory(from: dictionary)
      compressor.prime(workspace.start, byteCount: dictionary.count)
    }
  }

  deinit { entries.deallocate() }

  var isEmpty: Bool { count == 0 }

  /// The key of the first version gathered. Valid until the next call that changes the encoder.
  var firstKey: UnsafeRawBufferPointer { key(0) }
  var firstSequence: UInt64 { entries[0].sequence }
  /// The key of the last version gathered.
  var lastKey: UnsafeRawBufferPointer { key(count - 1) }
  var lastSequence: UInt64 { entries[count - 1].sequence }

  @inline(__always)
  private func key(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: staging.start + entries[index].offset, count: entries[index].keyByteCount)
  }

  /// Takes one more version, unless it belongs into another block.
  ///
  /// - Returns: false, with nothing changed, if the block must be encoded first.
  @inline(__always)
  mutating func add(_ version: VersionView) -> Bool {
    let keyByteCount = version.key.bytes.count
    let valueByteCount = version.value?.count ?? 0
    if count > 0 {
      guard version.key.prefix == prefix, count < entryCountMax else { return false }
      let shared = min(sharedByteCount, commonByteCount(key(0), version.key.bytes))
      let keyMin = min(keyByteCountMin, keyByteCount)
      let keyMax = max(keyByteCountMax, keyByteCount)
      let low = min(sequenceMin, version.sequence)
      let high = max(sequenceMax, version.sequence)
      let lengths = keyByteCounts &+ keyByteCount
      let rests = keyMin >= shared &+ 8 ? lengths &- (count &+ 1) &* (shared &+ 8) : lengths &- (count &+ 1) &* shared
      let varints = keyMin == keyMax ? 0 : 2 &* (count &+ 1)
      let bits = Self.bits(high &- low)
      let size =
        BlockView.headsOffset &+ 8 &+ shared &+ 10 &* (count &+ 1) &+ (bits &* (count &+ 1) &+ 7) &>> 3 &+ rests
        &+ varints
        &+ valueByteCounts &+ valueByteCount
      guard size <= blockByteCount else { return false }
      sharedByteCount = shared
      keyByteCountMin = keyMin
      keyByteCountMax = keyMax
      sequenceMin = low
      sequenceMax = high
    } else {
      prefix = version.key.prefix
      sharedByteCount = keyByteCount
      keyByteCountMin = keyByteCount
      keyByteCountMax = keyByteCount
      sequenceMin = version.sequence
      sequenceMax = version.sequence
      keyByteCounts = 0
      valueByteCounts = 0
      stagedByteCount = 0
    }
    keyByteCounts &+= keyByteCount
    valueByteCounts &+= valueByteCount
    let needed = stagedByteCount &+ keyByteCount &+ valueByteCount
    if needed > staging.bytes.count { growStaging(needed) }
    let target = staging.start + stagedByteCount
    if keyByteCount > 0 { target.copyMemory(from: version.key.bytes.baseAddress!, byteCount: keyByteCount) }
    if valueByteCount > 0 {
      (target + keyByteCount).copyMemory(from: version.value!.baseAddress!, byteCount: valueByteCount)
    }
    entries[count] = Entry(
      sequence: version.sequence, offset: stagedByteCount, valueByteCount: valueByteCount, keyByteCount: keyByteCount,
      isDelete: version.value == nil)
    stagedByteCount = needed
    count &+= 1
    return true
  }

  private mutating func growStaging(_ byteCount: Int) {
    let larger = RawMemory(byteCount: max(byteCount, staging.bytes.count * 2))
    larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: staging.bytes[0..<stagedByteCount]))
    staging = larger
  }

  /// How many bits numbers up to `range` take as the format packs them.
  @inline(__always)
  private static func bits(_ range: UInt64) -> Int {
    let bits = UInt64.bitWidth &- range.leadingZeroBitCount
    return bits > 56 ? 64 : bits
  }

  @inline(__always)
  private func commonByteCount(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    let length = min(one.count, other.count)
    var place = 0
    while place &+ 8 <= length {
      let difference =
        one.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        ^ other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if difference != 0 { return place &+ UInt64(littleEndian: difference).trailingZeroBitCount &>> 3 }
      place &+= 8
    }
    while place < length, one[place] == other[place] { place &+= 1 }
    return place
  }

  /// Encodes the versions gathered as the block at `offset` of the file, proves it, and begins a new one.
  ///
  /// - Returns: the block, valid until the next call that changes the encoder.
  /// - Throws: what is wrong with the block that was just made: a memory cell or the compressor failed, and what it would have
  ///   written is the only copy soon.
  mutating func encode(salt: UInt64, at offset: Int) throws(LayerDefect) -> UnsafeRawBufferPointer {
    let byteCount = fill(salt: salt, at: offset)
    let block = UnsafeRawBufferPointer(rebasing: output.bytes[0..<byteCount])
    try checkEncoded(block, salt: salt, at: offset)
    count = 0
    return block
  }

  /// Lays the block out in `output`; returns its length.
  private mutating func fill(salt: UInt64, at offset: Int) -> Int {
    let shared = sharedByteCount
    let varies = keyByteCountMin != keyByteCountMax
    let bodiesByteCountMax = keyByteCounts + valueByteCounts + (varies ? 2 * count : 0)
    // A lone row may be longer than ends of 15 bits or a block can tell.
    let isWide = count == 1 && bodiesByteCountMax > blockByteCount
    reserve(bodiesByteCountMax)

    let keys = output.bytes
    let bits = Self.bits(sequenceMax &- sequenceMin)
    let baseByteCount = (71 - sequenceMin.leadingZeroBitCount) / 8
    var flags: UInt8 = isWide ? BlockView.wideFlag : 0
    keys.put(UInt16(count), at: 16)
    keys.put(UInt16(shared), at: 18)
    keys.put(UInt16(varies ? BlockView.varyingLength : keyByteCountMin), at: 20)
    keys.put(UInt8(bits), at: 22)
    keys.put(UInt8(baseByteCount), at: 23)
    let endsOffset = BlockView.headsOffset + 8 * count
    let sequencesOffset = endsOffset + (isWide ? 4 : 2) * count
    let baseOffset = sequencesOffset + (count * bits + 7) / 8
    (output.start + sequencesOffset).initializeMemory(
      as: UInt8.self, repeating: 0, count: baseOffset - sequencesOffset + 8)

    let bodies = workspace.start + dictionaryByteCount
    var end = 0
    for index in 0..<count {
      let entry = entries[index]
      let key = staging.start + entry.offset
      keys.put(
        keyHead(UnsafeRawBufferPointer(start: key, count: entry.keyByteCount), from: shared),
        at: BlockView.headsOffset &+ 8 &* index)
      if varies {
        end &+= Varint.write(UInt64(truncatingIfNeeded: entry.keyByteCount &- shared), to: bodies + end)
      }
      // Behind the head all of it is one piece: the rest of the key and the value.
      let skipped = min(entry.keyByteCount, shared &+ 8)
      let length = entry.keyByteCount &+ entry.valueByteCount &- skipped
      (bodies + end).copyMemory(from: key + skipped, byteCount: length)
      end &+= length
      if isWide {
        keys.put(UInt32(truncatingIfNeeded: end) | (entry.isDelete ? 1 << 31 : 0), at: endsOffset &+ 4 &* index)
      } else {
        keys.put(UInt16(truncatingIfNeeded: end) | (entry.isDelete ? 1 << 15 : 0), at: endsOffset &+ 2 &* index)
      }
      putSequence(entry.sequence &- sequenceMin, bits: bits, index, at: sequencesOffset)
    }
    var base = sequenceMin
    for place in 0..<baseByteCount {
      keys.put(UInt8(truncatingIfNeeded: base), at: baseOffset + place)
      base >>= 8
    }
    let sharedOffset = baseOffset + baseByteCount
    if shared > 0 {
      (output.start + sharedOffset).copyMemory(from: staging.start + entries[0].offset, byteCount: shared)
    }
    let keysEnd = sharedOffset + shared

    var storedBodies = compress(end, to: output.start + keysEnd, isWide: isWide)
    if storedBodies > 0 {
      flags |= BlockView.compressedFlag
      if !isWide, dictionaryByteCount > 0 { flags |= BlockView.dictionaryFlag }
    } else {
      storedBodies = end
      (output.start + keysEnd).copyMemory(from: bodies, byteCount: end)
    }
    keys.put(prefix.rawValue | UInt32(flags) << 24, at: 8)
    keys.put(UInt32(storedBodies), at: 12)
    let byteCount = keysEnd + storedBodies
    keys.put(LayerFormat.tag(UnsafeRawBufferPointer(rebasing: keys[8..<byteCount]), salt: salt, at: offset), at: 0)
    return byteCount
  }

  @inline(__always)
  private func putSequence(_ value: UInt64, bits: Int, _ index: Int, at offset: Int) {
    if bits == 0 { return }
    if bits == 64 {
      output.bytes.put(value, at: offset &+ 8 &* index)
      return
    }
    let bit = index &* bits
    let place = output.start + (offset &+ bit &>> 3)
    let word = place.loadUnaligned(as: UInt64.self).littleEndian | value &<< UInt64(truncatingIfNeeded: bit & 7)
    place.storeBytes(of: word.littleEndian, as: UInt64.self)
  }

  private mutating func reserve(_ bodiesByteCount: Int) {
    if dictionaryByteCount + bodiesByteCount > workspace.bytes.count {
      let larger = RawMemory(byteCount: dictionaryByteCount + bodiesByteCount)
      larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: workspace.bytes[0..<dictionaryByteCount]))
      workspace = larger
      if dictionaryByteCount > 0 { compressor.prime(workspace.start, byteCount: dictionaryByteCount) }
    }
    let keysByteCountMax = BlockView.headsOffset + 20 * count + 16 + sharedByteCount
    let needed = keysByteCountMax + max(bodiesByteCount, BlockCompressor.room(for: bodiesByteCount))
    if needed > output.bytes.count { output = RawMemory(byteCount: needed) }
  }

  /// Compresses the bodies; 0 if that does not make them smaller.
  private func compress(_ byteCount: Int, to target: UnsafeMutableRawPointer, isWide: Bool) -> Int {
    guard byteCount > 0 else { return 0 }
    let made = compressor.compress(
      workspace.start + dictionaryByteCount, byteCount: byteCount, to: target,
      usesDictionary: dictionaryByteCount > 0 && !isWide)
    return made > 0 && made < byteCount ? made : 0
  }

  /// Reads the block as a reader will and compares every version with what was gathered.
  private func checkEncoded(_ block: UnsafeRawBufferPointer, salt: UInt64, at offset: Int) throws(LayerDefect) {
    let view = try BlockDecoder.decode(block, salt: salt, at: offset, blockByteCount: blockByteCount, scratch: check)
    var differs = view.count != count || view.prefix != prefix || view.sharedByteCount != sharedByteCount
    differs = differs || memcmp(view.shared.baseAddress!, staging.start + entries[0].offset, sharedByteCount) != 0
    for index in 0..<count where !differs {
      let entry = entries[index]
      let body = view.body(index)
      let key = staging.start + entry.offset
      let skipped = min(entry.keyByteCount, sharedByteCount &+ 8)
      let behind = entry.keyByteCount &+ entry.valueByteCount &- skipped
      let head = keyHead(UnsafeRawBufferPointer(start: key, count: entry.keyByteCount), from: sharedByteCount)
      differs =
        body.keyByteCount != entry.keyByteCount || body.rest.count &+ body.value.count != behind
        || body.value.count != entry.valueByteCount || view.isDelete(index) != entry.isDelete
        || view.sequence(index) != entry.sequence || view.head(index) != head
        || memcmp(body.rest.baseAddress!, key + skipped, behind) != 0
    }
    if differs { throw .foreign("another content than was put in") }
  }
}
