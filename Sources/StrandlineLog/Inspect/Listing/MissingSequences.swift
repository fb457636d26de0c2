/// Sequence numbers that the live log ought to hold and does not.
@_spi(Engine) public struct MissingSequences: Hashable, Sendable {
  public var first: SequenceNumber
  public var last: SequenceNumber
  public var reason: Reason
  /// The segment in which they were noticed, and where.
  public var file: String
  public var offset: Int64?

  @_spi(Engine) public enum Reason: String, Hashable, Sendable {
    /// A GAP frame of an earlier salvage stands for them.
    case salvaged
    /// Bytes that do not verify stand where they were.
    case damaged
    /// Some of the commit's frames are not there.
    case incomplete
    /// The segment that held them is not there, or cannot be read.
    case missing
  }
}

/// Finds them, in one walk over the live commits.
@_spi(Engine) public struct MissingSequenceSearch {
  /// The number that comes next; nil until the first segment tells where the log begins.
  private var expected: SequenceNumber?
  private var sawDamage = false
  private var sawIncomplete = false
  private var sawSegment = false
  private var file = ""
  /// Highest number that a segment's header or META speaks of.
  private var known: SequenceNumber
  /// The epoch in force. What is missing of older ones is no loss.
  private let epoch: UInt64

  public init(_ survey: StoreSurvey, epoch: UInt64) {
    self.epoch = epoch
    let root = survey.root.root
    known = root.map { max($0.resetSequence, $0.anchor.sequence) } ?? .zero
  }

  /// Takes the next element of the walk; answers what is missing in front of it, or is it.
  public mutating func take(_ element: StoreWalk.Element) -> [MissingSequences] {
    switch element {
    case .segment(let segment):
      guard let header = segment.header else { return [] }
      file = segment.path
      known = max(known, header.baseSequence)
      if expected == nil || header.epoch < epoch { expected = header.baseSequence.next }
      let missing = missing(through: header.baseSequence, at: 0)
      sawSegment = true
      return missing
    case .damage(let stretch, .live):
      if !stretch.isZero || sawSegment { sawDamage = true }
      return []
    case .commit(let commit, .live):
      if case .reset = commit.content { expected = commit.sequence }
      return take(commit)
    case .commit(let commit, .reset):
      expected = commit.sequence.next
      return []
    case .mark(let frame, .live):
      // A mark is written behind a sync: the commit it names was confirmed, whatever is left of it.
      if frame.isWhole, frame.header.kind == .syncMark, frame.epoch == epoch {
        known = max(known, frame.header.sequence)
      }
      return []
    default:
      return []
    }
  }

  private mutating func take(_ commit: InspectedCommit) -> [MissingSequences] {
    guard commit.state == .whole else {
      known = max(known, commit.sequence)
      if commit.state == .damaged { sawDamage = true } else { sawIncomplete = true }
      return []
    }
    let firstOwn: SequenceNumber
    var own: MissingSequences?
    if case .gap(let gap) = commit.content {
      firstOwn = gap.first
      own = MissingSequences(
        first: gap.first, last: gap.last, reason: .salvaged, file: file, offset: commit.offset)
    } else {
      firstOwn = commit.sequence
    }
    var result: [MissingSequences] = []
    if firstOwn > .zero { result = missing(through: SequenceNumber(firstOwn.rawValue - 1), at: commit.offset) }
    if let own { result.append(own) }
    if commit.sequence >= expected ?? .zero { expected = commit.sequence.next }
    sawDamage = false
    sawIncomplete = false
    sawSegment = false
    return result
  }

  /// What is missing at the end, as far as anything tells.
  public mutating func finish() -> [MissingSequences] { missing(through: known, at: nil) }

  private mutating func missing(through last: SequenceNumber, at offset: Int64?) -> [MissingSequences] {
    guard let first = expected, first <= last else { return [] }
    expected = last.next
    let reason: MissingSequences.Reason = sawDamage ? .damaged : sawIncomplete ? .incomplete : .missing
    return [MissingSequences(first: first, last: last, reason: reason, file: file, offset: offset)]
  }
}
