internal import Synchronization

/// A remote that answers one call at a time as it was told, and remembers what it was asked.
final class ScriptedRemote: Remote {
  enum Reply: Sendable {
    /// The body of an answer, as it stands in the file.
    case answer(Value)
    case failure(RemoteFailure)

    /// The answer is lost, or the request never arrived.
    static let unreachable = Reply.failure(RemoteFailure(.unreachable(reason: "the script says so", underlying: nil)))
    /// The server refuses for good.
    static let refused = Reply.failure(
      RemoteFailure(.refused(ErrorAnswer(code: .raised, message: "the script says so"), status: nil)))
  }

  struct Request: Sendable {
    var call: TranscriptStep.Call
    var json: Value
  }

  private struct State {
    var reply: (call: TranscriptStep.Call, reply: Reply)?
    var requests: [Request] = []
  }

  private let state = Mutex(State())

  /// Makes ready for a call of the client: forgets what is over, and has an answer for one request.
  func prepare(_ call: TranscriptStep.Call, _ reply: Reply) {
    state.withLock { $0 = State(reply: (call, reply)) }
  }

  /// What was asked since ``prepare(_:_:)``.
  var requests: [Request] { state.withLock { $0.requests } }

  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    try answer(.pull, request.json)
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    try answer(.push, request.json)
  }

  private func answer<Body: WireMessage>(
    _ call: TranscriptStep.Call, _ request: Value
  ) throws(RemoteFailure) -> RemoteAnswer<Body> {
    let reply = state.withLock { state in
      state.requests.append(Request(call: call, json: request))
      guard let prepared = state.reply, prepared.call == call else { return nil as Reply? }
      state.reply = nil
      return prepared.reply
    }
    switch reply {
    case .answer(let json):
      do throws(MessageDefect) { return RemoteAnswer(body: try Body(json: json)) } catch {
        throw RemoteFailure(.undecodable(error))
      }
    case .failure(let failure): throw failure
    case nil: throw RemoteFailure(.unreachable(reason: "the script has no answer for this call", underlying: nil))
    }
  }
}
