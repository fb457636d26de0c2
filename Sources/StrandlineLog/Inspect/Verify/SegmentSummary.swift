/// What a walk over one segment counted and found.
@_spi(Engine) public struct SegmentSummary: Hashable, Sendable {
  public var path: String
  /// Frames of each kind that verify, by the kind's number.
  public var frameCounts: [UInt8: Int] = [:]
  /// Whole commits: records, resets, gaps.
  public var commitCount = 0
  public var recordCount = 0
  public var storedByteCount: Int64 = 0
  public var rawByteCount: Int64 = 0
  public var firstSequence: SequenceNumber?
  public var lastSequence: SequenceNumber?
  /// Where the last RESET stands, if there is one.
  public var resetLSN: LSN?
  public var resetSequence: SequenceNumber?
  /// Frames that do not verify, and stretches in which none can be read.
  public var damageCount = 0
  /// Whole frames behind the first damage.
  public var laterFrameCount = 0

  init(path: String) { self.path = path }

  public var frameCount: Int { frameCounts.values.reduce(0, +) }

  mutating func count(_ commit: InspectedCommit) {
    let kind: FrameKind =
      switch commit.content {
      case .records: .data
      case .reset: .reset
      case .gap: .gap
      case .unreadable(let kind): kind
      }
    guard commit.state == .whole else {
      damageCount += 1
      return
    }
    if damageCount > 0 { laterFrameCount += commit.frameCount }
    frameCounts[kind.rawValue, default: 0] += commit.frameCount
    commitCount += 1
    recordCount += commit.recordCount
    storedByteCount += commit.storedByteCount
    rawByteCount += commit.rawByteCount
    firstSequence = firstSequence ?? commit.sequence
    lastSequence = commit.sequence
    if case .reset = commit.content {
      resetLSN = commit.lsn
      resetSequence = commit.sequence
    }
  }

  mutating func count(_ mark: InspectedFrame) {
    guard mark.isWhole else {
      damageCount += 1
      return
    }
    if damageCount > 0 { laterFrameCount += 1 }
    frameCounts[mark.header.kind.rawValue, default: 0] += 1
  }
}
