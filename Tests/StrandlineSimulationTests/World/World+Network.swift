import StrandlineProtocol
import StrandlineTestSupport

/// What becomes of a request.
private enum Fate {
  case arrives
  /// It is lost on its way.
  case lost
  /// Its answer is lost.
  case unanswered
  /// It comes when nobody waits for it any more.
  case late
  /// It comes twice.
  case twice
  /// The server is in trouble and says so.
  case trouble
}

extension World {
  /// The device whose process asks; nil: it is dead.
  func device(_ number: Int, _ life: Int) -> Device? {
    devices.first { $0.number == number && $0.life == life && !$0.disk.isCrashed }
  }

  private func fate(of device: Device) -> Fate {
    if isCalm { return .arrives }
    if !device.isConnected { return .lost }
    switch draw(1...100) {
    case 1...7: return .lost
    case 8...16: return .unanswered
    case 17...21: return .late
    case 22...27: return .twice
    case 28...31: return .trouble
    default: return .arrives
    }
  }

  // MARK: Pull

  func carry(
    _ request: PullRequest, _ context: RemoteContext, from device: Device
  ) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    let life = device.life
    var scope: Int64 = 0
    do {
      try device.prepare(request)
      scope = device.replica.scopeCount
      let (answer, visible) = try await pulled(request, try user(context), device)
      try await interlude(device)
      if device.life != life { throw SimulatedRemote.unreachable }
      let page = wrong(answer.body)
      note("→ \(device.name) \(summary(page))")
      count(page.signal ?? (page.hasMore ? "page with more" : "closing page"))
      device.given = Device.Given(
        change: { $0.take(page, askedIn: scope) },
        check: { replica in
          guard page.signal == nil, !page.hasMore, replica.isCurrent(scope) else { return }
          try device.judge(replica, visible, request.team)
        })
      return RemoteAnswer(body: page, notes: answer.notes)
    } catch let error as RemoteFailure {
      if device.life == life { device.given = Device.Given { $0.pullFailed(askedIn: scope) } }
      throw error
    } catch {
      fail(error)
      throw SimulatedRemote.unreachable
    }
  }

  /// The answer, and what the user could see when it was made.
  private func pulled(
    _ request: PullRequest, _ user: String, _ device: Device
  ) async throws -> (RemoteAnswer<PullAnswer>, [Place: [String: Value]]) {
    let fate = fate(of: device)
    note("\(device.name) → pull \(request.cursor) as \(user): \(fate)")
    count("pull \(fate)")
    try await interlude(device)
    switch fate {
    case .lost, .late: throw SimulatedRemote.unreachable
    case .trouble: throw Self.trouble
    case .arrives, .unanswered, .twice: break
    }
    let reply = try await server.pull(request, as: user)
    guard case .answer(let answer) = reply else { throw failure(reply) }
    let visible = server.model.visible(to: user, team: request.team)
    if fate == .twice { _ = try await server.pull(request, as: user) }
    if fate == .unanswered { throw SimulatedRemote.unreachable }
    return (answer, visible)
  }

  // MARK: Push

  func carry(
    _ request: PushRequest, _ context: RemoteContext, from device: Device
  ) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    let life = device.life
    do {
      try device.prepare(request)
      let answer = try await pushed(request, try user(context), device)
      try await interlude(device)
      if device.life != life { throw SimulatedRemote.unreachable }
      note("→ \(device.name) \(summary(answer.body))")
      count(answer.body.signal ?? (answer.body.abort == nil ? "verdicts" : "abort"))
      for verdict in answer.body.verdicts ?? [] { count(verdict.reason ?? verdict.kind) }
      device.given = Device.Given { $0.take(answer.body, to: request.mutations.count) }
      return answer
    } catch let error as RemoteFailure {
      if device.life == life, error.isPermanent { device.noteRefusal(request) }
      throw error
    } catch {
      fail(error)
      throw SimulatedRemote.unreachable
    }
  }

  private func pushed(
    _ request: PushRequest, _ user: String, _ device: Device
  ) async throws -> RemoteAnswer<PushAnswer> {
    let fate = fate(of: device)
    note("\(device.name) → push \(request.mutations.map(\.id)) as \(user): \(fate)")
    count("push \(fate)")
    try await interlude(device)
    if !isCalm, device.refusalCount > 0 {
      device.refusalCount -= 1
      count("refused for good")
      throw RemoteFailure(.refused(ErrorAnswer(code: .invalidParameter, message: "no"), status: 400))
    }
    switch fate {
    case .lost:
      if let answer = inventedAnswer(to: request) { return answer }
      throw SimulatedRemote.unreachable
    case .trouble: throw Self.trouble
    case .late:
      keepForLater(request, user)
      throw SimulatedRemote.unreachable
    case .arrives, .unanswered, .twice: break
    }
    var reply = try await server.push(request, as: user)
    if fate == .twice {
      let second = try await server.push(request, as: user)
      if case .answer = second, chance(50) { reply = second }
    }
    guard case .answer(let answer) = reply else { throw failure(reply) }
    if fate == .unanswered { throw SimulatedRemote.unreachable }
    return answer
  }

  // MARK: Parts

  private func user(_ context: RemoteContext) throws(RemoteFailure) -> String {
    guard let token = context.accessToken else {
      throw RemoteFailure(.refused(ErrorAnswer(code: .sessionMissing, message: "nobody is signed in"), status: nil))
    }
    guard let user = Schema.user(of: token) else {
      throw RemoteFailure(.refused(ErrorAnswer(code: .sessionExpired, message: "whose is it?"), status: 401))
    }
    return user
  }

  private static let trouble = RemoteFailure(.refused(ErrorAnswer(code: nil, message: "in trouble"), status: 503))

  private func failure<Body>(_ reply: ServerNode.Reply<Body>) -> RemoteFailure {
    if case .refused(let answer) = reply { return RemoteFailure(.refused(answer, status: nil)) }
    return SimulatedRemote.unreachable
  }

  private func summary(_ page: PullAnswer) -> String {
    let rows =
      page.rows.map { "\($0.table)/\($0.pk)@\($0.seq)" } + page.tombstones.map { "-\($0.table)/\($0.pk)@\($0.seq)" }
    return "\(page.signal ?? "page") \(page.cursor)\(page.hasMore ? "…" : "") \(rows)"
  }

  private func summary(_ answer: PushAnswer) -> String {
    if let signal = answer.signal { return signal }
    if let abort = answer.abort { return "abort by \(abort.offenderMutationID): \(abort.reason)" }
    return "verdicts \((answer.verdicts ?? []).map { $0.reason ?? $0.kind })"
  }
}

extension PullRequest {
  /// The team that is asked for.
  var team: String { buckets.first { $0.table == "teams" }?.params["team"]?.wireText ?? "" }
}
