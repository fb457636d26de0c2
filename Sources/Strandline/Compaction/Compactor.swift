internal import Glibc
@_spi(Engine) internal import StrandlineLog
internal import Synchronization

/// The thread that writes out and merges layers, and whether it is to stop what it is at.
final class Compactor: Sendable {
  private let thread: HelperThread?
  private let stops = Atomic<Bool>(false)
  private let state = Lock(State())

  private struct State {
    var isEnded = false
    /// Without a thread: what waits for the caller who is at work.
    var jobs: [@Sendable () -> Void] = []
    var isAtWork = false
  }
  private let engine = WeakEngine()

  /// - Parameter hasThread: false lets the calls that find work do it themselves.
  init(hasThread: Bool, clock: any LogClock, path: String) throws(StoreError) {
    guard hasThread else {
      thread = nil
      return
    }
    let engine = engine
    let thread = HelperThread(name: "strand-compact", clock: clock) { engine.get()?.compactInBackground() }
    self.thread = thread
    do throws(Errno) {
      try thread.start()
    } catch {
      throw .ioFailed(IOFailure(operation: .startThread, path: path, errno: error))
    }
  }

  func serve(_ engine: StoreEngine) { self.engine.set(engine) }

  /// Runs `job` on the thread, or at once where there is none. False: it has ended, and the job will not run.
  @discardableResult
  func submit(_ job: @escaping @Sendable (StoreEngine) -> Void) -> Bool {
    let engine = engine
    let run: @Sendable () -> Void = { engine.get().map(job) }
    let (isAccepted, isAtWork) = state.withLock { state in
      if state.isEnded { return (false, true) }
      if let thread {
        thread.submit(run)
        return (true, true)
      }
      state.jobs.append(run)
      defer { state.isAtWork = true }
      return (true, state.isAtWork)
    }
    if !isAtWork { workOff() }
    return isAccepted
  }

  private func workOff() {
    while true {
      let job = state.withLock { state -> (@Sendable () -> Void)? in
        state.isAtWork = !state.jobs.isEmpty
        return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
      }
      guard let job else { return }
      job()
    }
  }

  /// Whether somebody else than the writers does the work.
  var hasThread: Bool { thread != nil }

  /// Tries again a while after a failure.
  func retry(at nanoseconds: UInt64) { thread?.wake(at: nanoseconds) }

  /// Without a thread nobody wakes up by himself: who needs what failed before tries again.
  func retryWithoutThread() {
    if thread == nil { submit { $0.compactInBackground() } }
  }

  /// Asked between blocks.
  var shouldStop: Bool { stops.load(ordering: .relaxed) }

  /// Stops the work at hand, for good.
  func end() {
    stops.store(true, ordering: .relaxed)
    state.withLock { $0.isEnded = true }
    thread?.stop()
  }
}
