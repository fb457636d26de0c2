import StrandlineSync
import StrandlineTestSupport
import Testing

@Suite("Scheduler") struct SyncSchedulerTests {
  private let world = SchedulerWorld()
  private let errors = Errors()
  /// A scheduler that nobody holds stops.
  private let held = Held()

  final class Held: Sendable {
    let schedulers = TestLock<[SyncScheduler]>([])
  }

  final class Errors: Sendable {
    let all = TestLock<[String]>([])
    var count: Int { all.withLock { $0.count } }
  }

  /// Jitter 1: a delay is the whole delay.
  private func scheduler(_ change: (inout SchedulerSettings) -> Void = { _ in }) -> SyncScheduler {
    var settings = SchedulerSettings(refreshSession: { true })
    settings.clock = world
    settings.jitterSource = { 1 }
    settings.onError = { [errors] error in errors.all.withLock { $0.append("\(error)") } }
    change(&settings)
    let scheduler = SyncScheduler(client: world, settings: settings)
    held.schedulers.withLock { $0.append(scheduler) }
    return scheduler
  }

  /// Starts, and waits for the run that a start asks for.
  private func started(_ change: (inout SchedulerSettings) -> Void = { _ in }) async -> SyncScheduler {
    let scheduler = scheduler(change)
    scheduler.start()
    await world.until { world.finishedCount == 1 && scheduler.health().attemptStartedAt == nil }
    return scheduler
  }

  private func runs(_ count: Int, _ scheduler: SyncScheduler) async {
    await world.until { world.finishedCount == count && scheduler.health().attemptStartedAt == nil }
    await world.settle()
    #expect(world.runCount == count)
  }

  private let failure = SyncError(.remote, "no answer", serverCode: TransportCode(rawValue: "PGRST106"))

  @Test func `a start runs once, a second start does nothing`() async {
    let scheduler = await started()
    scheduler.start()
    await runs(1, scheduler)
    #expect(scheduler.health().lastSuccessAt == world.milliseconds() && scheduler.health().phase == .idle)
    #expect(world.untilTimer == [15_000])
  }

  @Test func `before it is started and after it is stopped nothing wakes it`() async {
    let scheduler = scheduler()
    scheduler.wake()
    await world.settle()
    #expect(world.runCount == 0)
    scheduler.start()
    await runs(1, scheduler)
    scheduler.stop()
    #expect(scheduler.health().nextAttemptAt == nil && world.untilTimer.isEmpty)
    scheduler.wake()
    world.depth(3)
    world.pass(100_000)
    await runs(1, scheduler)
    scheduler.start()
    await runs(2, scheduler)
  }

  @Test func `each source wakes it, and is let go of at the stop`() async {
    let scheduler = await started {
      $0.pathMonitor = world
      $0.foregroundSource = world
      $0.realtime = world
      $0.realtimeTables = ["a", "b"]
    }
    #expect(world.topics == ["kizunasync:a", "kizunasync:b"])
    let wakes: [() -> Void] = [
      { world.comeForward() }, { world.ring("kizunasync:b") }, { world.depth(1) }, { world.path(true) },
      { scheduler.wake() }, { world.pass(15_000) },
    ]
    for (place, wake) in wakes.enumerated() {
      wake()
      await runs(place + 2, scheduler)
    }
    world.depth(0)
    await runs(7, scheduler)
    scheduler.stop()
    #expect(world.cancelledCount == 5 && world.topics.isEmpty)
  }

  @Test func `sources that are switched off are not asked`() async {
    let scheduler = await started {
      $0.pathMonitor = world
      $0.monitorPath = false
      $0.foregroundSource = world
      $0.observeForeground = false
      $0.realtime = world
    }
    world.comeForward()
    world.path(false)
    await runs(1, scheduler)
    #expect(world.pathReports.isEmpty && world.topics.isEmpty)
  }

  @Test func `a refused subscription is told, and the rest is armed`() async {
    world.refuseSubscriptions()
    let scheduler = await started { $0.foregroundSource = world }
    #expect(errors.all.withLock { $0 } == ["ENGINE_UNAVAILABLE: closed", "ENGINE_UNAVAILABLE: closed"])
    world.pass(15_000)
    await runs(2, scheduler)
  }

  @Test func `a foreground signal refreshes the session and then syncs`() async {
    let scheduler = await started {
      $0.foregroundSource = world
      $0.refreshSession = {
        world.note("refresh")
        return true
      }
    }
    world.comeForward()
    await runs(2, scheduler)
    #expect(world.events == ["refresh", "sync", "refresh", "sync"])
  }

  @Test func `without a session the run is skipped, an error of the session is a failure`() async {
    let answer = TestLock<Result<Bool, SyncError>>(.success(false))
    let scheduler = scheduler { $0.refreshSession = { try answer.withLock { $0 }.get() } }
    scheduler.start()
    await world.until { scheduler.health().attemptStartedAt == nil }
    #expect(
      world.runCount == 0 && scheduler.health().lastSuccessAt == nil && scheduler.health().consecutiveFailures == 0)
    // The client knows whether that means to sign in.
    #expect(world.events == ["given up"])
    answer.withLock { $0 = .failure(failure) }
    scheduler.wake()
    await world.until { scheduler.health().consecutiveFailures == 1 }
    #expect(world.runCount == 0 && errors.count == 1)
  }

  @Test func `once sign-in was given up nothing is renewed until the application asks or another token is there`() async
  {
    let scheduler = scheduler {
      $0.foregroundSource = world
      $0.refreshSession = { [world] in
        world.note("refresh")
        return false
      }
    }
    scheduler.start()
    await world.until { world.events.contains("given up") }
    func refreshes() async -> Int {
      await world.until { scheduler.health().attemptStartedAt == nil }
      await world.settle()
      return world.events.count { $0 == "refresh" }
    }
    #expect(await refreshes() == 1)
    world.giveUpSignIn()
    for _ in 1...5 {
      world.pass(15_000)
      #expect(await refreshes() == 1)
    }
    world.depth(1)
    #expect(await refreshes() == 1)
    world.comeForward()
    #expect(await refreshes() == 1)
    // The timer goes on, so that another token is found.
    #expect(world.untilTimer == [15_000])
    scheduler.wake()
    #expect(await refreshes() == 2)
    world.pass(15_000)
    #expect(await refreshes() == 2)
    scheduler.refreshSession = { [world] in
      world.note("refresh")
      return true
    }
    world.pass(15_000)
    #expect(await refreshes() == 3)
    #expect(world.runCount == 1)
    world.pass(15_000)
    #expect(await refreshes() == 3)
    // Another token was set.
    world.giveUpSignIn(false)
    world.pass(15_000)
    #expect(await refreshes() == 4)
    #expect(world.runCount == 2)
  }

  @Test func `runs never overlap, and any number of wakes is one run more`() async {
    world.holdRuns()
    let scheduler = scheduler()
    scheduler.start()
    await world.until { world.runCount == 1 }
    for _ in 0..<20 { scheduler.wake() }
    world.depth(4)
    await world.release()
    await world.until { world.runCount == 2 }
    await world.release()
    await runs(2, scheduler)
    #expect(!world.overlaps)
  }

  @Test func `wakes from many threads at once never overlap`() async {
    let scheduler = await started()
    withThreads(8) { number in
      for round in 0..<100 {
        scheduler.wake()
        scheduler.pollInterval = .milliseconds(Int64(100 + round))
        scheduler.refreshSession = { true }
        scheduler.onError = nil
        scheduler.sync = nil
        scheduler.monitorPath = number % 2 == 0
        _ = scheduler.health()
      }
    }
    await world.until { scheduler.health().attemptStartedAt == nil }
    #expect(!world.overlaps)
  }

  @Test func `failures double the delay up to a bound, success and wakes bring it back`() async {
    let scheduler = await started { $0.pollInterval = .seconds(2) }
    world.ends(failure, failure, failure, failure, failure, failure)
    var seen: [[Int64]] = []
    for count in 2...7 {
      world.pass(world.untilTimer.first ?? 0)
      await runs(count, scheduler)
      seen.append(world.untilTimer)
    }
    #expect(seen == [[4000], [8000], [16_000], [30_000], [30_000], [30_000]])
    #expect(scheduler.health().phase == .backoff && scheduler.health().consecutiveFailures == 6)
    #expect(scheduler.health().nextAttemptAt == world.milliseconds() + 30_000)
    #expect(
      scheduler.health().lastError
        == SyncHealth.Failure(code: "PGRST106", message: "no answer", at: world.milliseconds()))
    #expect(errors.count == 6)
    world.pass(30_000)
    await runs(8, scheduler)
    #expect(world.untilTimer == [2000] && scheduler.health().consecutiveFailures == 0)
    #expect(scheduler.health().lastError != nil && scheduler.health().phase == .idle)

    world.ends(failure, failure)
    world.pass(2000)
    await runs(9, scheduler)
    #expect(world.untilTimer == [4000])
    // Any wake clears the streak; the failure of its own run begins another.
    scheduler.wake()
    await runs(10, scheduler)
    #expect(world.untilTimer == [4000] && scheduler.health().consecutiveFailures == 1)
  }

  @Test func `an interval beyond the bound stays what it is`() async {
    let scheduler = await started { $0.pollInterval = .seconds(60) }
    world.ends(failure)
    world.pass(60_000)
    await runs(2, scheduler)
    #expect(world.untilTimer == [60_000])
  }

  @Test(arguments: [(0.0, Int64(7500)), (0.5, 11_250), (1, 15_000), (-3, 7500), (7, 15_000), (.nan, 15_000)])
  func `a delay falls into its second half`(jitter: Double, delay: Int64) async {
    _ = await started { $0.jitterSource = { jitter } }
    #expect(world.untilTimer == [delay])
  }

  @Test func `a server that asks for patience gets it`() async {
    let scheduler = await started()
    world.ends(SyncError(.remote, "busy", retryAfter: .seconds(120)))
    world.pass(15_000)
    await runs(2, scheduler)
    #expect(world.untilTimer == [120_000])
    scheduler.wake()
    await runs(3, scheduler)
    #expect(world.untilTimer == [15_000])
  }

  @Test func `without an interval there is no timer`() async {
    let scheduler = await started { $0.pollInterval = .zero }
    #expect(world.untilTimer.isEmpty && scheduler.health().nextAttemptAt == nil)
    scheduler.pollInterval = .seconds(3)
    #expect(world.untilTimer == [3000])
    scheduler.pollInterval = .seconds(-1)
    #expect(world.untilTimer.isEmpty && scheduler.health().nextAttemptAt == nil)
  }

  @Test func `a tick during a run is dropped, a second marks it stalled and books one run more`() async {
    let scheduler = await started()
    world.holdRuns()
    world.pass(15_000)
    await world.until { world.runCount == 2 }
    #expect(scheduler.health().phase == .syncing)
    let began = world.milliseconds()
    #expect(scheduler.health().attemptStartedAt == began)
    world.pass(15_000)
    #expect(scheduler.health().phase == .syncing && scheduler.health().consecutiveFailures == 0)
    world.pass(15_000)
    #expect(scheduler.health().phase == .stalled && scheduler.health().consecutiveFailures == 1)
    #expect(world.untilTimer == [30_000])
    world.pass(60_000)
    #expect(scheduler.health().consecutiveFailures == 1 && scheduler.health().attemptStartedAt == began)
    // It fails at last: that failure was counted already.
    world.ends(failure)
    await world.release()
    await world.until { world.runCount == 3 }
    #expect(scheduler.health().consecutiveFailures == 1 && scheduler.health().phase == .syncing)
    await world.release()
    await runs(3, scheduler)
    #expect(scheduler.health().consecutiveFailures == 0 && scheduler.health().phase == .idle)
  }

  @Test func `a stop lets the run go on and nothing follows it`() async {
    let scheduler = await started()
    world.holdRuns()
    scheduler.wake()
    await world.until { world.runCount == 2 }
    scheduler.wake()
    scheduler.stop()
    world.pass(5000)
    await world.release()
    await runs(2, scheduler)
    #expect(scheduler.health().lastSuccessAt == world.milliseconds() && world.untilTimer.isEmpty)
  }

  @Test func `a start during a run that a stop left waits for it`() async {
    let scheduler = await started()
    world.holdRuns()
    scheduler.wake()
    await world.until { world.runCount == 2 }
    scheduler.stop()
    scheduler.start()
    await world.settle()
    #expect(world.runCount == 2)
    await world.release()
    await world.until { world.runCount == 3 }
    await world.release()
    await runs(3, scheduler)
    #expect(!world.overlaps)
  }

  @Test func `without a path every wake is held, and the first path wakes`() async {
    let scheduler = await started { $0.pathMonitor = world }
    world.path(false)
    #expect(scheduler.health().phase == .offline)
    scheduler.wake()
    world.depth(1)
    world.pass(100_000)
    await runs(1, scheduler)
    #expect(scheduler.health().phase == .offline)
    world.path(true)
    await runs(2, scheduler)
    // The same again is no news.
    world.path(true)
    await runs(2, scheduler)
  }

  @Test func `a monitor that was cancelled is no longer believed`() async throws {
    let scheduler = await started { $0.pathMonitor = world }
    let old = try #require(world.pathReports.first)
    world.path(false)
    scheduler.wake()
    await runs(1, scheduler)
    // Switched off, the gate is open, and what waited is done.
    scheduler.monitorPath = false
    await runs(2, scheduler)
    #expect(world.pathReports.isEmpty && scheduler.health().phase == .idle)
    old(false)
    #expect(scheduler.health().phase == .idle)
    scheduler.monitorPath = true
    #expect(world.pathReports.count == 1)
    old(false)
    #expect(scheduler.health().phase == .idle)
    world.path(false)
    #expect(scheduler.health().phase == .offline)
    // After a stop the old reports mean nothing either.
    let second = try #require(world.pathReports.first)
    scheduler.stop()
    scheduler.start()
    await runs(3, scheduler)
    second(false)
    #expect(scheduler.health().phase == .idle)
  }

  @Test func `new settings hold from then on, an interval or a session starts the timer anew`() async {
    let scheduler = await started()
    world.pass(10_000)
    scheduler.pollInterval = .seconds(20)
    #expect(world.untilTimer == [20_000])
    world.pass(5000)
    scheduler.refreshSession = {
      world.note("new")
      return true
    }
    #expect(world.untilTimer == [20_000])
    scheduler.sync = { world.note("own") }
    scheduler.wake()
    await world.until { world.events.last == "own" }
    #expect(world.events == ["sync", "new", "own"])
  }

  @Test func `whether a reset is needed is read after every attempt`() async {
    let isNeeded = TestLock(false)
    let scheduler = await started { $0.needsReset = { isNeeded.withLock { $0 } } }
    #expect(!scheduler.health().needsReset)
    isNeeded.withLock { $0 = true }
    world.ends(failure)
    scheduler.wake()
    await runs(2, scheduler)
    #expect(scheduler.health().needsReset)
    isNeeded.withLock { $0 = false }
    scheduler.wake()
    await runs(3, scheduler)
    #expect(!scheduler.health().needsReset)
  }

  @Test func `who watches the health hears it at once and then each change`() async {
    let phases = TestLock<[SyncHealth.Phase]>([])
    let scheduler = scheduler { $0.pollInterval = .zero }
    let end = scheduler.onHealth { health in phases.withLock { if $0.last != health.phase { $0.append(health.phase) } }
    }
    #expect(phases.withLock { $0 } == [.idle])
    world.ends(failure, nil)
    scheduler.start()
    await world.until { scheduler.health().phase == .backoff }
    scheduler.wake()
    await runs(2, scheduler)
    await world.until { phases.withLock { $0.last == .idle } }
    #expect(phases.withLock { $0 } == [.idle, .syncing, .backoff, .syncing, .idle])
    end()
    scheduler.wake()
    await runs(3, scheduler)
    #expect(phases.withLock { $0.count } == 5)
  }

  @Test func `the machine's clock calls once, and not after it was cancelled`() async {
    let clock = MachineSchedulerClock()
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let cancel = clock.after(.milliseconds(5)) { continuation.yield(1) }
    cancel()
    _ = clock.after(.milliseconds(10)) {
      continuation.yield(2)
      continuation.finish()
    }
    var heard: [Int] = []
    for await number in stream { heard.append(number) }
    #expect(heard == [2])
  }
}
