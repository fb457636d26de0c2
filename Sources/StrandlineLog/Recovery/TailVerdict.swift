/// What the last bytes of a segment are: the torn-tail decision.
///
/// A table over facts, nothing else: no I/O, no order of discovery. Docs/Recovery.md shows it; TailVerdictTests walks all
/// combinations and compares them with a second table written by hand.
@_spi(Engine) public enum TailVerdict: Hashable, Sendable {
  /// A read failed: nothing is known, nothing is changed.
  case readFailed
  /// Bytes that must be there are not. The number is the rule's in Docs/Recovery.md.
  case corrupt(rule: Int)
  /// A segment that was never finished: remove it.
  case unfinishedCreation
  /// Nothing behind the last frame but space kept ahead.
  case cleanEnd
  /// What follows was never acknowledged: cut it.
  case torn

  public init(_ facts: TailFacts) {
    // The first that holds.
    if facts.readFailed {
      self = .readFailed
    } else if facts.isClosed && facts.differsFromSuccessor {
      self = .corrupt(rule: 2)
    } else if facts.isNamedByRoot && facts.isMissingOrHeaderless {
      self = .corrupt(rule: 3)
    } else if facts.isMissingOrHeaderless {
      self = facts.isNewest ? .unfinishedCreation : .corrupt(rule: 3)
    } else if facts.rootIsAhead {
      self = .corrupt(rule: 5)
    } else if facts.breaksPromise {
      self = .corrupt(rule: 6)
    } else if facts.differsFromCleanClose {
      self = .corrupt(rule: 7)
    } else if facts.isZeroBehind {
      self = .cleanEnd
    } else {
      self = .torn
    }
  }
}

/// What is known about the end of a segment.
@_spi(Engine) public struct TailFacts: Hashable, Sendable {
  /// Some byte could not be read.
  public var readFailed = false
  /// A valid successor names this segment.
  public var isClosed = false
  /// Closed, and it does not end where and as the successor says, or bytes other than zero follow.
  public var differsFromSuccessor = false
  /// META names the segment as the last one created.
  public var isNamedByRoot = false
  /// The file is not there, or neither copy of its header verifies.
  public var isMissingOrHeaderless = false
  /// Its ordinal is the highest.
  public var isNewest = false
  /// META's epoch is above the log's, or the log lacks the RESET that META names.
  public var rootIsAhead = false
  /// The file is shorter than, or its frames verify only to a place in front of, what a sync had confirmed.
  public var breaksPromise = false
  /// META says that the store was closed cleanly with another last frame.
  public var differsFromCleanClose = false
  /// Every byte behind the last frame that verifies is zero.
  public var isZeroBehind = false

  public init() {}
}
