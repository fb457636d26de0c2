@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// Decides when a client syncs: on a timer, when there is a local write, a path, a foreground, a ring of others; never twice at once.
///
/// ```swift
/// let scheduler = SyncScheduler(client: client, refreshSession: { await session.refresh() })
/// scheduler.start()
/// ```
///
/// The client itself never repeats anything; all waiting and trying again is here. A client that is opened anew needs ``stop()`` and
/// ``start()``.
public final class SyncScheduler: Sendable {
  public enum WakeReason: String, Sendable, CaseIterable {
    case poll, foreground, path, doorbell, localWrite, start
  }

  private struct Run {
    var tickCount = 0
    var isStalled = false
    /// A wake came meanwhile; however many, one run follows.
    var hasTrailer = false
  }

  private struct State {
    var settings: SchedulerSettings
    var isStarted = false
    /// Another one after each start and stop: what an earlier one armed is no longer listened to.
    var round = 0
    var run: Run?
    var failureCount = 0
    /// The application has asked since the last run: a renewal may be tried though sign-in was given up.
    var mayRenew = false
    /// What the server asked for when it last refused.
    var retryDelay: Duration?
    /// Nil while nothing was reported.
    var isPathSatisfied: Bool?
    /// A wake that the gate holds back.
    var isWakeHeld = false
    var monitorNumber = 0
    var timerNumber = 0
    var cancelTimer: (@Sendable () -> Void)?
    var cancelMonitor: (@Sendable () -> Void)?
    var cancels: [@Sendable () -> Void] = []
    var health = SyncHealth()

    var phase: SyncHealth.Phase {
      if isPathSatisfied == false { return .offline }
      if let run { return run.isStalled ? .stalled : .syncing }
      return failureCount > 0 ? .backoff : .idle
    }
  }

  private let client: any ScheduledClient
  private let state: Lock<State>
  private let board = HealthBoard()

  public init(client: any ScheduledClient, settings: SchedulerSettings) {
    self.client = client
    state = Lock(State(settings: settings))
  }

  public convenience init(
    client: any ScheduledClient, refreshSession: @escaping @Sendable () async throws -> Bool
  ) {
    self.init(client: client, settings: SchedulerSettings(refreshSession: refreshSession))
  }

  deinit { stop() }

  // MARK: Start and stop

  /// Listens to everything that is set up, and asks for a run. A second start does nothing.
  ///
  /// What refuses to be listened to is told to ``SchedulerSettings/onError``; the rest goes on.
  public func start() {
    let round: Int? = state.withLock { state in
      guard !state.isStarted else { return nil }
      state.isStarted = true
      state.mayRenew = true
      state.round += 1
      return state.round
    }
    guard let round else { return }
    rearm(round)
    if monitorPath { startMonitor(round) }
    let settings = settings
    if settings.observeForeground, let source = settings.foregroundSource {
      listen(round) { try source.start { [weak self] in self?.wake(.foreground, in: round) } }
    }
    if let realtime = settings.realtime {
      for table in settings.realtimeTables {
        listen(round) {
          try realtime.subscribe(topic: "kizunasync:\(table)") { [weak self] in self?.wake(.doorbell, in: round) }
        }
      }
    }
    listen(round) {
      try client.onQueueDepth { [weak self] depth in
        if depth > 0 { self?.wake(.localWrite, in: round) }
      }
    }
    wake(.start, in: round)
  }

  /// Lets go of everything. A run that is under way goes on to its end, and none follows it.
  public func stop() {
    let cancels: [@Sendable () -> Void] = change { state in
      guard state.isStarted else { return [] }
      state.isStarted = false
      state.round += 1
      state.isWakeHeld = false
      state.isPathSatisfied = nil
      state.run?.hasTrailer = false
      state.health.nextAttemptAt = nil
      defer {
        state.cancels = []
        state.cancelTimer = nil
        state.cancelMonitor = nil
      }
      return state.cancels + [state.cancelTimer, state.cancelMonitor].compactMap { $0 }
    }
    for cancel in cancels { cancel() }
  }

  /// Asks for a run now, if the scheduler was started. While one is under way, one more follows it.
  ///
  /// Once sign-in was given up (``SyncSession/State/waitingForToken``) only this, another start, another
  /// ``SchedulerSettings/refreshSession`` and another token bring a further renewal; the timer and the other sources do not.
  public func wake(_ reason: WakeReason = .doorbell) {
    let round = state.withLock { state in
      state.mayRenew = true
      return state.round
    }
    wake(reason, in: round)
  }

  // MARK: Health

  public func health() -> SyncHealth { state.withLock { $0.health } }

  /// Calls `body` with the health as it is, and then with each change, in order, on any thread.
  ///
  /// - Returns: ends that; may be called again.
  @discardableResult
  public func onHealth(_ body: @escaping @Sendable (SyncHealth) -> Void) -> @Sendable () -> Void {
    let number = state.withLock { board.add(body, $0.health) }
    board.deliver()
    return { [board] in board.remove(number) }
  }

  // MARK: Settings that may change at any time

  /// Assigning starts the timer anew.
  public var pollInterval: Duration {
    get { settings.pollInterval }
    set {
      state.withLock { $0.settings.pollInterval = newValue }
      rearm()
    }
  }

  /// Assigning starts the timer anew. Where sign-in was given up the next run asks it once.
  public var refreshSession: @Sendable () async throws -> Bool {
    get { settings.refreshSession }
    set {
      state.withLock { state in
        state.settings.refreshSession = newValue
        state.mayRenew = true
      }
      rearm()
    }
  }

  public var sync: (@Sendable () async throws -> Void)? {
    get { settings.sync }
    set { state.withLock { $0.settings.sync = newValue } }
  }

  public var onError: (@Sendable (any Error) -> Void)? {
    get { settings.onError }
    set { state.withLock { $0.settings.onError = newValue } }
  }

  /// Off: the path is no longer asked for, and what waited for it is done.
  public var monitorPath: Bool {
    get { settings.monitorPath }
    set {
      let (round, hasChanged) = state.withLock { state in
        defer { state.settings.monitorPath = newValue }
        return (state.round, state.settings.monitorPath != newValue && state.isStarted)
      }
      guard hasChanged else { return }
      if newValue { startMonitor(round) } else { endMonitor(round) }
    }
  }

  private var settings: SchedulerSettings { state.withLock { $0.settings } }

  // MARK: The path

  private func startMonitor(_ round: Int) {
    guard let monitor = settings.pathMonitor else { return }
    let number = state.withLock { state in
      state.monitorNumber += 1
      return state.monitorNumber
    }
    do {
      let cancel = try monitor.start { [weak self] isSatisfied in self?.path(isSatisfied, number, round) }
      let isKept = state.withLock { state in
        guard state.round == round, state.isStarted, state.monitorNumber == number, state.settings.monitorPath else {
          return false
        }
        state.cancelMonitor = cancel
        return true
      }
      if !isKept { cancel() }
    } catch {
      settings.onError?(error)
    }
  }

  private func endMonitor(_ round: Int) {
    let (cancel, wasHeld) = change { state in
      state.monitorNumber += 1
      state.isPathSatisfied = nil
      defer {
        state.cancelMonitor = nil
        state.isWakeHeld = false
      }
      return (state.cancelMonitor, state.isWakeHeld)
    }
    cancel?()
    if wasHeld { wake(.path, in: round) }
  }

  private func path(_ isSatisfied: Bool, _ number: Int, _ round: Int) {
    let isNews = change { state in
      guard state.round == round, state.isStarted, state.monitorNumber == number else { return false }
      let isNews = state.isPathSatisfied != isSatisfied
      state.isPathSatisfied = isSatisfied
      if isSatisfied { state.isWakeHeld = false }
      return isNews && isSatisfied
    }
    if isNews { wake(.path, in: round) }
  }

  // MARK: Wakes and runs

  private func wake(_ reason: WakeReason, in round: Int) {
    enum Next { case nothing, rearm, run }
    let next: Next = change { state in
      guard state.isStarted, state.round == round else { return .nothing }
      guard state.isPathSatisfied != false else {
        state.isWakeHeld = true
        return reason == .poll ? .rearm : .nothing
      }
      if reason != .poll { state.failureCount = 0 }
      guard var run = state.run else {
        begin(&state)
        return .run
      }
      if reason != .poll {
        run.hasTrailer = true
      } else {
        run.tickCount += 1
        if run.tickCount == 2 {
          run.isStalled = true
          run.hasTrailer = true
          state.failureCount += 1
        }
      }
      state.run = run
      return .rearm
    }
    switch next {
    case .nothing: return
    case .rearm: rearm(round)
    case .run:
      rearm(round)
      Task { await self.run() }
    }
  }

  private func begin(_ state: inout State) {
    state.run = Run()
    state.health.attemptStartedAt = state.settings.clock.milliseconds()
  }

  /// Runs until no more is asked for.
  private func run() async {
    while true {
      let settings = settings
      var outcome = Outcome.skipped
      let mayRenew = state.withLock { state in
        defer { state.mayRenew = false }
        return state.mayRenew
      }
      do {
        if client.isSignInGivenUp && !mayRenew {
          // Nothing new would come of another renewal, and no request would be made.
        } else if try await settings.refreshSession() {
          if let sync = settings.sync { try await sync() } else { try await client.sync() }
          outcome = .success
        } else {
          client.renewalGivenUp()
        }
      } catch {
        outcome = .failure(error)
      }
      let needsReset = await settings.needsReset?() ?? false
      if case .failure(let error) = outcome { self.settings.onError?(error) }
      guard finish(outcome, needsReset: needsReset) else { return }
    }
  }

  private enum Outcome {
    case success, skipped
    case failure(any Error)
  }

  /// Whether another run follows.
  private func finish(_ outcome: Outcome, needsReset: Bool) -> Bool {
    let (follows, round) = change { state in
      let now = state.settings.clock.milliseconds()
      let run = state.run ?? Run()
      state.health.attemptStartedAt = nil
      state.health.needsReset = needsReset
      switch outcome {
      case .success:
        state.failureCount = 0
        state.retryDelay = nil
        state.health.lastSuccessAt = now
      case .failure(let error):
        // A run that was found stalled has been counted.
        if !run.isStalled { state.failureCount += 1 }
        state.retryDelay = (error as? SyncError)?.retryAfter
        state.health.lastError = SyncHealth.Failure(error, at: now)
      case .skipped: break
      }
      state.run = nil
      let follows = run.hasTrailer && state.isStarted && state.isPathSatisfied != false
      if follows { begin(&state) } else if run.hasTrailer, state.isStarted { state.isWakeHeld = true }
      return (follows, state.round)
    }
    rearm(round)
    return follows
  }

  // MARK: The timer

  private func rearm() { rearm(state.withLock { $0.round }) }

  /// Arms the timer anew with the delay of this moment.
  private func rearm(_ round: Int) {
    let (cancel, delay, number, clock) = change { state in
      state.timerNumber += 1
      defer { state.cancelTimer = nil }
      guard state.isStarted, state.round == round, state.settings.pollInterval > .zero else {
        if state.round == round { state.health.nextAttemptAt = nil }
        return (state.cancelTimer, Duration?.none, state.timerNumber, state.settings.clock)
      }
      var delay = RunDelay.delay(
        interval: state.settings.pollInterval, failureCount: state.failureCount,
        jitter: state.settings.jitterSource())
      if state.failureCount > 0, let asked = state.retryDelay { delay = max(delay, asked) }
      state.health.nextAttemptAt =
        state.settings.clock.milliseconds().addingReportingOverflow(
          delay.wholeMilliseconds
        ).partialValue
      return (state.cancelTimer, delay, state.timerNumber, state.settings.clock)
    }
    cancel?()
    guard let delay else { return }
    let cancelNew = clock.after(delay) { [weak self] in self?.ticked(number, round) }
    let isKept = state.withLock { state in
      guard state.timerNumber == number, state.isStarted, state.round == round else { return false }
      state.cancelTimer = cancelNew
      return true
    }
    if !isKept { cancelNew() }
  }

  private func ticked(_ number: Int, _ round: Int) {
    guard state.withLock({ $0.timerNumber == number }) else { return }
    wake(.poll, in: round)
  }

  // MARK: Inside

  /// Subscribes, and keeps what ends it while this start is in force.
  private func listen(_ round: Int, _ subscribe: () throws -> @Sendable () -> Void) {
    do {
      let cancel = try subscribe()
      let isKept = state.withLock { state in
        guard state.isStarted, state.round == round else { return false }
        state.cancels.append(cancel)
        return true
      }
      if !isKept { cancel() }
    } catch {
      settings.onError?(error)
    }
  }

  /// Changes the state and tells those who watch the health, if it is another.
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    let result = state.withLock { state in
      let before = state.health
      let result = body(&state)
      state.health.consecutiveFailures = state.failureCount
      state.health.phase = state.phase
      if state.health != before { board.post(state.health) }
      return result
    }
    board.deliver()
    return result
  }
}

extension SyncHealth.Failure {
  fileprivate init(_ error: any Error, at time: Int64) {
    let known = error as? SyncError
    self.init(
      code: known.map { $0.serverCode?.rawValue ?? $0.catalogueCode?.rawValue ?? "\($0.code)" },
      message: known?.message ?? "\(error)",
      at: time)
  }
}

extension Duration {
  /// Rounded down; the largest number for what is longer.
  fileprivate var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
  }
}
