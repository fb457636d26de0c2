/// The root of a store: one of the two 4 KiB slots of META.
///
/// Slots are written in turn, each synced before the other is touched, so one of them is whole at any moment. The slot's
/// number is the parity of its revision.
@_spi(Engine) public struct RootSlot: Hashable, Sendable {
  public static let byteCount = 4096
  /// Size of META: two slots.
  public static let fileByteCount = 8192
  public static let fileName = "META"

  public var compatibleBits: UInt64 = 0
  public var readOnlyCompatibleBits: UInt64 = 0
  public var incompatibleBits: UInt64 = 0
  public var identifier: StoreIdentifier
  /// Random; new in every backup, kept copy and salvage, so that a copy is known for one.
  public var incarnation: UInt64
  public var revision: UInt64
  /// Counts resets.
  public var epoch: UInt64
  /// Of the last RESET; zero if none.
  public var resetSequence: SequenceNumber
  public var firstLiveOrdinal: UInt64
  /// Zero until the first segment is made.
  public var lastCreatedOrdinal: UInt64
  public var lastCreatedID: UInt64
  public var anchor: Anchor
  /// A position that a sync has covered.
  public var durableMark: LSN
  public var closedCleanly: Bool
  /// Head tag of the last frame when the store was closed cleanly.
  public var tailTag: UInt64
  /// Top first.
  public var layers: [LayerEntry]
  /// Of the version that wrote the store, or a newer one that has written to it since.
  public private(set) var minorVersion = FormatVersion.minor
  /// What this version has no name for: zeros but for what a newer minor version put there. Empty if it is all zeros.
  private var unnamed: [UInt8] = []

  /// Where replay begins: behind the frame with this tag.
  public struct Anchor: Hashable, Sendable {
    public var ordinal: UInt64
    public var lsn: LSN
    public var headTag: UInt64
    public var sequence: SequenceNumber

    public init(ordinal: UInt64, lsn: LSN, headTag: UInt64, sequence: SequenceNumber) {
      self.ordinal = ordinal
      self.lsn = lsn
      self.headTag = headTag
      self.sequence = sequence
    }

    /// Replay begins with the first live segment.
    public static let none = Anchor(ordinal: 0, lsn: .zero, headTag: 0, sequence: .zero)
  }

  var slotNumber: Int { Int(revision % 2) }

  /// Whether both lead to the same layers, segments and state.
  func namesSameFiles(as other: RootSlot) -> Bool {
    epoch == other.epoch && resetSequence == other.resetSequence && firstLiveOrdinal == other.firstLiveOrdinal
      && anchor == other.anchor && layers == other.layers
  }

  // One slot. Little-endian. (compat, roCompat, incompat are feature bits.)
  //
  //  byte 0       8       10      12     16       24         32         40      56            64         72
  //       +-------+-------+-------+------+--------+----------+----------+-------+-------------+----------+
  //       | magic | major | minor | zero | compat | roCompat | incompat | store | incarnation | revision |
  //       +-------+-------+-------+------+--------+----------+----------+-------+-------------+----------+
  //  byte 72      80         88          96             104       112              144       152     153    160
  //       +-------+----------+-----------+--------------+---------+----------------+---------+-------+------+
  //       | epoch | resetSeq | firstLive | last ordinal | last id | anchor (4 × 8) | durable | clean | zero |
  //       +-------+----------+-----------+--------------+---------+----------------+---------+-------+------+
  //  byte 160       168     172    176               2224          4088      4096
  //       +---------+-------+------+-----------------+- - - - - - -+---------+
  //       | tailTag | count | zero | 32 × 64 layers  | zero        | slotTag |
  //       +---------+-------+------+-----------------+- - - - - - -+---------+
  //
  // Valid if and only if slotTag (XXH3-64 of bytes 0 ..< 4088, seeded with the slot's number) matches, the magic and major version
  // are ours, every zero is zero and the counts are in range. Normative: Docs/Format.md, "META".
  //
  // What a newer minor version adds stands in the zeros in front of the tag. It is kept as it was found, and so is the minor version: a
  // field that a writer of an older version must not carry along unchanged comes with a feature bit that keeps such a writer out.
  static let magic: UInt64 = 0x0A1A_0A0D_4D4C_5389  // 89 "SLM" 0D 0A 1A 0A
  private static let unnamedRange = 176 + LayerEntry.countMax * LayerEntry.encodedByteCount..<4088

  func encoded() -> [UInt8] {
    precondition(layers.count <= LayerEntry.countMax, "a root names at most 32 layers")
    var slot = [UInt8](repeating: 0, count: Self.byteCount)
    slot.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, at: 0)
      bytes.put(FormatVersion.major, at: 8)
      bytes.put(minorVersion, at: 10)
      bytes.put(compatibleBits, at: 16)
      bytes.put(readOnlyCompatibleBits, at: 24)
      bytes.put(incompatibleBits, at: 32)
      bytes.put(identifier.high, at: 40)
      bytes.put(identifier.low, at: 48)
      bytes.put(incarnation, at: 56)
      bytes.put(revision, at: 64)
      bytes.put(epoch, at: 72)
      bytes.put(resetSequence.rawValue, at: 80)
      bytes.put(firstLiveOrdinal, at: 88)
      bytes.put(lastCreatedOrdinal, at: 96)
      bytes.put(lastCreatedID, at: 104)
      bytes.put(anchor.ordinal, at: 112)
      bytes.put(anchor.lsn.rawValue, at: 120)
      bytes.put(anchor.headTag, at: 128)
      bytes.put(anchor.sequence.rawValue, at: 136)
      bytes.put(durableMark.rawValue, at: 144)
      bytes.put(UInt8(closedCleanly ? 1 : 0), at: 152)
      bytes.put(tailTag, at: 160)
      bytes.put(UInt32(layers.count), at: 168)
      for (index, layer) in layers.enumerated() {
        layer.encode(into: bytes, at: 176 + index * LayerEntry.encodedByteCount)
      }
      bytes[Self.unnamedRange].copyBytes(from: unnamed)
      let tag = Tag.of(UnsafeRawBufferPointer(rebasing: bytes[0..<4088]), seed: UInt64(slotNumber))
      bytes.put(tag, at: 4088)
    }
    return slot
  }

  /// Why a slot does not count.
  public enum Defect: Error, Hashable, Sendable {
    case wrongLength(Int)
    case tagMismatch(stored: UInt64, computed: UInt64)
    case notARoot
    case unsupportedMajor(UInt16)
    case unknownIncompatibleBit(Int)
    case fieldOutOfRange(String)
  }

  /// Decodes one slot. The tag is proved first; nothing else is believed before it.
  public init(decoding bytes: UnsafeRawBufferPointer, slotNumber: Int) throws(Defect) {
    guard bytes.count == Self.byteCount else { throw .wrongLength(bytes.count) }
    let computed = Tag.of(bytes.slice(0, 4088), seed: UInt64(slotNumber))
    guard bytes.u64(4088) == computed else { throw .tagMismatch(stored: bytes.u64(4088), computed: computed) }
    guard bytes.u64(0) == Self.magic else { throw .notARoot }
    guard bytes.u16(8) == FormatVersion.major else { throw .unsupportedMajor(bytes.u16(8)) }
    if let bit = FormatVersion.firstUnknownBit(bytes.u64(32), known: FormatVersion.knownIncompatibleBits) {
      throw .unknownIncompatibleBit(bit)
    }
    minorVersion = bytes.u16(10)
    compatibleBits = bytes.u64(16)
    readOnlyCompatibleBits = bytes.u64(24)
    incompatibleBits = bytes.u64(32)
    identifier = StoreIdentifier(high: bytes.u64(40), low: bytes.u64(48))
    incarnation = bytes.u64(56)
    revision = bytes.u64(64)
    epoch = bytes.u64(72)
    resetSequence = SequenceNumber(bytes.u64(80))
    firstLiveOrdinal = bytes.u64(88)
    lastCreatedOrdinal = bytes.u64(96)
    lastCreatedID = bytes.u64(104)
    anchor = Anchor(
      ordinal: bytes.u64(112), lsn: LSN(bytes.u64(120)), headTag: bytes.u64(128),
      sequence: SequenceNumber(bytes.u64(136)))
    durableMark = LSN(bytes.u64(144))
    closedCleanly = bytes.u8(152) == 1
    tailTag = bytes.u64(160)
    layers = []
    let rest = bytes.slice(Self.unnamedRange.lowerBound, Self.unnamedRange.count)
    if !rest.isAllZero { unnamed = [UInt8](rest) }
    guard bytes.u32(12) == 0, bytes.u8(152) <= 1, bytes.slice(153, 7).isAllZero, bytes.u32(172) == 0 else {
      throw .fieldOutOfRange("zero bytes")
    }
    guard revision % 2 == UInt64(slotNumber), revision < .max - 4 else { throw .fieldOutOfRange("revision") }
    guard firstLiveOrdinal >= 1, lastCreatedOrdinal < UInt64(Int64.max),
      firstLiveOrdinal <= lastCreatedOrdinal || lastCreatedOrdinal == 0
    else { throw .fieldOutOfRange("ordinals") }
    guard epoch < UInt64(Int64.max), resetSequence <= .max, anchor.sequence <= .max, anchor.lsn <= .max,
      durableMark <= .max
    else { throw .fieldOutOfRange("positions") }
    let layerCount = bytes.u32(168)
    guard layerCount <= UInt32(LayerEntry.countMax) else { throw .fieldOutOfRange("layer count") }
    for index in 0..<Int(layerCount) {
      guard let layer = LayerEntry(decoding: bytes, at: 176 + index * LayerEntry.encodedByteCount) else {
        throw .fieldOutOfRange("layer \(index)")
      }
      layers.append(layer)
    }
  }

  init(identifier: StoreIdentifier, incarnation: UInt64) {
    self.identifier = identifier
    self.incarnation = incarnation
    revision = 0
    epoch = 0
    resetSequence = .zero
    firstLiveOrdinal = 1
    lastCreatedOrdinal = 0
    lastCreatedID = 0
    anchor = .none
    durableMark = .zero
    closedCleanly = false
    tailTag = 0
    layers = []
  }
}
