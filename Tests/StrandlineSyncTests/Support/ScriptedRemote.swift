@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport

/// A remote that answers what a test has put down, and keeps what it was asked.
final class ScriptedRemote: Remote {
  enum PullStep: Sendable {
    case answer(PullAnswer, AnswerNotes = AnswerNotes())
    case failure(RemoteFailure)
    /// Waits until the test opens the door, then answers.
    case held(Door, PullAnswer)
    case heldFailure(Door, RemoteFailure)
  }

  enum PushStep: Sendable {
    case answer(PushAnswer, AnswerNotes = AnswerNotes())
    /// All applied, in order.
    case applied
    case failure(RemoteFailure)
    case held(Door, PushAnswer?)
  }

  struct State {
    var pulls: [PullStep] = []
    var pushes: [PushStep] = []
    var pullRequests: [PullRequest] = []
    var pushRequests: [PushRequest] = []
    var contexts: [RemoteContext] = []
    /// What is answered once the script is over; nil: a retryable failure.
    var pullDefault: PullStep?
    var pushDefault: PushStep?
  }

  private let state: Lock<State>

  init(pulls: [PullStep] = [], pushes: [PushStep] = [], isObliging: Bool = true) {
    var state = State(pulls: pulls, pushes: pushes)
    if isObliging { state.pushDefault = .applied }
    self.state = Lock(state)
  }

  var pullRequests: [PullRequest] { state.withLock { $0.pullRequests } }
  var pushRequests: [PushRequest] { state.withLock { $0.pushRequests } }
  var contexts: [RemoteContext] { state.withLock { $0.contexts } }
  var requestCount: Int { state.withLock { $0.pullRequests.count + $0.pushRequests.count } }

  func script(pulls: [PullStep] = [], pushes: [PushStep] = []) {
    state.withLock {
      $0.pulls += pulls
      $0.pushes += pushes
    }
  }

  func answerAlways(pull: PullStep? = nil, push: PushStep? = nil) {
    state.withLock {
      if let pull { $0.pullDefault = pull }
      if let push { $0.pushDefault = push }
    }
  }

  /// Takes back what has not been asked for yet.
  func forgetScript() {
    state.withLock {
      $0.pulls = []
      $0.pushes = []
    }
  }

  static let offline = RemoteFailure(.unreachable(reason: "the script is over", underlying: nil))

  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    let step = state.withLock { state -> PullStep? in
      state.pullRequests.append(request)
      state.contexts.append(context)
      return state.pulls.isEmpty ? state.pullDefault : state.pulls.removeFirst()
    }
    switch step {
    case .answer(let answer, let notes): return RemoteAnswer(body: answer, notes: notes)
    case .failure(let failure): throw failure
    case .held(let door, let answer):
      await door.pass()
      return RemoteAnswer(body: answer)
    case .heldFailure(let door, let failure):
      await door.pass()
      throw failure
    // Nothing new.
    case nil: return RemoteAnswer(body: PullAnswer(cursor: request.cursor))
    }
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    let step = state.withLock { state -> PushStep? in
      state.pushRequests.append(request)
      state.contexts.append(context)
      return state.pushes.isEmpty ? state.pushDefault : state.pushes.removeFirst()
    }
    let applied = PushAnswer(verdicts: request.mutations.map { .applied($0.id) })
    switch step {
    case .answer(let answer, let notes): return RemoteAnswer(body: answer, notes: notes)
    case .applied: return RemoteAnswer(body: applied)
    case .failure(let failure): throw failure
    case .held(let door, let answer):
      await door.pass()
      return RemoteAnswer(body: answer ?? applied)
    case nil: throw Self.offline
    }
  }
}

extension RemoteFailure {
  static func refused(_ code: TransportCode?, _ message: String = "no", status: Int? = nil) -> RemoteFailure {
    RemoteFailure(.refused(ErrorAnswer(code: code, message: message), status: status))
  }
}

/// Something that a call waits in front of until the test lets it through.
final class Door: Sendable {
  private struct State {
    var isOpen = false
    var isReached = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  func pass() async {
    let watchers = state.withLock { state in
      state.isReached = true
      defer { state.watchers = [] }
      return state.watchers
    }
    for watcher in watchers { watcher.resume() }
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Returns once somebody stands in front of the door.
  func reached() async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if !state.isReached { state.watchers.append(continuation) }
        return state.isReached
      }
      if isReached { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
