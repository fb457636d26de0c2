// What a scheduler hears of the world outside. Each is a small protocol, so that tests and other platforms bring their own.
// A source calls back from any thread until what `start` answered is called.

/// Tells whether there is a path to the network.
public protocol PathMonitor: Sendable {
  /// Reports the path as it is now, soon, and then each change.
  func start(_ report: @escaping @Sendable (_ isSatisfied: Bool) -> Void) throws -> @Sendable () -> Void
}

/// Tells when the app comes to the foreground.
public protocol ForegroundSource: Sendable {
  func start(_ cameForward: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void
}

/// Tells when others have written; what, it does not say.
public protocol RealtimeSource: Sendable {
  func subscribe(topic: String, _ rang: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void
}

/// The client of a scheduler.
public protocol ScheduledClient: Sendable {
  func sync() async throws
  /// Reports each number of queued mutations after a local write.
  func onQueueDepth(_ report: @escaping @Sendable (Int) -> Void) throws -> @Sendable () -> Void
  /// ``SchedulerSettings/refreshSession`` has no token: if the server refused the last one, the user has to sign in.
  func renewalGivenUp()
  /// Whether the user has to sign in before a request makes sense. Until then no renewal is asked for by the timer and the other sources.
  var isSignInGivenUp: Bool { get }
}

extension ScheduledClient {
  /// A client that does not know.
  public var isSignInGivenUp: Bool { false }
}

extension SyncClient: ScheduledClient {
  public func onQueueDepth(_ report: @escaping @Sendable (Int) -> Void) throws -> @Sendable () -> Void {
    try ensureOpen()
    return on { event in
      if case .queueDepth(let depth) = event { report(depth) }
    }
  }
}

/// The time of a scheduler.
public protocol SchedulerClock: Sendable {
  /// Milliseconds since 1970.
  func milliseconds() -> Int64
  /// Calls `body` once, after `delay`, unless what is answered is called before.
  func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// The machine's time.
public struct MachineSchedulerClock: SchedulerClock {
  public init() {}

  public func milliseconds() -> Int64 { MachineClock().milliseconds() }

  public func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let task = Task {
      guard (try? await Task.sleep(for: delay)) != nil else { return }
      body()
    }
    return { task.cancel() }
  }
}
