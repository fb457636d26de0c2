/// What a frame is. Numbers are never moved or reused.
@_spi(Engine) public struct FrameKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Records of a commit.
  public static let data = FrameKind(rawValue: 1)
  /// No records; states how far is synced.
  public static let syncMark = FrameKind(rawValue: 2)
  /// Everything in front of it is void; carries the new epoch, its base layers and records.
  public static let reset = FrameKind(rawValue: 3)
  /// Written by salvage: sequence numbers that were lost.
  public static let gap = FrameKind(rawValue: 4)
  /// Zeros up to the next block; any reader may pass over it.
  public static let padding = FrameKind(rawValue: 0x81)

  /// A reader that does not know the kind passes over it when bit 7 is set, and refuses the log when not.
  public var mayBeSkipped: Bool { rawValue & 0x80 != 0 }
  public var isKnown: Bool { (1...4).contains(rawValue) }

  public var description: String {
    switch self {
    case .data: "DATA"
    case .syncMark: "SYNCMARK"
    case .reset: "RESET"
    case .gap: "GAP"
    case .padding: "PADDING"
    default: "KIND \(rawValue)"
    }
  }
}

/// How a frame's payload is stored.
@_spi(Engine) public enum FrameCodec: UInt8, Sendable {
  case raw = 0
  case lz4 = 1
}

/// The 64 bytes in front of every frame's payload.
@_spi(Engine) public struct FrameHeader: Hashable, Sendable {
  public static let byteCount = 64

  public var kind: FrameKind
  public var codec: FrameCodec
  /// The commit goes on in the next frame.
  public var continues: Bool
  public var storedByteCount: Int
  public var rawByteCount: Int
  public var sequence: SequenceNumber
  public var recordCount: Int
  /// Low 32 bits of the epoch in force; a RESET carries the new one.
  public var epoch: UInt32
  /// A sync had already returned success for everything in front of this when the header was composed.
  public var durable: LSN
  public var previousTag: UInt64
  public var bodyTag: UInt64

  /// Header, payload and padding.
  public var frameByteCount: Int { Self.byteCount + paddedTo8(storedByteCount) }

  // One frame. Little-endian; starts on an 8-byte boundary.
  //
  //  byte 0       4      5       6       8           12       16         24      28      32        40        48
  //       +-------+------+-------+-------+-----------+--------+----------+-------+-------+---------+---------+
  //       | magic | kind | codec | flags | storedLen | rawLen | sequence | count | epoch | durable | prevTag |
  //       +-------+------+-------+-------+-----------+--------+----------+-------+-------+---------+---------+
  //  byte 48        56        64
  //       +---------+---------+- - - - - +- - -+
  //       | bodyTag | headTag | payload  | pad |   headTag covers bytes 0 ..< 56, bodyTag covers payload and pad
  //       +---------+---------+- - - - - +- - -+
  //
  // Valid if and only if headTag matches, then every field is in range, then bodyTag matches.
  // headTag comes first: nothing is read or allocated on a length that is not yet proved.
  // Tags are seeded with the segment's salt and the LSN: recycled or misdirected bytes are well-formed elsewhere only.
  // Normative: Docs/Format.md, "Frame". Pinned by FrameHeaderTests and Fixtures/v1.
  static let magic: UInt32 = 0x1A0A_0DF5  // F5 0D 0A 1A

  /// Payload of one frame: LZ4 of the largest record at its worst, with room.
  static let storedByteCountMax = 17 << 20
  static let rawByteCountMax = (16 << 20) + 16

  /// Encodes the header at the start of `bytes` for a frame at `lsn`; returns its head tag.
  @discardableResult
  func encode(into bytes: UnsafeMutableRawBufferPointer, salt: UInt64, lsn: LSN) -> UInt64 {
    bytes.put(Self.magic, at: 0)
    bytes.put(kind.rawValue, at: 4)
    bytes.put(codec.rawValue, at: 5)
    bytes.put(UInt16(continues ? 1 : 0), at: 6)
    bytes.put(UInt32(storedByteCount), at: 8)
    bytes.put(UInt32(rawByteCount), at: 12)
    bytes.put(sequence.rawValue, at: 16)
    bytes.put(UInt32(recordCount), at: 24)
    bytes.put(epoch, at: 28)
    bytes.put(durable.rawValue, at: 32)
    bytes.put(previousTag, at: 40)
    bytes.put(bodyTag, at: 48)
    let tag = Tag.of(UnsafeRawBufferPointer(rebasing: bytes[0..<56]), seed: Tag.headSeed(salt: salt, lsn: lsn))
    bytes.put(tag, at: 56)
    return tag
  }

  /// Why the bytes at a place are not a frame's header. Each but the last two means that the tag did not prove them.
  public enum Defect: Error, Hashable, Sendable {
    case tooShort(Int)
    case wrongMagic(UInt32)
    case tagMismatch(stored: UInt64, computed: UInt64)
    case fieldOutOfRange(Field)
    /// Written by a newer version, and not marked as one that may be skipped.
    case unknownKind(UInt8)

    public enum Field: String, Hashable, Sendable {
      case codec, flags, storedLen, rawLen, sequence, count, durable
    }
  }

  /// True if the 64 bytes carry the magic and their own tag; what the fields say is not looked at.
  static func provesItself(_ bytes: UnsafeRawBufferPointer, salt: UInt64, lsn: LSN) -> Bool {
    bytes.u32(0) == magic
      && bytes.u64(56) == Tag.of(bytes.slice(0, 56), seed: Tag.headSeed(salt: salt, lsn: lsn))
  }

  /// Decodes and proves the header at the start of `bytes`, which holds at least 64 bytes, for a frame at `lsn`.
  ///
  /// Lengths are in range for the format afterwards; whether the file holds that many bytes is the caller's check.
  public init(decoding bytes: UnsafeRawBufferPointer, salt: UInt64, lsn: LSN) throws(Defect) {
    guard bytes.count >= Self.byteCount else { throw .tooShort(bytes.count) }
    guard bytes.u32(0) == Self.magic else { throw .wrongMagic(bytes.u32(0)) }
    let computed = Tag.of(bytes.slice(0, 56), seed: Tag.headSeed(salt: salt, lsn: lsn))
    guard bytes.u64(56) == computed else { throw .tagMismatch(stored: bytes.u64(56), computed: computed) }
    kind = FrameKind(rawValue: bytes.u8(4))
    guard kind.isKnown || kind.mayBeSkipped else { throw .unknownKind(kind.rawValue) }
    guard let codec = FrameCodec(rawValue: bytes.u8(5)) else { throw .fieldOutOfRange(.codec) }
    self.codec = codec
    guard bytes.u16(6) <= 1 else { throw .fieldOutOfRange(.flags) }
    continues = bytes.u16(6) == 1
    storedByteCount = Int(bytes.u32(8))
    rawByteCount = Int(bytes.u32(12))
    sequence = SequenceNumber(bytes.u64(16))
    recordCount = Int(bytes.u32(24))
    epoch = bytes.u32(28)
    durable = LSN(bytes.u64(32))
    previousTag = bytes.u64(40)
    bodyTag = bytes.u64(48)
    guard storedByteCount <= Self.storedByteCountMax else { throw .fieldOutOfRange(.storedLen) }
    guard rawByteCount <= Self.rawByteCountMax else { throw .fieldOutOfRange(.rawLen) }
    switch codec {
    case .raw: guard rawByteCount == storedByteCount else { throw .fieldOutOfRange(.rawLen) }
    // No LZ4 block expands further, so a larger claim is a lie.
    case .lz4: guard rawByteCount <= 255 * storedByteCount else { throw .fieldOutOfRange(.rawLen) }
    }
    guard sequence <= .max else { throw .fieldOutOfRange(.sequence) }
    // Every record takes at least the byte that holds its length.
    guard recordCount <= rawByteCount else { throw .fieldOutOfRange(.count) }
    guard durable <= lsn else { throw .fieldOutOfRange(.durable) }
    if kind == .syncMark {
      guard storedByteCount == 0 else { throw .fieldOutOfRange(.storedLen) }
      guard recordCount == 0 else { throw .fieldOutOfRange(.count) }
    }
    guard !continues || kind == .data else { throw .fieldOutOfRange(.flags) }
  }

  init(
    kind: FrameKind, codec: FrameCodec, continues: Bool, storedByteCount: Int, rawByteCount: Int,
    sequence: SequenceNumber, recordCount: Int, epoch: UInt32, durable: LSN, previousTag: UInt64, bodyTag: UInt64
  ) {
    self.kind = kind
    self.codec = codec
    self.continues = continues
    self.storedByteCount = storedByteCount
    self.rawByteCount = rawByteCount
    self.sequence = sequence
    self.recordCount = recordCount
    self.epoch = epoch
    self.durable = durable
    self.previousTag = previousTag
    self.bodyTag = bodyTag
  }
}
