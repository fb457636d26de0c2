internal import Glibc

/// A value behind a `pthread_mutex_t`: `Synchronization.Mutex` is reported as a race by ThreadSanitizer.
public struct TestLock<Value>: ~Copyable, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  public init(_ initial: Value) {
    mutex = .allocate(capacity: 1)
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // A body that asks for the same lock again would never end.
    let failure = pthread_mutex_lock(mutex)
    precondition(failure == 0, "this thread holds the lock already: errno \(failure)")
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
