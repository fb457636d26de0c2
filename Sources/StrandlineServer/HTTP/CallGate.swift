@_spi(Engine) internal import StrandlineLog

/// Counts what is being served, of all and of each user, and says no beyond the limits.
final class CallGate: Sendable {
  enum Refusal { case tooManyOfAll, tooManyOfUser }

  private struct State {
    var callCount = 0
    /// Calls, polls and streams.
    var byUser: [String: Int] = [:]
  }

  private let limits: HTTPLimits
  private let state = Lock(State())

  init(_ limits: HTTPLimits) { self.limits = limits }

  /// - Parameter isWaiting: a poll or a stream, which costs nothing while it waits.
  func enter(_ user: String, isWaiting: Bool) -> Refusal? {
    state.withLock { state in
      let count = state.byUser[user, default: 0]
      guard count < limits.callCountPerUserMax else { return .tooManyOfUser }
      guard isWaiting || state.callCount < limits.callCountMax else { return .tooManyOfAll }
      state.byUser[user] = count + 1
      if !isWaiting { state.callCount += 1 }
      return nil
    }
  }

  func leave(_ user: String, isWaiting: Bool) {
    state.withLock { state in
      let count = state.byUser[user, default: 1]
      state.byUser[user] = count > 1 ? count - 1 : nil
      if !isWaiting { state.callCount -= 1 }
    }
  }

  var callCount: Int { state.withLock { $0.callCount } }
}
