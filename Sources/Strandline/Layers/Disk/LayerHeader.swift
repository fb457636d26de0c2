@_spi(Engine) internal import StrandlineLog

/// The first block of a layer file: whose it is, and the salt of its tags.
struct LayerHeader: Hashable {
  var identifier: StoreIdentifier
  /// Random, never reused; also in the file's name.
  var id: UInt64
  /// Random; seeds every tag in the file.
  var salt: UInt64
  var firstSequence: SequenceNumber
  var lastSequence: SequenceNumber
  var incompatibleBits: UInt64 = 0

  static let encodedByteCount = 88
  /// The same bytes, but for the tag's seed, stand at both offsets; either will do.
  static let copyOffsets = [0, 2048]

  // One copy. Little-endian.
  //
  //  byte 0       8       10      12     16         24      40   48     56          64         72     80    88
  //       +-------+-------+-------+------+----------+-------+----+------+-----------+----------+------+-----+
  //       | magic | major | minor | zero | incompat | store | id | salt | first seq | last seq | zero | tag |
  //       +-------+-------+-------+------+----------+-------+----+------+-----------+----------+------+-----+
  //
  // The tag covers bytes 0 ..< 80; its seed is salt XOR the copy's offset. Normative: Docs/Format.md, "Layer".
  static let magic: UInt64 = 0x0A1A_0A0D_594C_5389  // 89 "SLY" 0D 0A 1A 0A

  func encodedBlock() -> [UInt8] {
    var block = [UInt8](repeating: 0, count: LayerFormat.headerBlockByteCount)
    block.withUnsafeMutableBytes { bytes in
      for offset in Self.copyOffsets {
        let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + Self.encodedByteCount])
        copy.put(Self.magic, at: 0)
        copy.put(LayerFormat.major, at: 8)
        copy.put(LayerFormat.minor, at: 10)
        copy.put(incompatibleBits, at: 16)
        copy.put(identifier.high, at: 24)
        copy.put(identifier.low, at: 32)
        copy.put(id, at: 40)
        copy.put(salt, at: 48)
        copy.put(firstSequence.rawValue, at: 56)
        copy.put(lastSequence.rawValue, at: 64)
        copy.put(
          LayerFormat.tag(UnsafeRawBufferPointer(rebasing: copy[0..<80]), salt: salt, at: offset), at: 80)
      }
    }
    return block
  }

  /// The first of the two copies that is whole. Throws the first copy's defect if neither is.
  init(decodingBlock block: UnsafeRawBufferPointer) throws(LayerDefect) {
    do {
      try self.init(decoding: block, at: Self.copyOffsets[0])
    } catch {
      do {
        try self.init(decoding: block, at: Self.copyOffsets[1])
      } catch _ {
        throw error
      }
    }
  }

  init(
    identifier: StoreIdentifier, id: UInt64, salt: UInt64, firstSequence: SequenceNumber, lastSequence: SequenceNumber
  ) {
    self.identifier = identifier
    self.id = id
    self.salt = salt
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
  }

  init(decoding block: UnsafeRawBufferPointer, at offset: Int) throws(LayerDefect) {
    guard block.count >= offset + Self.encodedByteCount else {
      throw .cutShort(missing: offset + Self.encodedByteCount - block.count)
    }
    let bytes = block.slice(offset, Self.encodedByteCount)
    guard bytes.u64(0) == Self.magic else { throw .notALayer }
    let computed = LayerFormat.tag(bytes.slice(0, 80), salt: bytes.u64(48), at: offset)
    guard bytes.u64(80) == computed else { throw .wrongTag(stored: bytes.u64(80), computed: computed) }
    guard bytes.u16(8) == LayerFormat.major else { throw .unsupportedMajor(bytes.u16(8)) }
    let unknown = bytes.u64(16) & ~LayerFormat.knownIncompatibleBits
    guard unknown == 0 else { throw .unknownIncompatibleBit(unknown.trailingZeroBitCount) }
    guard bytes.u32(12) == 0, bytes.u64(72) == 0 else { throw .outOfRange("zero bytes") }
    incompatibleBits = bytes.u64(16)
    identifier = StoreIdentifier(high: bytes.u64(24), low: bytes.u64(32))
    id = bytes.u64(40)
    salt = bytes.u64(48)
    firstSequence = SequenceNumber(bytes.u64(56))
    lastSequence = SequenceNumber(bytes.u64(64))
    guard firstSequence <= lastSequence, lastSequence <= .max else { throw .outOfRange("sequence numbers") }
  }
}
