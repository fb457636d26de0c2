/// Where a walk over frames stands: what the next frame has to say to continue the history.
///
/// A frame whose own tags are right may still be foreign: left behind by an earlier use of the place, by another epoch, or
/// by a hole in front of it. The chain tells.
@_spi(Engine) public struct ChainState: Hashable, Sendable {
  /// Position behind the last accepted frame.
  public var lsn: LSN
  /// Head tag of the last accepted frame.
  public var tag: UInt64
  /// Of the last accepted commit, complete or not.
  public var sequence: SequenceNumber
  public var epoch: UInt64
  /// The last accepted frame belongs to a commit that goes on.
  public var isInsideCommit = false
  /// Where the last commit that is not complete begins; equal to `lsn` outside one.
  public var commitStart: LSN
  /// Head tag of the last frame of the last complete commit, for positions.
  public var commitTag: UInt64
  public var reset: SegmentHeader.LastReset

  /// In front of the first frame of a segment.
  init(startOf header: SegmentHeader, commitTag: UInt64 = 0) {
    lsn = header.firstFrameLSN
    tag = header.predecessor.headTag
    sequence = header.baseSequence
    epoch = header.epoch
    commitStart = header.firstFrameLSN
    self.commitTag = commitTag
    reset = header.reset
  }

  /// Why a frame with right tags does not continue the history.
  public enum Break: Error, Hashable, Sendable {
    case previousTag(expected: UInt64, found: UInt64)
    case sequence(expected: SequenceNumber, found: SequenceNumber)
    case epoch(expected: UInt32, found: UInt32)
    /// Another kind of frame inside a commit that goes on.
    case unfinishedCommit
  }

  /// The sequence number of the last complete commit.
  public var completeSequence: SequenceNumber {
    isInsideCommit ? SequenceNumber(sequence.rawValue - 1) : sequence
  }

  /// Takes the next frame, or says why it is not the next.
  mutating func accept(_ header: FrameHeader, tag headTag: UInt64) throws(Break) {
    guard header.previousTag == tag else { throw .previousTag(expected: tag, found: header.previousTag) }
    let currentEpoch = UInt32(truncatingIfNeeded: header.kind == .reset ? epoch &+ 1 : epoch)
    guard header.epoch == currentEpoch else { throw .epoch(expected: currentEpoch, found: header.epoch) }
    if isInsideCommit {
      guard header.kind == .data else { throw .unfinishedCommit }
      guard header.sequence == sequence else { throw .sequence(expected: sequence, found: header.sequence) }
    } else {
      switch header.kind {
      case .data, .reset:
        guard header.sequence == sequence.next else {
          throw .sequence(expected: sequence.next, found: header.sequence)
        }
        sequence = header.sequence
      case .gap:
        guard header.sequence > sequence else { throw .sequence(expected: sequence.next, found: header.sequence) }
        sequence = header.sequence
      default:
        guard header.sequence == sequence else { throw .sequence(expected: sequence, found: header.sequence) }
      }
    }
    if header.kind == .reset {
      epoch += 1
      reset = SegmentHeader.LastReset(sequence: header.sequence, headTag: headTag)
    }
    tag = headTag
    lsn = lsn.advanced(by: Int64(header.frameByteCount))
    isInsideCommit = header.continues
    if !isInsideCommit {
      commitStart = lsn
      if header.kind == .data || header.kind == .reset || header.kind == .gap { commitTag = headTag }
    }
  }
}
