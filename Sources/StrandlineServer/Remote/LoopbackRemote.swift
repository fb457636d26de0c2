/// A server in the same process as its clients.
///
/// Answers what the server answers, in the terms of a transport: refusals become ``RemoteFailure`` and carry their notes.
public struct LoopbackRemote: Remote {
  public let server: SyncServer
  private let authenticate: @Sendable (_ accessToken: String) -> Caller?

  /// - Parameter authenticate: the caller that a token stands for; nil: none, or it has expired.
  public init(_ server: SyncServer, authenticate: @escaping @Sendable (_ accessToken: String) -> Caller?) {
    self.server = server
    self.authenticate = authenticate
  }

  public func pull(
    _ request: PullRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    let caller = try await caller(context)
    do throws(ErrorAnswer) {
      return try await server.pull(request, as: caller, history: context.history)
    } catch {
      throw await refusal(error)
    }
  }

  public func push(
    _ request: PushRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    let caller = try await caller(context)
    do throws(ErrorAnswer) {
      return try await server.push(request, as: caller, history: context.history)
    } catch {
      throw await refusal(error)
    }
  }

  private func caller(_ context: RemoteContext) async throws(RemoteFailure) -> Caller {
    guard let token = context.accessToken else {
      let answer = ErrorAnswer(code: .sessionMissing, message: "nobody is signed in: there is no access token to send")
      throw RemoteFailure(.refused(answer, status: nil))
    }
    guard let caller = authenticate(token) else {
      throw await refusal(ErrorAnswer(code: .sessionExpired, message: "the access token is not valid, or not any more"))
    }
    return caller
  }

  private func refusal(_ answer: ErrorAnswer) async -> RemoteFailure {
    RemoteFailure(.refused(answer, status: nil), notes: (try? await server.notes()) ?? AnswerNotes())
  }
}
