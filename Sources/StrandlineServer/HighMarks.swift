@_spi(Engine) internal import StrandlineLog

/// Tells those who wait how far the server has come.
final class HighMarks: Sendable {
  private struct State {
    var highMark: Int64 = 0
    var nextID: UInt64 = 0
    var waiting: [UInt64: AsyncStream<Int64>.Continuation] = [:]
    var isEnded = false
  }

  private let state = Lock(State())

  /// The newest mark at once, then every newer one; of several that nobody has taken yet the newest alone.
  func stream() -> AsyncStream<Int64> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state -> UInt64? in
      if state.isEnded { return nil }
      state.nextID += 1
      state.waiting[state.nextID] = continuation
      continuation.yield(state.highMark)
      return state.nextID
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.waiting.removeValue(forKey: id) }
    }
    return stream
  }

  func advance(to highMark: Int64) {
    state.withLock { state in
      guard highMark > state.highMark else { return }
      state.highMark = highMark
      for continuation in state.waiting.values { continuation.yield(highMark) }
    }
  }

  func end() {
    let waiting = state.withLock { state in
      state.isEnded = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }
}
