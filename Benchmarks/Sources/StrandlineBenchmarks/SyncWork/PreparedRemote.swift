internal import StrandlineSync

/// A server that has its pages ready, and applies everything.
final class PreparedRemote: Remote, @unchecked Sendable {
  // Sendable: a client asks for one thing at a time.
  private let pages: [PullAnswer]
  /// Encoded pages, decoded when they are asked for, as a transport does.
  private let bodies: [[UInt8]]
  private let form: BodyForm?
  private var next = 0

  init(_ pages: [PullAnswer] = [], as form: BodyForm? = nil) {
    self.form = form
    self.pages = form == nil ? pages : []
    bodies = form.map { form in pages.map { form.encode($0) } } ?? []
  }

  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    defer { next += 1 }
    guard let form else { return RemoteAnswer(body: next < pages.count ? pages[next] : PullAnswer(cursor: "0")) }
    do throws(MessageDefect) {
      return RemoteAnswer(body: try form.decode(PullAnswer.self, from: bodies[next], contentByteCountMax: 64 << 20))
    } catch {
      throw RemoteFailure(.undecodable(error))
    }
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    RemoteAnswer(body: PushAnswer(verdicts: request.mutations.map { .applied($0.id) }))
  }
}
