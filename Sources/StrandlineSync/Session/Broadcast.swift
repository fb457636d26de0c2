@_spi(Engine) internal import StrandlineLog

/// Shows a value to whoever looks: as it is, then each other one, in order.
final class Broadcast<Value: Hashable & Sendable>: Sendable {
  private struct State {
    var shown: Value?
    var nextNumber = 0
    var lookers: [Int: AsyncStream<Value>.Continuation] = [:]
    var isFinished = false
  }

  private let state = Lock(State())

  /// - Parameters:
  ///   - keepsNewest: whether only the newest value is kept for a looker who is late.
  ///   - current: the value of the moment; called with the board locked.
  func stream(keepingNewest keepsNewest: Bool = false, _ current: () -> Value) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: keepsNewest ? .bufferingNewest(1) : .unbounded)
    let number: Int? = state.withLock { state in
      let value = current()
      continuation.yield(value)
      if state.isFinished { return nil }
      // Those who look already are told here what they have not seen yet.
      if !state.lookers.isEmpty, value != state.shown {
        for looker in state.lookers.values { looker.yield(value) }
      }
      state.shown = value
      state.nextNumber += 1
      state.lookers[state.nextNumber] = continuation
      return state.nextNumber
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.lookers.removeValue(forKey: number) }
    }
    return stream
  }

  /// The value may be another one now.
  func post(_ current: () -> Value) {
    state.withLock { state in
      if state.lookers.isEmpty { return }
      let value = current()
      if value == state.shown { return }
      state.shown = value
      for looker in state.lookers.values { looker.yield(value) }
    }
  }

  func finish() {
    let lookers = state.withLock { state in
      state.isFinished = true
      defer { state.lookers = [:] }
      return Array(state.lookers.values)
    }
    for looker in lookers { looker.finish() }
  }
}
