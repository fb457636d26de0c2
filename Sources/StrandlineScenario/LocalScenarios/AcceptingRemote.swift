/// A remote that applies every mutation and never has anything new.
struct AcceptingRemote: Remote {
  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    RemoteAnswer(body: PullAnswer(cursor: request.cursor))
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    RemoteAnswer(body: PushAnswer(verdicts: request.mutations.map { .applied($0.id) }))
  }
}
