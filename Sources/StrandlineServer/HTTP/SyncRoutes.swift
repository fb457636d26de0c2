@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// Which request means what, and who may make it.
///
/// Everything that a head tells is judged before a byte of the body is kept: strangers cost no more than their header.
final class SyncRoutes: Sendable {
  enum Route: Sendable {
    case pull(String)
    case push(String)
    case wake, health, readiness, metrics

    /// As logs and figures name it.
    var name: String {
      switch self {
      case .pull(let path), .push(let path): path
      case .wake: "/v1/wake"
      case .health: "/healthz"
      case .readiness: "/readyz"
      case .metrics: "/metrics"
      }
    }

    var method: String {
      switch self {
      case .pull, .push: "POST"
      case .wake, .health, .readiness, .metrics: "GET"
      }
    }
  }

  let table: [String: Route]
  let server: SyncServer
  let limits: HTTPLimits
  let offersBinary: Bool
  let gate: CallGate
  let waits = Waits()
  let metrics: HTTPMetrics
  private let configuration: HTTPServerConfiguration
  private let keys: TokenKeys
  private let verifier: TokenVerifier
  private let clock = SystemClock()
  private let connectionCount = Lock<@Sendable () -> Int>({ 0 })

  init(
    _ configuration: HTTPServerConfiguration, server: SyncServer, keys: TokenKeys, rules: TokenRules,
    metrics: HTTPMetrics
  ) {
    self.configuration = configuration
    self.server = server
    self.keys = keys
    self.metrics = metrics
    limits = configuration.limits
    offersBinary = configuration.offersBinary
    gate = CallGate(limits)
    verifier = TokenVerifier(rules: rules)
    var table: [String: Route] = ["/v1/wake": .wake, "/healthz": .health, "/readyz": .readiness, "/metrics": .metrics]
    for path in ["\(configuration.pathPrefix)/rpc", "/v1"] {
      table["\(path)/pull"] = .pull("\(path)/pull")
      table["\(path)/push"] = .push("\(path)/push")
    }
    self.table = table
  }

  func began(connectionCount: @escaping @Sendable () -> Int) {
    self.connectionCount.withLock { $0 = connectionCount }
  }

  func stop() { waits.stop() }

  // MARK: Admission

  func admit(_ head: HTTPHead) -> HTTPAdmission {
    guard let route = table[head.path] else { return .answer(.problem(404, "there is nothing at this path")) }
    guard head.method == route.method else {
      return .answer(.problem(405, "\(route.method) is wanted", fields: [("Allow", route.method)]))
    }
    switch route {
    // Without a task: it says that the process answers, however much there is to do.
    case .health: return .answer(.text("ok\n"))
    case .readiness: return .serve(byteCountMax: 0) { [self] _ in await readiness() }
    case .metrics: return .serve(byteCountMax: 0) { [self] _ in .text(metricsText()) }
    case .pull, .push, .wake: break
    }
    do throws(HTTPRefusal) {
      let (caller, expires) = try authenticate(head)
      let history = head.fields[AnswerNotes.historyName.lowercased()]
      switch route {
      case .pull:
        let forms = try forms(head)
        return .serve(byteCountMax: limits.bodyByteCountMax) { [self] body in
          await call(PullRequest.self, body, forms, caller) { [server] (request) throws(ErrorAnswer) in
            try await server.pull(request, as: caller, history: history)
          }
        }
      case .push:
        let forms = try forms(head)
        return .serve(byteCountMax: limits.bodyByteCountMax) { [self] body in
          await call(PushRequest.self, body, forms, caller) { [server] (request) throws(ErrorAnswer) in
            try await server.push(request, as: caller, history: history)
          }
        }
      default:
        let wait = try WakeRequest(head, limits: limits)
        return .serve(byteCountMax: 0) { [self] _ in await wake(wait, caller, expires: expires) }
      }
    } catch {
      return .answer(error.response)
    }
  }

  /// Profile, key and token, in this order.
  private func authenticate(_ head: HTTPHead) throws(HTTPRefusal) -> (caller: Caller, expires: Int64) {
    if let profile = head.fields[configuration.profileHeader.lowercased()], !configuration.profiles.isEmpty,
      !configuration.profiles.contains(profile)
    {
      throw HTTPRefusal(.problem(406, "the schema profile is not known here", code: .unknownProfile))
    }
    if !configuration.publishableKeys.isEmpty {
      let key = Array((head.fields[configuration.keyHeader.lowercased()] ?? "").utf8)
      guard configuration.publishableKeys.contains(where: { ConstantTime.areEqual(Array($0.utf8), key) }) else {
        throw unauthorized("the request brings no key of an app that is known here")
      }
    }
    let field = (head.fields["authorization"] ?? "").split(separator: " ", omittingEmptySubsequences: true)
    guard field.count == 2, field[0].lowercased() == "bearer" else {
      throw unauthorized("the request brings no bearer token")
    }
    let now = clock.wallMilliseconds() / 1000
    guard let set = keys.current(now: now) else { throw HTTPRefusal(.busy) }
    do throws(TokenDefect) {
      let claims = try verifier.verify(String(field[1]), with: set, now: now)
      return (Caller(userID: claims.subject, role: claims.role ?? Caller.defaultRole), claims.expires)
    } catch {
      metrics.countRefusedToken()
      // Keys are published anew now and then: whoever brings a new one comes back when it has been looked for.
      if error == .unknownKey, keys.beginReload(now: now) { throw HTTPRefusal(.busy) }
      throw unauthorized(error.reason)
    }
  }

  private func unauthorized(_ reason: String) -> HTTPRefusal {
    HTTPRefusal(.problem(401, reason, code: .sessionExpired, fields: [("WWW-Authenticate", "Bearer")]))
  }

  /// How the body came and how the answer is to go.
  private func forms(_ head: HTTPHead) throws(HTTPRefusal) -> BodyForms {
    guard let form = BodyForm(contentType: head.fields["content-type"] ?? BodyForm.json.contentType),
      form == .json || offersBinary
    else {
      throw HTTPRefusal(
        .problem(
          415, "bodies are \(BodyForm.json.contentType)\(offersBinary ? " or \(BodyForm.binary.contentType)" : "")"))
    }
    guard head.fields["content-encoding"].map({ $0.lowercased() == "identity" }) ?? true else {
      throw HTTPRefusal(.problem(415, "bodies are not packed", fields: [("Accept-Encoding", "identity")]))
    }
    let accepts = head.fields["accept"] ?? ""
    let wantsBinary = offersBinary && Preferences(accepts).takes { BodyForm(contentType: $0) == .binary }
    return BodyForms(
      request: form, answer: wantsBinary ? .binary : .json,
      takesGzip: Preferences(head.fields["accept-encoding"] ?? "").takes { $0 == "gzip" || $0 == "*" })
  }

  // MARK: Of the operator

  private func readiness() async -> HTTPResponse {
    do throws(ErrorAnswer) {
      _ = try await server.notes()
      return .text("ready\n")
    } catch {
      return .problem(503, "the storage does not answer")
    }
  }

  private func metricsText() -> String {
    metrics.text(
      connectionCount: connectionCount.withLock { $0 }(), callCount: gate.callCount, waitCount: waits.count)
  }
}

/// A request that is not served, and why.
struct HTTPRefusal: Error {
  var response: HTTPResponse

  init(_ response: HTTPResponse) { self.response = response }
}

/// Comparison that takes the same time wherever two secrets differ.
enum ConstantTime {
  static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// A field that lists what its sender takes: `Accept`, `Accept-Encoding`.
struct Preferences {
  private let names: [String]

  init(_ field: String) {
    names = field.split(separator: ",").compactMap { entry in
      let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let name = parts.first, !name.isEmpty else { return nil }
      // A weight of zero says no.
      let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && (Double($0.dropFirst(2)) ?? 0) <= 0 }
      return isRefused ? nil : name
    }
  }

  func takes(_ isWanted: (String) -> Bool) -> Bool { names.contains(where: isWanted) }
}

extension HTTPResponse {
  static func text(_ text: String) -> HTTPResponse {
    HTTPResponse(
      200, [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")],
      body: .bytes(Array(text.utf8)))
  }
}
