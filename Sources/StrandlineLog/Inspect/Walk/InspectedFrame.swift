/// One frame as the inspector found it, whole or not.
@_spi(Engine) public struct InspectedFrame: Hashable, Sendable {
  /// Proved by its tag.
  public var header: FrameHeader
  public var headTag: UInt64
  public var lsn: LSN
  /// Byte in the file.
  public var offset: Int64
  /// In force behind the frame.
  public var epoch: UInt64
  /// Whether it begins a commit; nil where what lies in front of it is damaged and the payload does not tell either.
  public var isFirst: Bool?
  /// Why it does not continue the frame in front of it; nil also for the first frame behind damage, which has nothing to
  /// continue.
  public var chainBreak: ChainState.Break?
  public var body: Body
  /// The first frame behind bytes that do not verify.
  public var followsDamage: Bool

  @_spi(Engine) public enum Body: Hashable, Sendable {
    case whole
    /// The file ends first.
    case cutShort(missing: Int64)
    case damaged(FrameBody.Defect, SingleBit?)
  }

  /// Where its payload's parts lie; nil unless the body is whole.
  var layout: FrameBody.Layout?

  /// Header, body and chain are right.
  public var isWhole: Bool { body == .whole && chainBreak == nil }
  /// Behind its last byte.
  public var endOffset: Int64 { offset + Int64(header.frameByteCount) }
  public var endLSN: LSN { lsn.advanced(by: Int64(header.frameByteCount)) }
  /// Milliseconds since 1970, for the first frame of a commit.
  public var time: Int64? { layout?.time }
  public var reset: ResetPayload? { layout?.reset }
  public var gap: GapPayload? { layout?.gap }
}

/// Bytes of a segment in which no frame can be read.
@_spi(Engine) public struct DamagedStretch: Hashable, Sendable {
  public var offset: Int64
  public var lsn: LSN
  public var byteCount: Int64
  /// Why the header at the start does not count.
  public var reason: SegmentScanner.Stop
  /// The header at the start, where it proves itself and only the rest of its frame is missing.
  public var header: FrameHeader?
  /// The bit that explains it, byte counted from `offset`.
  public var singleBit: SingleBit?
  /// File offset of the first byte that is not zero; nil if all are.
  public var firstNonZero: Int64?

  public var isZero: Bool { firstNonZero == nil }
  public var endOffset: Int64 { offset + byteCount }
}
