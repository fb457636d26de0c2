internal import Glibc

/// Runs `body` on `count` threads that start at once; returns when the last has ended, with the seconds in between.
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
  crew.waitForStart()
  let start = monotonicNanoseconds()
  for thread in threads { pthread_join(thread, nil) }
  let elapsed = seconds(since: start)
  if let error = crew.firstError { throw error }
  return elapsed
}

private final class Crew: @unchecked Sendable {
  // Sendable: `errors` has a place for each thread and is read behind the last join; the barrier is made for sharing.
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
    member.crew.waitForStart()
    do {
      try member.crew.body(member.index)
    } catch {
      member.crew.errors[member.index] = error
    }
    return nil
  }

  private let body: @Sendable (Int) throws -> Void
  private let barrier: UnsafeMutablePointer<pthread_barrier_t>
  private let errors: UnsafeMutableBufferPointer<(any Error)?>

  init(count: Int, body: @escaping @Sendable (Int) throws -> Void) {
    self.body = body
    barrier = .allocate(capacity: 1)
    pthread_barrier_init(barrier, nil, UInt32(count) + 1)
    errors = .allocate(capacity: count)
    errors.initialize(repeating: nil)
  }

  deinit {
    pthread_barrier_destroy(barrier)
    barrier.deallocate()
    errors.deinitialize()
    errors.deallocate()
  }

  func waitForStart() { pthread_barrier_wait(barrier) }
  var firstError: (any Error)? { errors.lazy.compactMap(\.self).first }
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
