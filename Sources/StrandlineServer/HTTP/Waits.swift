@_spi(Engine) internal import StrandlineLog

/// Work that waits for news and ends when the server stops.
final class Waits: Sendable {
  private struct State {
    var nextID: UInt64 = 0
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var isStopped = false
  }

  private let state = Lock(State())

  /// Starts the work; it is cancelled by ``stop()``, and at once where that came before.
  func start(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      let task = Task {
        await body()
        self.state.withLock { _ = $0.tasks.removeValue(forKey: id) }
      }
      state.tasks[id] = task
      if state.isStopped { task.cancel() }
    }
  }

  func stop() {
    let tasks = state.withLock { state in
      state.isStopped = true
      return state.tasks.values.map { $0 }
    }
    for task in tasks { task.cancel() }
  }

  var count: Int { state.withLock { $0.tasks.count } }
}
