public import Glibc

/// A mutex with the state it guards.
///
/// `pthread_mutex_t`, because the thread sanitizer knows it and it costs a third of `Synchronization.Mutex`.
@_spi(Engine) public struct Lock<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let state: UnsafeMutablePointer<State>

  @inlinable public init(_ initial: consuming State) {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    state = .allocate(capacity: 1)
    state.initialize(to: initial)
  }

  @inlinable deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  @inlinable public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }
}

/// A lock whose holders can wait for each other's changes.
@_spi(Engine) public struct Monitor<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let lock: Lock<State>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>

  @inlinable public init(_ initial: consuming State) {
    lock = Lock(initial)
    condition = .allocate(capacity: 1)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  @inlinable deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }

  /// Runs `body` under the lock and wakes all who wait.
  @inlinable public func change<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { pthread_cond_broadcast(condition) }
    return try lock.withLock(body)
  }

  /// Runs `body` under the lock and wakes nobody.
  @inlinable public func look<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.withLock(body)
  }

  /// Waits until `body` answers something else than nil, asking again after each change.
  @inlinable public func wait<Result>(until body: (inout State) -> Result?) -> Result {
    lock.withLock { state in
      while true {
        if let result = body(&state) { return result }
        pthread_cond_wait(condition, lock.mutex)
      }
    }
  }

  /// As `wait(until:)`, for at most `nanoseconds`; nil when they are over.
  @inlinable public func wait<Result>(nanoseconds: UInt64, until body: (inout State) -> Result?) -> Result? {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let total = UInt64(deadline.tv_nsec) &+ nanoseconds % 1_000_000_000
    deadline.tv_sec += Int(clamping: nanoseconds / 1_000_000_000 + total / 1_000_000_000)
    deadline.tv_nsec = Int(total % 1_000_000_000)
    return lock.withLock { state in
      while true {
        if let result = body(&state) { return result }
        if pthread_cond_timedwait(condition, lock.mutex, &deadline) == ETIMEDOUT { return body(&state) }
      }
    }
  }
}
