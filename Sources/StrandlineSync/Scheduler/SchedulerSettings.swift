/// How a scheduler is set up.
public struct SchedulerSettings: Sendable {
  /// Between two runs while all is well. Default 15 s. Zero or less: no timer, runs come from wakes alone.
  public var pollInterval: Duration = .seconds(15)
  /// Whether ``pathMonitor`` is listened to.
  public var monitorPath = true
  public var pathMonitor: (any PathMonitor)?
  /// Whether ``foregroundSource`` is listened to.
  public var observeForeground = true
  public var foregroundSource: (any ForegroundSource)?
  public var realtime: (any RealtimeSource)?
  /// One topic each, `kizunasync:<table>`.
  public var realtimeTables: [String] = []
  /// Called before each run: makes sure that there is a token that will do. False skips the run; an error counts as a failed run.
  public var refreshSession: @Sendable () async throws -> Bool
  /// In place of the client's `sync()`.
  public var sync: (@Sendable () async throws -> Void)?
  /// Told of each error of a run, and of subscriptions that were refused.
  public var onError: (@Sendable (any Error) -> Void)?
  /// From 0 to 1: how far into the second half of a delay the next run falls. Default random.
  public var jitterSource: @Sendable () -> Double = { Double.random(in: 0...1) }
  /// Read after every attempt.
  public var needsReset: (@Sendable () async -> Bool)?
  public var clock: any SchedulerClock = MachineSchedulerClock()

  public init(refreshSession: @escaping @Sendable () async throws -> Bool) { self.refreshSession = refreshSession }
}
