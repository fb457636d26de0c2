@_spi(Engine) internal import StrandlineLog

/// Counts what is being served and what is being sent, of all and of each user, and says no beyond the limits.
final class CallGate: Sendable {
  enum Refusal { case tooManyOfAll, tooManyOfUser }

  private struct State {
    var callCount = 0
    /// Calls, polls and streams.
    var byUser: [String: Int] = [:]
    /// Bytes of answers that are on their way.
    var answerByteCount = 0
    var answerByteCountByUser: [String: Int] = [:]
  }

  private let limits: HTTPLimits
  private let state = Lock(State())

  init(_ limits: HTTPLimits) { self.limits = limits }

  /// - Parameter isWaiting: a poll or a stream, which costs nothing while it waits.
  func enter(_ user: String, isWaiting: Bool) -> Refusal? {
    state.withLock { state in
      let count = state.byUser[user, default: 0]
      guard count < limits.callCountPerUserMax else { return .tooManyOfUser }
      // Who reads nothing asks for nothing more; what would be decided could not be told.
      let unreadByteCount = state.answerByteCountByUser[user, default: 0]
      guard isWaiting || unreadByteCount < limits.answerByteCountPerUserMax else { return .tooManyOfUser }
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

  /// Counts the bytes of an answer, if there is room for them.
  func take(_ byteCount: Int, of user: String) -> Bool {
    state.withLock { state in
      let ofUser = state.answerByteCountByUser[user, default: 0]
      guard ofUser == 0 || byteCount <= limits.answerByteCountPerUserMax - ofUser,
        state.answerByteCount == 0 || byteCount <= limits.answerByteCountOfAllMax - state.answerByteCount
      else { return false }
      state.answerByteCount += byteCount
      state.answerByteCountByUser[user] = ofUser + byteCount
      return true
    }
  }

  func giveBack(_ byteCount: Int, of user: String) {
    state.withLock { state in
      let left = state.answerByteCountByUser[user, default: 0] - byteCount
      state.answerByteCountByUser[user] = left > 0 ? left : nil
      state.answerByteCount -= byteCount
    }
  }

  var callCount: Int { state.withLock { $0.callCount } }
}
