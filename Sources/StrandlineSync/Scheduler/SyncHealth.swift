/// How syncing is doing, as a scheduler sees it.
public struct SyncHealth: Hashable, Sendable {
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// There is no path to the network: every wake waits.
    case offline
    /// A run is under way.
    case syncing
    /// A run is under way, and has been for longer than two intervals.
    case stalled
    /// The last run failed; the next comes later than usual.
    case backoff
    case idle
  }

  /// The error that ended the last run that failed.
  public struct Failure: Hashable, Sendable {
    /// The catalogue's name, or the transport's where that is known.
    public var code: String?
    public var message: String
    /// Milliseconds since 1970.
    public var at: Int64

    public init(code: String?, message: String, at: Int64) {
      self.code = code
      self.message = message
      self.at = at
    }
  }

  public var phase = Phase.idle
  public var consecutiveFailures = 0
  /// When the timer asks for the next run; milliseconds since 1970. Nil without a timer.
  public var nextAttemptAt: Int64?
  /// When the run that is under way began.
  public var attemptStartedAt: Int64?
  public var lastSuccessAt: Int64?
  public var lastError: Failure?
  /// Whether the client waits for a reset, as ``SchedulerSettings/needsReset`` said after the last attempt.
  public var needsReset = false

  public init() {}
}
