@_spi(Engine) internal import StrandlineLog

// A block: versions of one family and table, in order. Little-endian. Heads, ends and sequence numbers are not compressed, so that
// a search needs them alone.
//
//  byte 0     8                12          16      18      20       22      23     24
//       +-----+----------------+-----------+-------+-------+--------+-------+------+-----------------------------
//       | tag | prefix | flags | bodies'   | count | shared| key    | bits of the  | heads | ends | sequences |
//       |     | u24    | u8    | stored u32| u16   | u16   | length | sequences,   | 8 n   | 2 n  | bits * n  |
//       |     |        |       |           |       |       | u16    | bytes of base|       | (4 n)| / 8       |
//       +-----+----------------+-----------+-------+-------+--------+--------------+-----------------------------
//       ------+--------+--------+
//        base | shared | bodies |
//       ------+--------+--------+
//
//  tag         of bytes 8 ..< end, seed = salt XOR the block's offset
//  flags       bit 0: one version, whose end has 32 bits; bit 1: the bodies are one LZ4 block; bit 2: it refers to the dictionary
//  stored      bytes of the bodies in the file; if they are plain, as many as they have
//  shared      how many bytes behind the prefix all keys have in common, and these bytes
//  key length  of all keys, behind the prefix; 0xFFFF: it varies, and each body begins with a varint of its key's length less `shared`
//  heads       eight key bytes behind the shared ones as a big-endian number, short keys padded with zeros
//  ends        where the body ends, counted from the first body; top bit: the version deletes its key
//  sequences   sequence number less the base, packed
//  body        (varint) | the rest of the key behind the head | value

/// A block whose bodies are plain. Non-owning.
///
/// Everything a field of it leads to was proved by ``BlockDecoder``: nothing here checks bounds again.
struct BlockView {
  /// The block's first byte; heads, ends, sequences and shared bytes follow.
  let keys: UnsafeRawPointer
  /// The bodies, plain.
  let bodies: UnsafeRawPointer
  /// Versions.
  let count: Int
  let sharedByteCount: Int
  /// Of all keys, or ``varyingLength``.
  let keyByteCount: Int
  let sequenceBits: Int
  let baseSequence: UInt64
  let isWide: Bool
  let endsOffset: Int
  let sequencesOffset: Int
  let sharedOffset: Int

  static let headsOffset = 24
  static let varyingLength = 0xFFFF
  static let wideFlag: UInt8 = 1
  static let compressedFlag: UInt8 = 2
  static let dictionaryFlag: UInt8 = 4
  /// Sequence numbers are read by 8-byte loads: so many bytes behind the block may be touched.
  static let slackByteCount = 16

  /// Of a block image as ``BlockDecoder`` leaves it in a frame: bodies stand behind the shared bytes.
  @inline(__always)
  init(frame: UnsafeRawPointer) {
    self.init(keys: frame, bodies: nil)
  }

  /// - Parameter bodies: nil: behind the shared bytes.
  @inline(__always)
  init(keys: UnsafeRawPointer, bodies: UnsafeRawPointer?) {
    self.keys = keys
    let numbers = UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    count = Int(truncatingIfNeeded: numbers & 0xFFFF)
    sharedByteCount = Int(truncatingIfNeeded: numbers >> 16 & 0xFFFF)
    keyByteCount = Int(truncatingIfNeeded: numbers >> 32 & 0xFFFF)
    sequenceBits = Int(truncatingIfNeeded: numbers >> 48 & 0xFF)
    let baseByteCount = Int(truncatingIfNeeded: numbers >> 56)
    isWide = keys.load(fromByteOffset: 11, as: UInt8.self) & Self.wideFlag != 0
    endsOffset = Self.headsOffset &+ 8 &* count
    sequencesOffset = endsOffset &+ (isWide ? 4 : 2) &* count
    let baseOffset = sequencesOffset &+ (count &* sequenceBits &+ 7) &>> 3
    sharedOffset = baseOffset &+ baseByteCount
    let base = UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: baseOffset, as: UInt64.self))
    baseSequence = baseByteCount >= 8 ? base : base & (1 &<< UInt64(truncatingIfNeeded: baseByteCount &* 8) &- 1)
    self.bodies = bodies ?? keys + sharedOffset + sharedByteCount
  }

  @inline(__always)
  var prefix: KeyPrefix {
    KeyPrefix(rawValue: UInt32(littleEndian: keys.loadUnaligned(fromByteOffset: 8, as: UInt32.self)) & 0xFF_FFFF)
  }

  @inline(__always)
  var shared: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: keys + sharedOffset, count: sharedByteCount) }

  @inline(__always)
  func head(_ index: Int) -> UInt64 {
    UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: Self.headsOffset &+ 8 &* index, as: UInt64.self))
  }

  /// The stored end: offset, and in the top bit whether the version deletes.
  @inline(__always)
  private func storedEnd(_ index: Int) -> (end: Int, isDelete: Bool) {
    if isWide {
      let stored = UInt32(littleEndian: keys.loadUnaligned(fromByteOffset: endsOffset &+ 4 &* index, as: UInt32.self))
      return (Int(stored & 0x7FFF_FFFF), stored >> 31 != 0)
    }
    let stored = UInt16(littleEndian: keys.loadUnaligned(fromByteOffset: endsOffset &+ 2 &* index, as: UInt16.self))
    return (Int(stored & 0x7FFF), stored >> 15 != 0)
  }

  @inline(__always)
  func end(_ index: Int) -> Int { storedEnd(index).end }

  @inline(__always)
  func isDelete(_ index: Int) -> Bool { storedEnd(index).isDelete }

  @inline(__always)
  func sequence(_ index: Int) -> UInt64 {
    if sequenceBits == 0 { return baseSequence }
    if sequenceBits == 64 {
      return baseSequence
        &+ keys.loadUnaligned(fromByteOffset: sequencesOffset &+ 8 &* index, as: UInt64.self).littleEndian
    }
    let bit = index &* sequenceBits
    let word = keys.loadUnaligned(fromByteOffset: sequencesOffset &+ bit &>> 3, as: UInt64.self).littleEndian
    let mask: UInt64 = 1 &<< UInt64(truncatingIfNeeded: sequenceBits) &- 1
    return baseSequence &+ (word &>> UInt64(truncatingIfNeeded: bit & 7)) & mask
  }

  /// One version's body, taken apart.
  struct Body {
    /// Of the whole key behind the prefix.
    var keyByteCount: Int
    /// The key behind shared bytes and head.
    var rest: UnsafeRawBufferPointer
    var value: UnsafeRawBufferPointer
  }

  @inline(__always)
  func body(_ index: Int) -> Body {
    var start = index == 0 ? 0 : end(index &- 1)
    let end = end(index)
    var keyByteCount = keyByteCount
    if keyByteCount == Self.varyingLength {
      // Proved to be a varint of at most two bytes.
      var behindShared = Int(bodies.load(fromByteOffset: start, as: UInt8.self))
      start &+= 1
      if behindShared >= 0x80 {
        behindShared = behindShared & 0x7F | Int(bodies.load(fromByteOffset: start, as: UInt8.self)) &<< 7
        start &+= 1
      }
      keyByteCount = sharedByteCount &+ behindShared
    }
    let restByteCount = max(0, keyByteCount &- sharedByteCount &- 8)
    return Body(
      keyByteCount: keyByteCount, rest: UnsafeRawBufferPointer(start: bodies + start, count: restByteCount),
      value: UnsafeRawBufferPointer(start: bodies + start + restByteCount, count: end &- start &- restByteCount))
  }

  /// Room that ``writeKey(_:_:to:)`` needs.
  static let keyRoomByteCount = StoreLimits.keyByteCountMax + 24

  /// Writes the key of a version at `target`; returns its length.
  @inline(__always)
  func writeKey(_ index: Int, _ body: Body, to target: UnsafeMutableRawPointer) -> Int {
    target.copyMemory(from: keys + sharedOffset, byteCount: sharedByteCount)
    return writeKeyBehindShared(index, body, to: target)
  }

  /// As ``writeKey(_:_:to:)``, where the shared bytes are in place.
  @inline(__always)
  func writeKeyBehindShared(_ index: Int, _ body: Body, to target: UnsafeMutableRawPointer) -> Int {
    let behind = target + sharedByteCount
    behind.storeBytes(of: head(index).bigEndian, as: UInt64.self)
    if body.rest.count > 0 {
      // Most rests have eight bytes. Behind the bodies there is slack to read, and behind the key room.
      (behind + 8).storeBytes(of: body.rest.baseAddress!.loadUnaligned(as: UInt64.self), as: UInt64.self)
      if body.rest.count > 8 {
        (behind + 16).copyMemory(from: body.rest.baseAddress! + 8, byteCount: body.rest.count &- 8)
      }
    }
    return body.keyByteCount
  }
}

/// Eight bytes of a key as a number: numbers order as the bytes do, shorter keys padded with zeros.
@inline(__always)
func keyHead(_ key: UnsafeRawBufferPointer, from offset: Int = 0) -> UInt64 {
  let left = key.count &- offset
  if left >= 8 { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
  var head: UInt64 = 0
  var place = 0
  while place < left {
    head |= UInt64(key[offset &+ place]) &<< UInt64(truncatingIfNeeded: 56 &- 8 &* place)
    place &+= 1
  }
  return head
}
