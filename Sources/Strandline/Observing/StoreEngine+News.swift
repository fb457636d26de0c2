@_spi(Engine) internal import StrandlineLog

/// Those who wait until readers see something else than they have seen.
struct NewsWaiters {
  private var waiting: [UInt64: UnsafeContinuation<Void, Never>] = [:]
  private var nextToken: UInt64 = 0

  mutating func token() -> UInt64 {
    nextToken += 1
    return nextToken
  }

  mutating func add(_ continuation: UnsafeContinuation<Void, Never>, _ token: UInt64) { waiting[token] = continuation }

  mutating func remove(_ token: UInt64) -> UnsafeContinuation<Void, Never>? { waiting.removeValue(forKey: token) }

  /// All of them; they are to be woken.
  mutating func takeAll() -> [UnsafeContinuation<Void, Never>] {
    if waiting.isEmpty { return [] }
    defer { waiting = [:] }
    return Array(waiting.values)
  }
}

extension StoreEngine {
  /// Changes what readers see, and wakes those who wait for it.
  func show(_ change: (inout Published) -> Void) {
    let woken = published.withLock { seen in
      change(&seen)
      return seen.waiters.takeAll()
    }
    for continuation in woken { continuation.resume() }
  }

  /// Suspends until readers see something else than `snapshot`; false when the store is closed, nothing more can come, or the task is
  /// cancelled.
  func waitForNews(since snapshot: Snapshot) async -> Bool {
    func isOld(_ seen: Published) -> Bool {
      seen.snapshot.sequence == snapshot.sequence && seen.snapshot.state === snapshot.state
    }
    let token = published.withLock { $0.waiters.token() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let isWaiting = published.withLock { seen in
          guard isOld(seen), !seen.isClosed, seen.poison == nil, !Task.isCancelled else { return false }
          seen.waiters.add(continuation, token)
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    } onCancel: {
      published.withLock { $0.waiters.remove(token) }?.resume()
    }
    return published.withLock { !$0.isClosed && ($0.poison == nil || !isOld($0)) } && !Task.isCancelled
  }

  /// What a write or sync failed with, after which no commit comes any more.
  var poison: StoreError? { published.withLock { $0.poison } }
}
