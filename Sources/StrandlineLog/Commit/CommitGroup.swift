/// A commit, or a wish for a sync, that waits to be written.
final class PendingCommit: @unchecked Sendable {
  /// Empty for a wish for a sync.
  let frames: [EncodedFrame]
  let durability: Durability
  let byteCount: Int
  /// The number the commit is to get; with another one it is refused. Nil: any.
  let expected: SequenceNumber?
  /// Set by the leader before the group is woken, read by the waiter after.
  var outcome: Result<Position, LogError> = .failure(.closed)
  /// Resumed instead of a thread being woken.
  var continuation: UnsafeContinuation<Void, Never>?

  init(frames: [EncodedFrame], durability: Durability, expected: SequenceNumber? = nil) {
    self.frames = frames
    self.durability = durability
    self.expected = expected
    byteCount = frames.reduce(0) { $0 + $1.byteCount }
  }
}

/// The commits that are written, and synced, together.
///
/// Members join under the queue's lock until a leader takes the group; afterwards it is the leader's. All sleeping threads wait on
/// one word, so waking them is one system call.
final class CommitGroup: @unchecked Sendable {
  /// Values of ``word``.
  enum Phase {
    static let gathering: UInt32 = 0
    /// One of the sleepers is to lead.
    static let needsLeader: UInt32 = 1
    static let led: UInt32 = 2
    static let done: UInt32 = 3
  }

  static let memberCountMax = 1000
  static let byteCountMax = 4 << 20

  let word = WakeWord()
  private(set) var members: [PendingCommit] = []
  private(set) var byteCount = 0
  /// Members whose thread sleeps on ``word``.
  private(set) var threadCount = 0

  var isFull: Bool { members.count >= Self.memberCountMax || byteCount >= Self.byteCountMax }

  func add(_ member: PendingCommit) {
    members.append(member)
    byteCount += member.byteCount
    if member.continuation == nil { threadCount += 1 }
  }

  /// Answers everybody. Outcomes have been set.
  ///
  /// - Parameter isLedBySleeper: one of the threads counted is the leader, and awake.
  func finish(ledBySleeper isLedBySleeper: Bool) {
    word.set(Phase.done, waking: threadCount > (isLedBySleeper ? 1 : 0) ? .max : 0)
    for member in members { member.continuation?.resume() }
  }
}
