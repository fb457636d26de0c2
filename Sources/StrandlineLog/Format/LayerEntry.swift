/// A layer on disk, as META and RESET records name it.
///
/// The log keeps, copies and removes layer files by these entries; what is in them is the business of the layer above.
public struct LayerEntry: Hashable, Sendable {
  /// Random, never reused; also in the file's name.
  public var id: UInt64
  /// Of the layer above's own counting.
  public var level: UInt8
  /// The first commit the layer covers.
  public var firstSequence: SequenceNumber
  /// The last commit the layer covers; also in the file's name.
  public var lastSequence: SequenceNumber
  /// Exact size of the file.
  public var byteCount: UInt64
  /// Tag of the file's end, kept for the layer above.
  public var footerTag: UInt64
  /// Seed of the file's tags, kept for the layer above.
  public var salt: UInt64

  public init(
    id: UInt64, level: UInt8, firstSequence: SequenceNumber, lastSequence: SequenceNumber, byteCount: UInt64,
    footerTag: UInt64, salt: UInt64
  ) {
    self.id = id
    self.level = level
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.byteCount = byteCount
    self.footerTag = footerTag
    self.salt = salt
  }

  /// At most this many layers form a root.
  public static let countMax = 32
  static let encodedByteCount = 64

  /// The file's name in the store's directory.
  public var fileName: String { LayerFileName(lastSequence: lastSequence, id: id).description }

  //  byte 0    8       9      16          24         32          40          48     56     64
  //       +----+-------+------+-----------+----------+-----------+-----------+------+------+
  //       | id | level | zero | first seq | last seq | byteCount | footerTag | salt | zero |
  //       +----+-------+------+-----------+----------+-----------+-----------+------+------+
  func encode(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    bytes.put(id, at: offset)
    bytes.put(UInt64(level), at: offset + 8)
    bytes.put(firstSequence.rawValue, at: offset + 16)
    bytes.put(lastSequence.rawValue, at: offset + 24)
    bytes.put(byteCount, at: offset + 32)
    bytes.put(footerTag, at: offset + 40)
    bytes.put(salt, at: offset + 48)
    bytes.put(UInt64(0), at: offset + 56)
  }

  /// Nil where a field that must be zero is not, or the sequence numbers run backwards.
  init?(decoding bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard bytes.u64(offset + 8) <= 0xFF, bytes.u64(offset + 56) == 0 else { return nil }
    self.init(
      id: bytes.u64(offset), level: bytes.u8(offset + 8), firstSequence: SequenceNumber(bytes.u64(offset + 16)),
      lastSequence: SequenceNumber(bytes.u64(offset + 24)), byteCount: bytes.u64(offset + 32),
      footerTag: bytes.u64(offset + 40), salt: bytes.u64(offset + 48))
    guard firstSequence <= lastSequence, lastSequence <= .max, byteCount <= UInt64(Int64.max) else { return nil }
  }
}
