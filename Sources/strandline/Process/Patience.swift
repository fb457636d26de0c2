import Glibc
import Synchronization

/// Waits for work on a thread of its own, and looks up now and then.
enum Patience {
  private final class Job<Result: Sendable>: Sendable {
    let work: @Sendable () throws -> Result
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)

    init(_ work: @escaping @Sendable () throws -> Result) { self.work = work }
  }

  /// What the thread is given: it knows nothing of results.
  private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Parameter tick: called about twenty times a second meanwhile, on the calling thread. What it throws is thrown once the work has
  ///   ended.
  static func wait<Result: Sendable>(
    for work: @escaping @Sendable () throws -> Result, tick: () throws -> Void = {}
  ) throws -> Result {
    let job = Job(work)
    let start = Start {
      let result = Swift.Result { try job.work() }
      job.outcome.withLock { $0 = result }
    }
    var thread = pthread_t()
    let number = pthread_create(
      &thread, nil,
      { pointer in
        Unmanaged<Start>.fromOpaque(pointer!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    guard number == 0 else {
      Unmanaged.passUnretained(start).release()
      throw Failure(.ioFailure, "no thread: \(String(cString: strerror(number)))")
    }
    var interruption: (any Error)?
    var pause: useconds_t = 100
    while job.outcome.withLock({ $0 == nil }) {
      usleep(pause)
      pause = min(pause * 2, 50_000)
      do { if interruption == nil { try tick() } } catch { interruption = error }
    }
    pthread_join(thread, nil)
    if let interruption { throw interruption }
    guard let outcome = job.outcome.withLock({ $0 }) else {
      throw Failure(.ioFailure, "a thread ended without an outcome")
    }
    return try outcome.get()
  }
}
