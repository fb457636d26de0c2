internal import CStrandline
internal import Glibc

/// A thread of the log's own that runs jobs in order, and one more piece of work whenever a deadline comes.
///
/// Blocking calls belong here and not on the concurrency pool, which has one thread a processor.
@_spi(Engine) public final class HelperThread: Sendable {
  public typealias Job = @Sendable () -> Void

  private struct State {
    var jobs: [Job] = []
    /// On the monotonic clock, in nanoseconds.
    var deadline: UInt64?
    var isStopping = false
  }

  private let monitor = Monitor(State())
  private let clock: any LogClock
  private let name: String
  private let onDeadline: Job
  private let thread = Lock<pthread_t?>(nil)

  public init(name: String, clock: any LogClock, onDeadline: @escaping Job = {}) {
    self.name = name
    self.clock = clock
    self.onDeadline = onDeadline
  }

  /// Starts the thread. Called once, before anything else; throws what `pthread_create` answered.
  public func start() throws(Errno) {
    var handle = pthread_t()
    let argument = Unmanaged.passRetained(self).toOpaque()
    let failure = pthread_create(
      &handle, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<HelperThread>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, argument)
    guard failure == 0 else {
      Unmanaged<HelperThread>.fromOpaque(argument).release()
      throw Errno(failure)
    }
    thread.withLock { $0 = handle }
  }

  public func submit(_ job: @escaping Job) { monitor.change { $0.jobs.append(job) } }

  /// Asks for `onDeadline` at `nanoseconds` on the monotonic clock, or earlier if that was asked before.
  public func wake(at nanoseconds: UInt64) {
    let isEarlier = monitor.look { $0.deadline.map { nanoseconds < $0 } ?? true }
    if isEarlier { monitor.change { $0.deadline = nanoseconds } }
  }

  /// Runs the jobs that are queued, then ends the thread and waits for its end. Does not wait when called on the thread itself.
  public func stop() {
    monitor.change { $0.isStopping = true }
    let handle = thread.withLock { handle in
      defer { handle = nil }
      return handle
    }
    guard let handle else { return }
    if pthread_equal(handle, pthread_self()) != 0 {
      pthread_detach(handle)
    } else {
      pthread_join(handle, nil)
    }
  }

  private enum Work {
    case jobs([Job])
    case deadline
    case end
  }

  private func run() {
    strandline_name_thread(name)
    while true {
      switch next() {
      case .jobs(let jobs): for job in jobs { job() }
      case .deadline: onDeadline()
      case .end: return
      }
    }
  }

  private func next() -> Work {
    while true {
      let deadline = monitor.look { $0.deadline }
      let now = clock.monotonicNanoseconds()
      let wait = deadline.map { $0 > now ? $0 - now : 0 }
      let take: (inout State) -> Work? = { state in
        if !state.jobs.isEmpty {
          let jobs = state.jobs
          state.jobs = []
          return .jobs(jobs)
        }
        if state.isStopping { return .end }
        if let due = state.deadline, due <= now {
          state.deadline = nil
          return .deadline
        }
        // A deadline that was set or moved meanwhile is waited for anew.
        return state.deadline == deadline ? nil : .jobs([])
      }
      if let wait {
        if let work = monitor.wait(nanoseconds: wait, until: take) { return work }
      } else {
        return monitor.wait(until: take)
      }
    }
  }
}
