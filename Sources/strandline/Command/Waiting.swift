import Dispatch
import Synchronization

/// Asynchronous work as part of a command, which waits for it on its own thread, never one of the concurrency pool.
enum Waiting {
  private final class Box<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
  }

  static func value<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let box = Box<Value>()
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      let value = await work()
      box.value.withLock { $0 = value }
      isDone.signal()
    }
    isDone.wait()
    guard let value = box.value.withLock({ $0 }) else { preconditionFailure("the work signalled without a value") }
    return value
  }
}
