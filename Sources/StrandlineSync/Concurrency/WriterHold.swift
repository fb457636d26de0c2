@_spi(Engine) internal import StrandlineLog

/// Makes local writes wait for a moment, so that what is made of the newest commit can be put in force before there is another.
final class WriterHold: Sendable {
  private struct State {
    var isHeld = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  /// Returns once nobody holds the writers.
  func pass() async {
    if !state.withLock({ $0.isHeld }) { return }
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHeld { state.waiting.append(continuation) }
        return state.isHeld
      }
      if !isHeld { continuation.resume() }
    }
  }

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let waiting = state.withLock { state in
      defer {
        state.isHeld = false
        state.waiting = []
      }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
