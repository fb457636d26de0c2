/// A sync server as a client reaches it: over the network, in the same process, or from a script.
///
/// A remote sends what it is given and answers what came; it repeats nothing by itself. Cancelling the task ends a call that is out.
public protocol Remote: Sendable {
  /// Asks for one page.
  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer>
  /// Hands over one slice of mutations.
  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer>
}

/// What travels beside the body of a request.
public struct RemoteContext: Sendable {
  /// Nil: nobody is signed in, and a remote that needs a token refuses before it sends anything.
  public var accessToken: String?
  /// `Strandline-History`: the stored anchor, as it came; nil while there is none.
  public var history: String?

  public init(accessToken: String? = nil, history: String? = nil) {
    self.accessToken = accessToken
    self.history = history
  }
}

extension RemoteContext: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Says whether there is a token, and nothing of it.
  public var description: String {
    "RemoteContext(accessToken: \(accessToken == nil ? "none" : "given"), history: \(history ?? "none"))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["history": history as Any]) }
}

/// An answer and what travelled beside it.
public struct RemoteAnswer<Body: Sendable>: Sendable {
  public var body: Body
  public var notes: AnswerNotes

  public init(body: Body, notes: AnswerNotes = AnswerNotes()) {
    self.body = body
    self.notes = notes
  }
}
