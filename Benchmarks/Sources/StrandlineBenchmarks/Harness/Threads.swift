internal import Glibc

/// Runs `body` on `count` threads that start at once; returns when the last has ended, with the seconds from the first
/// start to the last end. The threads look at the clock themselves: on a busy machine the caller may be late.
func runThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws -> Double {
  let crew = Crew(count: count, body: body)
  var threads: [pthread_t] = []
  for index in 0..<count {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Crew.Member(crew: crew, index: index))
    let failure = pthread_create(&thread, nil, Crew.run, work.toOpaque())
    precondition(failure == 0, "no thread to be had")
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
  if let error = crew.outcomes.lazy.compactMap(\.error).first { throw error }
  let start = crew.outcomes.map(\.start).min() ?? 0
  let end = crew.outcomes.map(\.end).max() ?? 0
  return Double(end - start) / 1e9
}

private final class Crew: @unchecked Sendable {
  // Sendable: `outcomes` has a place for each thread and is read behind the last join; the barrier is made for sharing.
  struct Outcome {
    var start: UInt64 = 0
    var end: UInt64 = 0
    var error: (any Error)?
  }

  final class Member {
    let crew: Crew
    let index: Int

    init(crew: Crew, index: Int) {
      self.crew = crew
      self.index = index
    }
  }

  static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    let member = Unmanaged<Member>.fromOpaque(argument!).takeRetainedValue()
    let crew = member.crew
    pthread_barrier_wait(crew.barrier)
    var outcome = Outcome(start: monotonicNanoseconds())
    do { try crew.body(member.index) } catch { outcome.error = error }
    outcome.end = monotonicNanoseconds()
    crew.outcomes[member.index] = outcome
    return nil
  }

  private let body: @Sendable (Int) throws -> Void
  private let barrier: UnsafeMutablePointer<pthread_barrier_t>
  let outcomes: UnsafeMutableBufferPointer<Outcome>

  init(count: Int, body: @escaping @Sendable (Int) throws -> Void) {
    self.body = body
    barrier = .allocate(capacity: 1)
    pthread_barrier_init(barrier, nil, UInt32(count))
    outcomes = .allocate(capacity: count)
    outcomes.initialize(repeating: Outcome())
  }

  deinit {
    pthread_barrier_destroy(barrier)
    barrier.deallocate()
    outcomes.deinitialize()
    outcomes.deallocate()
  }
}

/// Runs `body` on the concurrency pool and waits for it. For the thread that stands outside: commands are synchronous.
func waitFor<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
  let box = ResultBox<Result>()
  let task = Task.detached {
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    box.give(result)
  }
  _ = task
  return try box.take().get()
}

private final class ResultBox<Value: Sendable>: @unchecked Sendable {
  // Sendable: written before the semaphore is posted, read after it was waited for.
  private var result: Result<Value, any Error>?
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    semaphore = .allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func give(_ result: Result<Value, any Error>) {
    self.result = result
    sem_post(semaphore)
  }

  func take() -> Result<Value, any Error> {
    while sem_wait(semaphore) != 0 {}
    return result!
  }
}
