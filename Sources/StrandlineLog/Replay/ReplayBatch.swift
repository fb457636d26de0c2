/// A run of whole frames in log order, verified and decoded, as replay hands them to the caller.
///
/// Valid during the call only. The records' memory is used again for a later batch unless ``takeBytes()`` moves it out.
public struct ReplayBatch: ~Copyable {
  /// One frame. All of a commit's frames carry its sequence number; its records become visible together with the last.
  public struct Frame: Sendable {
    public enum Kind: Hashable, Sendable {
      /// Records of a commit.
      case records
      /// Everything delivered before is void; ``ReplayBatch/reset(of:)`` tells more. The frame's records live on.
      case reset
      /// Numbers that salvage could not keep: from ``ReplayBatch/gap(of:)`` on.
      case gap
    }

    public var kind: Kind
    public var isFirst: Bool
    public var isLast: Bool
    public var recordCount: Int
    public var sequence: SequenceNumber
    public var epoch: UInt64
    /// Milliseconds since 1970; 0 unless `isFirst`.
    public var time: Int64
    /// Head tag; of a commit's last frame it is the tag of the commit's ``Position``.
    public var tag: UInt64
    public var lsn: LSN
    /// The list of records in ``ReplayBatch/bytes``.
    public var records: Range<Int>
    /// Index into the batch's resets or gaps.
    var detail: Int32
  }

  public internal(set) var frames: [Frame]
  var resets: [ResetPayload]
  var gaps: [GapPayload]
  var storage: DecodedBytes

  /// The decoded payloads, one after another.
  public var bytes: UnsafeRawBufferPointer { storage.bytes }

  /// The records of `frame`, which is one of ``frames``.
  @inlinable
  public func records(of frame: Frame) -> RecordList {
    RecordList(proved: UnsafeRawBufferPointer(rebasing: bytes[frame.records]), count: frame.recordCount)
  }

  /// What a `.reset` frame carries besides its records.
  public func reset(of frame: Frame) -> ResetPayload? {
    frame.kind == .reset ? resets[Int(frame.detail)] : nil
  }

  /// What a `.gap` frame says.
  public func gap(of frame: Frame) -> GapPayload? {
    frame.kind == .gap ? gaps[Int(frame.detail)] : nil
  }

  /// Moves the memory of ``bytes`` to the caller, who may keep it as long as it likes. ``bytes`` stays readable through it.
  public mutating func takeBytes() -> DecodedBytes {
    isTaken = true
    return storage
  }

  private(set) var isTaken = false

  init(frames: [Frame], resets: [ResetPayload], gaps: [GapPayload], storage: DecodedBytes) {
    self.frames = frames
    self.resets = resets
    self.gaps = gaps
    self.storage = storage
  }
}
