@_spi(Engine) internal import StrandlineLog

/// One request from its head to its end.
///
/// Its connection's thread reads and queues; a task of the pool serves. While it serves, the connection is suspended.
final class ServedRequest: Sendable {
  /// What the connection's thread does next.
  enum Next {
    case readOn
    /// The body is there: suspend, then serve it.
    case serve([UInt8], @Sendable ([UInt8]) async -> HTTPResponse)
    case queue(HTTPResponse)
    case closeConnection
  }

  private enum Stage {
    case reading(byteCountMax: Int, @Sendable ([UInt8]) async -> HTTPResponse)
    /// Nothing of the body is kept; once it is over this is answered. Who sends one sees no answer before its end.
    case discarding(HTTPResponse)
    case serving
    case answered(HTTPResponse)
    case queued
  }

  private struct State {
    var stage: Stage
    var body: [UInt8] = []
    var receivedByteCount = 0
    var sentByteCount = 0
    var status: Int?
    var trouble: String?
    /// Held until the request is over.
    var lease: AnswerLease?
  }

  let head: HTTPHead
  let connection: ConnectionHandle
  let started = ContinuousClock.now
  private let discardedByteCountMax: Int
  private let state: Lock<State>

  /// - Parameter discardedByteCountMax: Bytes of a refused body that are still read, so that its sender gets to see the answer.
  init(_ head: HTTPHead, on connection: ConnectionHandle, _ admission: HTTPAdmission, discardedByteCountMax: Int) {
    self.head = head
    self.connection = connection
    self.discardedByteCountMax = discardedByteCountMax
    switch admission {
    case .serve(let byteCountMax, let answer): state = Lock(State(stage: .reading(byteCountMax: byteCountMax, answer)))
    case .answer(let response): state = Lock(State(stage: .discarding(response)))
    }
  }

  /// Takes a piece of the body.
  ///
  /// - Parameter reserve: Whether so many more bytes may be kept, of all requests together.
  func take(_ piece: UnsafeRawBufferPointer, reserve: (Int) -> Bool) -> Next {
    state.withLock { state in
      state.receivedByteCount += piece.count
      switch state.stage {
      case .reading(let byteCountMax, _):
        if piece.count > byteCountMax - state.body.count {
          state.stage = .discarding(.tooLarge(byteCountMax))
          return .readOn
        }
        guard reserve(piece.count) else {
          state.stage = .discarding(.busy)
          return .readOn
        }
        state.body.append(contentsOf: piece)
        return .readOn
      case .discarding: return state.receivedByteCount > discardedByteCountMax ? .closeConnection : .readOn
      case .serving, .answered, .queued: return .closeConnection
      }
    }
  }

  /// The answer of a request whose head told all, to be queued now, where its body is not to be waited for: the sender asked first, or has
  /// more than is read. Nil for any other.
  func early() -> HTTPResponse? {
    guard head.fields["expect"] != nil || head.contentLength.map({ $0 > discardedByteCountMax }) ?? false,
      state.withLock({ if case .discarding = $0.stage { true } else { false } }),
      case .queue(let response) = advance()
    else { return nil }
    return response
  }

  /// The connection's thread asks what comes next: the body is over, or the request was resumed.
  func advance() -> Next {
    state.withLock { state in
      switch state.stage {
      case .reading(_, let answer):
        state.stage = .serving
        return .serve(state.body, answer)
      case .discarding(let response), .answered(let response):
        state.stage = .queued
        state.status = response.status
        state.trouble = response.trouble
        state.lease = response.lease
        if case .bytes(let bytes) = response.body { state.sentByteCount = bytes.count }
        return .queue(response)
      case .serving: return .readOn
      case .queued: return .closeConnection
      }
    }
  }

  /// Gives the answer, once; the second is dropped. Returns whether it was taken: then the connection has to be resumed.
  func answer(_ response: HTTPResponse) -> Bool {
    state.withLock { state in
      guard case .serving = state.stage else { return false }
      state.stage = .answered(response)
      return true
    }
  }

  /// Bytes of the body that are kept.
  var keptByteCount: Int { state.withLock { $0.body.count } }

  func outcome() -> HTTPOutcome {
    state.withLock { state in
      HTTPOutcome(
        method: head.method, path: head.path, peer: head.peer, status: state.status,
        receivedByteCount: state.receivedByteCount, sentByteCount: state.sentByteCount,
        duration: ContinuousClock.now - started, trouble: state.trouble)
    }
  }
}
