internal import CLZ4
internal import CStrandline
@_spi(Engine) internal import StrandlineLog

/// Memory to read and decode blocks in, one after another; one owner at a time.
///
/// The dictionary lies directly in front of where bodies are decompressed to: elsewhere in memory it halves LZ4's speed.
final class BlockScratch {
  private(set) var input: RawMemory
  private var output: RawMemory
  private(set) var outputByteCount: Int
  let dictionaryByteCount: Int

  init(dictionary: UnsafeRawBufferPointer, blockByteCount: Int, inputByteCount: Int) {
    dictionaryByteCount = dictionary.count
    outputByteCount = blockByteCount
    input = RawMemory(byteCount: inputByteCount + BlockView.slackByteCount)
    output = RawMemory(byteCount: dictionary.count + blockByteCount + BlockView.slackByteCount)
    if dictionary.count > 0 { output.bytes.copyMemory(from: dictionary) }
  }

  /// How many bytes ``input`` takes.
  var inputByteCount: Int { input.bytes.count - BlockView.slackByteCount }

  /// Makes room in ``input``; what was in it is gone.
  func reserveInput(_ byteCount: Int) {
    if byteCount > inputByteCount { input = RawMemory(byteCount: byteCount + BlockView.slackByteCount) }
  }

  func reserveOutput(_ byteCount: Int) {
    guard byteCount > outputByteCount else { return }
    let larger = RawMemory(byteCount: dictionaryByteCount + byteCount + BlockView.slackByteCount)
    larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: output.bytes[0..<dictionaryByteCount]))
    output = larger
    outputByteCount = byteCount
  }

  var dictionary: UnsafePointer<CChar> { UnsafePointer(output.start.assumingMemoryBound(to: CChar.self)) }
  var bodies: UnsafeMutableRawPointer { output.start + dictionaryByteCount }
}

/// Proves a block as it stands in the file and makes its bodies plain.
///
/// Tag first, so nothing is believed that we did not write; then every number, so that nothing behind it has to check bounds.
enum BlockDecoder {
  /// - Parameters:
  ///   - stored: the block; ``BlockView/slackByteCount`` bytes behind it may be touched.
  ///   - offset: its place in the file.
  ///   - blockByteCount: the layer's, before compression.
  /// - Returns: a view over `stored` and, where they were compressed, bodies in `scratch`.
  @inline(__always)
  static func decode(
    _ stored: UnsafeRawBufferPointer, salt: UInt64, at offset: Int, blockByteCount: Int, scratch: BlockScratch
  ) throws(LayerDefect) -> BlockView {
    guard stored.count >= BlockView.headsOffset else { throw .cutShort(missing: BlockView.headsOffset - stored.count) }
    let computed = LayerFormat.tag(
      UnsafeRawBufferPointer(start: stored.baseAddress! + 8, count: stored.count &- 8), salt: salt, at: offset)
    guard stored.u64(0) == computed else { throw .wrongTag(stored: stored.u64(0), computed: computed) }
    let flags = stored.u8(11)
    let storedBodies = Int(stored.u32(12))
    let count = Int(stored.u16(16))
    let sharedByteCount = Int(stored.u16(18))
    let bits = Int(stored.u8(22))
    guard count > 0, flags < 8, bits <= 56 || bits == 64, stored.u8(23) <= 8,
      sharedByteCount <= StoreLimits.keyByteCountMax
    else { throw .outOfRange("a block's header") }
    let isWide = flags & BlockView.wideFlag != 0
    // No sum can overflow: the largest has 32 + 21 bits.
    let endsEnd = BlockView.headsOffset &+ (isWide ? 12 : 10) &* count
    let keysEnd = endsEnd &+ (count &* bits &+ 7) &>> 3 &+ Int(stored.u8(23)) &+ sharedByteCount
    guard keysEnd &+ storedBodies == stored.count, !isWide || count == 1 else {
      throw .outOfRange("a block's sections")
    }
    // Plain or not, the last end is the length of the bodies.
    let bodiesByteCount =
      isWide ? Int(stored.u32(endsEnd &- 4) & 0x7FFF_FFFF) : Int(stored.u16(endsEnd &- 2) & 0x7FFF)
    let keysPointer = stored.baseAddress!
    let view: BlockView
    if flags & BlockView.compressedFlag == 0 {
      guard bodiesByteCount == storedBodies, flags & BlockView.dictionaryFlag == 0 else {
        throw .outOfRange("the length of a block's bodies")
      }
      view = BlockView(keys: keysPointer, bodies: keysPointer + keysEnd)
    } else {
      guard bodiesByteCount <= (isWide ? LayerFormat.bodiesByteCountMax : blockByteCount) else {
        throw .outOfRange("the length of a block's bodies")
      }
      scratch.reserveOutput(bodiesByteCount)
      let dictionaryByteCount = flags & BlockView.dictionaryFlag != 0 ? scratch.dictionaryByteCount : 0
      let target = scratch.bodies
      let made = LZ4_decompress_safe_usingDict(
        (keysPointer + keysEnd).assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
        Int32(truncatingIfNeeded: storedBodies), Int32(truncatingIfNeeded: bodiesByteCount),
        dictionaryByteCount > 0 ? scratch.dictionary : nil, Int32(truncatingIfNeeded: dictionaryByteCount))
      guard Int(made) == bodiesByteCount else { throw .notDecodable }
      view = BlockView(keys: keysPointer, bodies: UnsafeRawPointer(target))
    }
    guard areBodiesInBounds(view, bodiesByteCount) else { throw .outOfRange("a version in a block") }
    return view
  }

  /// How long a block with this header is in the file; nil for numbers that no block has. For the search after damage.
  static func storedByteCount(_ header: UnsafeRawBufferPointer) -> Int? {
    guard header.count >= BlockView.headsOffset else { return nil }
    let flags = header.u8(11)
    let count = Int(header.u16(16))
    let sharedByteCount = Int(header.u16(18))
    let bits = Int(header.u8(22))
    let isWide = flags & BlockView.wideFlag != 0
    guard count > 0, flags < 8, bits <= 56 || bits == 64, header.u8(23) <= 8,
      sharedByteCount <= StoreLimits.keyByteCountMax, !isWide || count == 1
    else { return nil }
    let byteCount =
      BlockView.headsOffset + (isWide ? 12 : 10) * count + (count * bits + 7) >> 3 + Int(header.u8(23))
      + sharedByteCount + Int(header.u32(12))
    return byteCount <= LayerFormat.storedBlockByteCountMax ? byteCount : nil
  }

  /// Ends that do not run backwards, and room in each body for the rest of its key.
  @inline(__always)
  private static func areBodiesInBounds(_ view: BlockView, _ bodiesByteCount: Int) -> Bool {
    var start = 0
    if view.keyByteCount != BlockView.varyingLength {
      guard view.keyByteCount >= view.sharedByteCount, view.keyByteCount <= StoreLimits.keyByteCountMax else {
        return false
      }
      let restByteCount = max(0, view.keyByteCount &- view.sharedByteCount &- 8)
      var lacking = 0
      for index in 0..<view.count {
        let end = view.end(index)
        // Negative, and so the sign of the union, as soon as one body is too short.
        lacking |= end &- start &- restByteCount
        start = end
      }
      return lacking >= 0
    }
    for index in 0..<view.count {
      let end = view.end(index)
      guard start < end, end <= bodiesByteCount else { return false }
      var behindShared = Int(view.bodies.load(fromByteOffset: start, as: UInt8.self))
      start &+= 1
      if behindShared >= 0x80 {
        guard start < end else { return false }
        let second = Int(view.bodies.load(fromByteOffset: start, as: UInt8.self))
        guard second > 0, second < 0x80 else { return false }
        behindShared = behindShared & 0x7F | second &<< 7
        start &+= 1
      }
      guard view.sharedByteCount &+ behindShared <= StoreLimits.keyByteCountMax,
        max(0, behindShared &- 8) <= end &- start
      else { return false }
      start = end
    }
    return true
  }
}
