/// The first 4 KiB of a segment: what it is and which segment it follows.
///
/// Written once, when the segment is rolled to and everything in it is known, and never again. The headers form the
/// chain: a segment with a valid successor is closed and has exactly the length and last tag that the successor names.
@_spi(Engine) public struct SegmentHeader: Hashable, Sendable {
  /// The header's block; frames begin behind it.
  public static let blockByteCount = 4096
  static let encodedByteCount = 160
  /// The same bytes stand at both offsets; either will do.
  public static let copyOffsets = [0, 2048]

  public var incompatibleBits: UInt64 = 0
  public var identifier: StoreIdentifier
  public var ordinal: UInt64
  /// Random, never reused; also in the file's name.
  public var id: UInt64
  /// In force where the segment begins.
  public var epoch: UInt64
  /// The last sequence number in front of the segment.
  public var baseSequence: SequenceNumber
  /// Position of the file's first byte.
  public var baseLSN: LSN
  /// Random; seeds all tags in the segment.
  public var salt: UInt64
  public var predecessor: Predecessor
  public var reset: LastReset
  /// Milliseconds since 1970, for people.
  public var createdAt: Int64

  /// The segment in front: all zero for the first.
  public struct Predecessor: Hashable, Sendable {
    public var id: UInt64
    public var byteCount: UInt64
    /// Chain tag at its end.
    public var headTag: UInt64

    public init(id: UInt64, byteCount: UInt64, headTag: UInt64) {
      self.id = id
      self.byteCount = byteCount
      self.headTag = headTag
    }
  }

  /// The last RESET in front of the segment: all zero if none.
  public struct LastReset: Hashable, Sendable {
    public var sequence: SequenceNumber
    public var headTag: UInt64

    public init(sequence: SequenceNumber, headTag: UInt64) {
      self.sequence = sequence
      self.headTag = headTag
    }
  }

  public init(
    identifier: StoreIdentifier, ordinal: UInt64, id: UInt64, epoch: UInt64, baseSequence: SequenceNumber, baseLSN: LSN,
    salt: UInt64, predecessor: Predecessor, reset: LastReset, createdAt: Int64
  ) {
    self.identifier = identifier
    self.ordinal = ordinal
    self.id = id
    self.epoch = epoch
    self.baseSequence = baseSequence
    self.baseLSN = baseLSN
    self.salt = salt
    self.predecessor = predecessor
    self.reset = reset
    self.createdAt = createdAt
  }

  public var fileName: SegmentFileName { SegmentFileName(ordinal: ordinal, id: id) }
  /// Position of the first frame.
  public var firstFrameLSN: LSN { baseLSN.advanced(by: Int64(Self.blockByteCount)) }

  // One copy. Little-endian.
  //
  //  byte 0       8       10      12     16         24      40        48   56      64        72        80     88
  //       +-------+-------+-------+------+----------+-------+---------+----+-------+---------+---------+------+
  //       | magic | major | minor | zero | incompat | store | ordinal | id | epoch | baseSeq | baseLSN | salt |
  //       +-------+-------+-------+------+----------+-------+---------+----+-------+---------+---------+------+
  //  byte 88        96            104       112        120        128         136    152         160
  //       +---------+-------------+---------+----------+----------+-----------+------+-----------+
  //       | pred id | pred length | pred tag| resetSeq | resetTag | createdAt | zero | headerTag |
  //       +---------+-------------+---------+----------+----------+-----------+------+-----------+
  //
  // Valid if and only if headerTag (XXH3-64 of bytes 0 ..< 152, seed 0) matches, magic and major version are ours and every number is
  // in range; it belongs here if the file's name says the same ordinal and id. Normative: Docs/Format.md, "Segment".
  static let magic: UInt64 = 0x0A1A_0A0D_534C_5389  // 89 "SLS" 0D 0A 1A 0A

  func encodedBlock() -> [UInt8] {
    var block = [UInt8](repeating: 0, count: Self.blockByteCount)
    block.withUnsafeMutableBytes { bytes in
      for offset in Self.copyOffsets {
        let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + Self.encodedByteCount])
        copy.put(Self.magic, at: 0)
        copy.put(FormatVersion.major, at: 8)
        copy.put(FormatVersion.minor, at: 10)
        copy.put(incompatibleBits, at: 16)
        copy.put(identifier.high, at: 24)
        copy.put(identifier.low, at: 32)
        copy.put(ordinal, at: 40)
        copy.put(id, at: 48)
        copy.put(epoch, at: 56)
        copy.put(baseSequence.rawValue, at: 64)
        copy.put(baseLSN.rawValue, at: 72)
        copy.put(salt, at: 80)
        copy.put(predecessor.id, at: 88)
        copy.put(predecessor.byteCount, at: 96)
        copy.put(predecessor.headTag, at: 104)
        copy.put(reset.sequence.rawValue, at: 112)
        copy.put(reset.headTag, at: 120)
        copy.put(createdAt, at: 128)
        copy.put(Tag.of(UnsafeRawBufferPointer(rebasing: copy[0..<152]), seed: 0), at: 152)
      }
    }
    return block
  }

  /// Why a copy does not count.
  public enum Defect: Error, Hashable, Sendable {
    case tooShort(Int)
    case tagMismatch(stored: UInt64, computed: UInt64)
    case notASegment
    case unsupportedMajor(UInt16)
    case unknownIncompatibleBit(Int)
    case fieldOutOfRange(String)
  }

  /// Decodes the header block: the first of the two copies that is whole.
  ///
  /// - Throws: the first copy's defect if neither is whole.
  public init(decodingBlock block: UnsafeRawBufferPointer) throws(Defect) {
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

  /// Decodes the copy at `offset`.
  public init(decoding block: UnsafeRawBufferPointer, at offset: Int) throws(Defect) {
    guard block.count >= offset + Self.encodedByteCount else { throw .tooShort(block.count) }
    let bytes = block.slice(offset, Self.encodedByteCount)
    let computed = Tag.of(bytes.slice(0, 152), seed: 0)
    guard bytes.u64(152) == computed else { throw .tagMismatch(stored: bytes.u64(152), computed: computed) }
    guard bytes.u64(0) == Self.magic else { throw .notASegment }
    guard bytes.u16(8) == FormatVersion.major else { throw .unsupportedMajor(bytes.u16(8)) }
    if let bit = FormatVersion.firstUnknownBit(bytes.u64(16), known: FormatVersion.knownIncompatibleBits) {
      throw .unknownIncompatibleBit(bit)
    }
    guard bytes.u32(12) == 0, bytes.slice(136, 16).isAllZero else { throw .fieldOutOfRange("zero bytes") }
    incompatibleBits = bytes.u64(16)
    identifier = StoreIdentifier(high: bytes.u64(24), low: bytes.u64(32))
    ordinal = bytes.u64(40)
    id = bytes.u64(48)
    epoch = bytes.u64(56)
    baseSequence = SequenceNumber(bytes.u64(64))
    baseLSN = LSN(bytes.u64(72))
    salt = bytes.u64(80)
    predecessor = Predecessor(id: bytes.u64(88), byteCount: bytes.u64(96), headTag: bytes.u64(104))
    reset = LastReset(sequence: SequenceNumber(bytes.u64(112)), headTag: bytes.u64(120))
    createdAt = Int64(bitPattern: bytes.u64(128))
    guard ordinal >= 1, ordinal < UInt64(Int64.max), epoch < UInt64(Int64.max), baseSequence <= .max, baseLSN <= .max,
      reset.sequence <= baseSequence, predecessor.byteCount <= baseLSN.rawValue
    else { throw .fieldOutOfRange("positions") }
  }
}
