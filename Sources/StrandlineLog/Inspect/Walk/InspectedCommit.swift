/// One commit as the inspector found it: its frames put together, whole or not.
@_spi(Engine) public struct InspectedCommit: Hashable, Sendable {
  @_spi(Engine) public enum Content: Hashable, Sendable {
    case records
    case reset(ResetPayload)
    case gap(GapPayload)
    /// A frame of another kind than DATA whose payload is damaged.
    case unreadable(FrameKind)
  }

  @_spi(Engine) public enum State: String, Hashable, Sendable {
    /// Every frame is there and verifies.
    case whole
    /// Bytes of one of its frames do not verify.
    case damaged
    /// Its first frames are not there.
    case beginningMissing
    /// Its last frames are not there.
    case endMissing
  }

  public var content: Content
  public var state: State
  public var sequence: SequenceNumber
  public var epoch: UInt64
  /// Milliseconds since 1970; nil where the frame that says so is missing.
  public var time: Int64?
  public var recordCount: Int
  public var frameCount: Int
  public var storedByteCount: Int64
  public var rawByteCount: Int64
  public var lsn: LSN
  public var offset: Int64
  /// Behind its last frame that was found.
  public var endOffset: Int64
  /// Head tag of the last frame.
  public var tag: UInt64
  /// What lies in front of it does not verify, or is not what its first frame follows.
  public var followsDamage: Bool

  public var byteCount: Int64 { endOffset - offset }
  public var endLSN: LSN { lsn.advanced(by: byteCount) }
}
