/// What a look at a segment's end found: the evidence a verdict rests on. The dump tool prints it.
@_spi(Engine) public struct TailEvidence: Hashable, Sendable {
  /// Behind the last frame that verifies and continues the history: X.
  public var verifiedEnd: LSN
  /// Behind the last complete commit: U. Nothing at or after it was ever acknowledged if the verdict is a cut.
  public var commitEnd: LSN
  /// The farthest position that anything says a sync had covered: F.
  public var promise: Promise
  /// Why the frame at `verifiedEnd` does not verify.
  public var stop: SegmentScanner.Stop
  /// The chain behind the last complete commit.
  public var state: ChainState
  public var fileByteCount: Int64
  /// Offset in the file behind which all is zero, as space ahead is; not in front of `verifiedEnd`.
  public var contentEnd: Int64
  /// Frames at or behind `verifiedEnd` whose header verifies by itself.
  public var laterFrameCount: Int
  /// Highest sequence number among them.
  public var laterSequenceMax: SequenceNumber
  /// A writer went on behind `verifiedEnd` while it was looked at: what lies there is in flight and proves nothing.
  public var isMoving: Bool
  /// Every byte behind `verifiedEnd` is zero.
  public var isZeroBehind: Bool
  /// Frames in front of `commitEnd` in this segment.
  public var frameCount: Int
  /// The largest promise that a frame in front of `commitEnd` carries.
  public var statedPromise: LSN

  /// A position and who vouches for it.
  public struct Promise: Hashable, Sendable {
    public enum Source: String, Hashable, Sendable {
      case none, frame, laterFrame, durableMark, anchor
    }

    public var lsn: LSN
    public var source: Source

    mutating func raise(to other: LSN, _ source: Source) {
      guard other > lsn else { return }
      lsn = other
      self.source = source
    }
  }
}
