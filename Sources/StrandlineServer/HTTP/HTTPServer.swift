@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// A sync server over HTTP: `POST …/rpc/pull` and `…/rpc/push` in the published client's shape, the same as `/v1/pull` and `/v1/push`,
/// `GET /v1/wake` as long poll or event stream, `/healthz`, `/readyz`, `/metrics`.
///
/// ```swift
/// let keys = TokenKeys(try TokenKeySet(secret: secret))
/// let http = try HTTPServer(
///   HTTPServerConfiguration(address: address), serving: server, keys: keys, rules: TokenRules(issuer: "https://id.example"))
/// print(http.address)
/// await http.stop()
/// ```
public final class HTTPServer: Sendable {
  private let daemon: HTTPDaemon
  private let routes: SyncRoutes

  /// Listens, and serves from then on until ``stop()``, whoever still holds the server.
  ///
  /// - Parameter log: Told of each request that is over, on a thread of the server; must not block.
  /// - Throws: ``HTTPServerError``.
  public init(
    _ configuration: HTTPServerConfiguration, serving server: SyncServer, keys: TokenKeys,
    rules: TokenRules = TokenRules(),
    log: @escaping @Sendable (HTTPLogEntry) -> Void = { _ in }
  ) throws(HTTPServerError) {
    try configuration.check()
    let metrics = HTTPMetrics()
    let routes = SyncRoutes(configuration, server: server, keys: keys, rules: rules, metrics: metrics)
    let table = routes.table
    self.routes = routes
    daemon = try HTTPDaemon(
      on: try ListeningSocket(configuration.address), limits: configuration.limits, identity: configuration.identity,
      threadCount: configuration.threadCount,
      handlers: HTTPDaemon.Handlers(
        admit: { routes.admit($0) },
        completed: { outcome in
          let entry = HTTPLogEntry(
            method: Self.methods.contains(outcome.method) ? outcome.method : "other",
            route: table[outcome.path]?.name ?? "other", peer: outcome.peer, status: outcome.status,
            receivedByteCount: outcome.receivedByteCount, sentByteCount: outcome.sentByteCount,
            duration: outcome.duration, trouble: outcome.trouble)
          metrics.count(entry)
          log(entry)
        }))
    routes.began(connectionCount: { [weak daemon] in daemon?.connectionCount ?? 0 })
  }

  /// The methods that logs and figures know by name.
  private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]

  /// Where it listens, with the port that was found.
  public var address: SocketAddress { daemon.address }

  /// Takes no more connections, ends long polls and event streams, lets calls that are being served end, and closes every connection.
  ///
  /// The ``SyncServer`` stays open. A second call does nothing.
  public func stop() async {
    let thread = HelperThread(name: "strand-stop", clock: SystemClock())
    let stop: @Sendable () -> Void = { [daemon, routes] in daemon.stop { routes.stop() } }
    do throws(Errno) { try thread.start() } catch {
      // No thread to be had: better to block one of the pool than to go on serving.
      return stop()
    }
    await withCheckedContinuation { continuation in
      thread.submit {
        stop()
        continuation.resume()
      }
    }
    thread.stop()
  }
}

extension HTTPServerConfiguration {
  fileprivate func check() throws(HTTPServerError) {
    func require(_ condition: Bool, _ reason: String) throws(HTTPServerError) {
      guard condition else { throw .configuration(reason) }
    }
    try require(
      pathPrefix.isEmpty || (pathPrefix.hasPrefix("/") && !pathPrefix.hasSuffix("/")),
      "a path prefix begins with a slash and does not end with one")
    try require(pathPrefix != "/v1" && !pathPrefix.contains("//"), "the path prefix \(pathPrefix) is not free")
    try require(!keyHeader.isEmpty && !profileHeader.isEmpty, "a header has a name")
    try require(!publishableKeys.contains(""), "a publishable key is not empty")
    let counts = [
      limits.connectionCountMax, limits.connectionCountPerAddressMax, limits.bodyByteCountMax,
      limits.bodyByteCountOfAllMax, limits.answerByteCountOfAllMax, limits.answerByteCountPerUserMax,
      limits.callCountMax, limits.callCountPerUserMax, threadCount,
    ]
    try require(counts.allSatisfy { 1...Int(Int32.max) ~= $0 }, "counts are from 1 to \(Int32.max)")
    try require(4096...1 << 20 ~= limits.headerByteCountMax, "a header has 4 KiB to 1 MiB")
    let times = [
      limits.headerDeadline, limits.bodyDeadline, limits.answerDeadline, limits.idleDeadline, limits.pollDeadline,
      limits.heartbeat, limits.stopDeadline,
    ]
    try require(times.allSatisfy { .zero < $0 && $0 <= .seconds(86_400) }, "deadlines are above zero and at most a day")
  }
}
