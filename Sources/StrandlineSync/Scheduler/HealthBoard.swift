@_spi(Engine) internal import StrandlineLog

/// Tells those who watch a scheduler's health, in the order of the changes, and never two at once.
final class HealthBoard: Sendable {
  private struct State {
    var nextNumber = 0
    var watchers: [Int: @Sendable (SyncHealth) -> Void] = [:]
    /// To whom what is still to be told; nil: to all who were there.
    var letters: [(numbers: [Int], health: SyncHealth)] = []
    var isDelivering = false
  }

  private let state = Lock(State())

  /// The watcher is told `health` with the next ``deliver()``.
  func add(_ watcher: @escaping @Sendable (SyncHealth) -> Void, _ health: SyncHealth) -> Int {
    state.withLock { state in
      state.nextNumber += 1
      state.watchers[state.nextNumber] = watcher
      state.letters.append(([state.nextNumber], health))
      return state.nextNumber
    }
  }

  func remove(_ number: Int) { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }

  func post(_ health: SyncHealth) {
    state.withLock { state in
      if !state.watchers.isEmpty { state.letters.append((Array(state.watchers.keys), health)) }
    }
  }

  /// Tells what is to be told; who comes while another tells leaves it to them. Called without any lock: a watcher may call the scheduler.
  func deliver() {
    guard
      state.withLock({ state in
        if state.isDelivering { return false }
        state.isDelivering = true
        return true
      })
    else { return }
    while let (watchers, health) = next() {
      for watcher in watchers { watcher(health) }
    }
  }

  private func next() -> (watchers: [@Sendable (SyncHealth) -> Void], health: SyncHealth)? {
    state.withLock { state in
      guard !state.letters.isEmpty else {
        state.isDelivering = false
        return nil
      }
      let letter = state.letters.removeFirst()
      return (letter.numbers.compactMap { state.watchers[$0] }, letter.health)
    }
  }
}
