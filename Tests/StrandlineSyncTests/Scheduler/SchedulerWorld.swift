import StrandlineSync
import StrandlineTestSupport

/// Time, client and sources of a scheduler in a test's hand.
final class SchedulerWorld: SchedulerClock, ScheduledClient, PathMonitor, ForegroundSource, RealtimeSource {
  private struct Timer {
    var at: Int64
    var body: @Sendable () -> Void
  }

  struct Refused: Error {}

  private struct State {
    var now: Int64 = 1_000_000
    var nextNumber = 0
    var timers: [Int: Timer] = [:]
    var depthReports: [Int: @Sendable (Int) -> Void] = [:]
    var pathReports: [Int: @Sendable (Bool) -> Void] = [:]
    var forwards: [Int: @Sendable () -> Void] = [:]
    var topics: [String: @Sendable () -> Void] = [:]
    var events: [String] = []
    var runCount = 0
    var finishedCount = 0
    var runningCount = 0
    var overlaps = false
    var outcomes: [(any Error)?] = []
    var waiting: [CheckedContinuation<Void, Never>] = []
    var holdsRuns = false
    var refusesSubscriptions = false
    var cancelledCount = 0
    var isSignInGivenUp = false
  }

  private let state = TestLock(State())

  // MARK: The clock

  func milliseconds() -> Int64 { state.withLock { $0.now } }

  func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.nextNumber += 1
      let (seconds, attoseconds) = delay.components
      state.timers[state.nextNumber] = Timer(
        at: state.now + seconds * 1000 + attoseconds / 1_000_000_000_000_000, body: body)
      return state.nextNumber
    }
    return { _ = self.state.withLock { $0.timers.removeValue(forKey: number) } }
  }

  /// Lets time pass, and calls what becomes due on the way.
  func pass(_ milliseconds: Int64) {
    let end = state.withLock { $0.now + milliseconds }
    while let timer = state.withLock({ (state) -> Timer? in
      guard let due = state.timers.filter({ $0.value.at <= end }).min(by: { $0.value.at < $1.value.at }) else {
        state.now = end
        return nil
      }
      state.now = max(state.now, due.value.at)
      return state.timers.removeValue(forKey: due.key)
    }) {
      timer.body()
    }
  }

  /// Milliseconds until the only timer.
  var untilTimer: [Int64] { state.withLock { state in state.timers.values.map { $0.at - state.now } } }

  // MARK: The client

  func sync() async throws {
    let holds = state.withLock { state in
      state.runCount += 1
      state.runningCount += 1
      if state.runningCount > 1 { state.overlaps = true }
      state.events.append("sync")
      return state.holdsRuns
    }
    if holds { await withCheckedContinuation { continuation in state.withLock { $0.waiting.append(continuation) } } }
    let error = state.withLock { state in
      state.runningCount -= 1
      state.finishedCount += 1
      return state.outcomes.isEmpty ? nil : state.outcomes.removeFirst()
    }
    if let error { throw error }
  }

  func onQueueDepth(_ report: @escaping @Sendable (Int) -> Void) throws -> @Sendable () -> Void {
    try register {
      $0.depthReports[$1] = report
    } remove: {
      $0.depthReports[$1] = nil
    }
  }

  func renewalGivenUp() { note("given up") }
  var isSignInGivenUp: Bool { state.withLock { $0.isSignInGivenUp } }
  func giveUpSignIn(_ isGivenUp: Bool = true) { state.withLock { $0.isSignInGivenUp = isGivenUp } }

  func note(_ event: String) { state.withLock { $0.events.append(event) } }
  var events: [String] { state.withLock { $0.events } }
  var runCount: Int { state.withLock { $0.runCount } }
  var finishedCount: Int { state.withLock { $0.finishedCount } }
  var overlaps: Bool { state.withLock { $0.overlaps } }
  var cancelledCount: Int { state.withLock { $0.cancelledCount } }

  /// The next runs end so; nil: well.
  func ends(_ outcomes: (any Error)?...) { state.withLock { $0.outcomes = outcomes } }
  func holdRuns(_ holds: Bool = true) { state.withLock { $0.holdsRuns = holds } }
  func refuseSubscriptions() { state.withLock { $0.refusesSubscriptions = true } }

  /// Lets the run that is held go on, once it is there.
  func release() async {
    while true {
      let waiting = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
      if !waiting.isEmpty { return }
      await Task.yield()
    }
  }

  func until(_ isTrue: () -> Bool) async { while !isTrue() { await Task.yield() } }

  /// Gives tasks that should not be there time to come.
  func settle() async { for _ in 0..<200 { await Task.yield() } }

  // MARK: The sources

  func start(_ report: @escaping @Sendable (Bool) -> Void) throws -> @Sendable () -> Void {
    try register {
      $0.pathReports[$1] = report
    } remove: {
      $0.pathReports[$1] = nil
    }
  }

  func start(_ cameForward: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void {
    try register {
      $0.forwards[$1] = cameForward
    } remove: {
      $0.forwards[$1] = nil
    }
  }

  func subscribe(topic: String, _ rang: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void {
    try register { state, _ in
      state.topics[topic] = rang
    } remove: { state, _ in
      state.topics[topic] = nil
    }
  }

  func depth(_ depth: Int) { for report in state.withLock({ Array($0.depthReports.values) }) { report(depth) } }
  func path(_ isSatisfied: Bool) { for report in pathReports { report(isSatisfied) } }
  func comeForward() { for report in state.withLock({ Array($0.forwards.values) }) { report() } }
  func ring(_ topic: String) { state.withLock { $0.topics[topic] }?() }
  var topics: [String] { state.withLock { $0.topics.keys.sorted() } }
  var pathReports: [@Sendable (Bool) -> Void] { state.withLock { Array($0.pathReports.values) } }

  private func register(
    _ add: (inout State, Int) -> Void, remove: @escaping @Sendable (inout State, Int) -> Void
  ) throws -> @Sendable () -> Void {
    let number: Int? = state.withLock { state in
      if state.refusesSubscriptions { return nil }
      state.nextNumber += 1
      add(&state, state.nextNumber)
      return state.nextNumber
    }
    guard let number else { throw SyncError(.engineUnavailable, "closed") }
    return {
      self.state.withLock { state in
        remove(&state, number)
        state.cancelledCount += 1
      }
    }
  }
}
