internal import StrandlineProtocol

/// Decides what becomes of a slice that the server refuses for good. Lives as long as the client is open, or whoever opens it anew for each
/// run.
@_spi(Engine) public struct DeadLetterBudget: Hashable, Sendable {
  /// Refusals in a row after which a write is given up.
  static let failureCountMax = 5

  enum Decision: Hashable, Sendable {
    /// The run ends with the refusal.
    case fail
    /// The same again, with a shorter slice.
    case retry
    /// The slice is given up, for this reason; the run goes on behind it.
    case drop(reason: String)
  }

  /// Refusals in a row of the slice at ``head``.
  private var failureCount = 0
  /// The mutation at the head of the slice that failed last.
  private var head: String?
  /// The head is sent alone, to find the culprit.
  private(set) var isolatesHead = false
  /// What the server was found to take; kept until the queue is empty.
  private var entryCountMax: Int?

  /// Nothing was refused yet.
  public init() {}

  /// Most entries of the next slice.
  var sliceEntryCountMax: Int { isolatesHead ? 1 : min(entryCountMax ?? Slice.entryCountMax, Slice.entryCountMax) }

  /// The server refused the slice for good.
  mutating func refused(_ slice: Slice, code: TransportCode?, message: String) -> Decision {
    let first = slice.entries[0].mutationID
    if head != first {
      head = first
      failureCount = 0
    }
    let isTooLarge = code == .batchTooLarge
    guard slice.isOwned else {
      if isTooLarge { entryCountMax = max(1, slice.entries.count / 2) } else { isolatesHead = true }
      return .retry
    }
    if isTooLarge, slice.isAtomic {
      forgetHead()
      return .drop(reason: message)
    }
    failureCount += 1
    if failureCount < Self.failureCountMax { return .fail }
    forgetHead()
    return .drop(reason: SyncErrorCode.permanentTransport.rawValue)
  }

  /// The answer to the slice was more than is taken. Which of its writes were applied is not known; sent again they are answered again.
  ///
  /// - Returns: whether a shorter slice can be sent.
  mutating func answerWasTooLarge(_ slice: Slice) -> Bool {
    if slice.isOwned { return false }
    entryCountMax = max(1, slice.entries.count / 2)
    return true
  }

  /// The server answered the slice.
  mutating func succeeded() { forgetHead() }

  /// Nothing is queued.
  mutating func queueIsEmpty() { entryCountMax = nil }

  private mutating func forgetHead() {
    failureCount = 0
    head = nil
    isolatesHead = false
  }
}

extension SyncClient {
  /// What was refused so far.
  @_spi(Engine) public var deadLetterBudget: DeadLetterBudget {
    get { withMemory { $0.budget } }
    set { withMemory { $0.budget = newValue } }
  }
}
