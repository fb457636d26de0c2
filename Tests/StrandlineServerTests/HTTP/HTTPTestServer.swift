import StrandlineLog
import StrandlineServer
import StrandlineSync
import StrandlineTestSupport

/// A server on loopback with two tables, whose tokens a test makes.
struct HTTPTestServer {
  static let secret = Array("a secret of the tests, 32 bytes.".utf8)

  let test: TestServer
  let http: HTTPServer
  let log: LogLines

  final class LogLines: Sendable {
    let entries = TestLock<[HTTPLogEntry]>([])
  }

  init(_ change: (inout HTTPServerConfiguration) -> Void = { _ in }) async throws {
    guard let address = SocketAddress("127.0.0.1:0") else { throw NoAddress() }
    var configuration = HTTPServerConfiguration(address: address)
    // On a busy machine a test's own client may be slower than a real one is allowed to be.
    let patience = Duration.seconds(3600)
    configuration.limits.headerDeadline = patience
    configuration.limits.bodyDeadline = patience
    configuration.limits.answerDeadline = patience
    configuration.limits.idleDeadline = patience
    configuration.limits.pollDeadline = patience
    configuration.limits.stopDeadline = patience
    change(&configuration)
    test = try await TestServer([
      "notes": ServerTable(bucketColumn: "owner"), "colors": ServerTable(isPullOnly: true),
      "shared": ServerTable(),
    ])
    let log = LogLines()
    self.log = log
    http = try HTTPServer(
      configuration, serving: test.server, keys: TokenKeys(try TokenKeySet(secret: Self.secret)),
      log: { entry in log.entries.withLock { $0.append(entry) } })
  }

  struct NoAddress: Error {}

  var port: Int { Int(http.address.port) }

  func stop() async { await http.stop() }

  static func token(_ user: String = "ann", expires: Int64 = 3600, secret: [UInt8] = Self.secret) -> String {
    let now = SystemClock().wallMilliseconds() / 1000
    return TokenText.hs256(["sub": .string(user), "exp": .int(now + expires)], secret: secret)
  }

  func remote(_ change: (inout RemoteConfiguration) -> Void = { _ in }) throws -> HTTPRemote {
    var configuration = RemoteConfiguration(url: "http://127.0.0.1:\(port)", publishableKey: "key")
    // The tests that run beside it may keep the pool's threads for long.
    configuration.deadlines.connect = .seconds(900)
    configuration.deadlines.request = .seconds(900)
    change(&configuration)
    return try HTTPRemote(configuration)
  }

  static func context(_ user: String = "ann") -> RemoteContext { RemoteContext(accessToken: token(user)) }

  /// Sends the texts over one connection and receives as many answers.
  func exchange(_ requests: [String]) async throws -> [HTTPMessageText] {
    let port = port
    return try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      return try requests.compactMap { request in
        try socket.send(request)
        return socket.receiveMessage()
      }
    }
  }

  func exchange(_ request: String) async throws -> HTTPMessageText? { try await exchange([request]).first }

  /// A request in full.
  static func request(
    _ method: String = "POST", _ path: String = "/v1/pull", fields: [String] = [], token: String? = token(),
    body: String = ""
  ) -> String {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: x\r\n"
    if let token { text += "Authorization: Bearer \(token)\r\n" }
    for field in fields { text += "\(field)\r\n" }
    if method == "POST" { text += "Content-Length: \(body.utf8.count)\r\n" }
    return text + "\r\n\(body)"
  }

  static let pullBody = #"{"schema_version":1,"cursor":"0","buckets":[{"table":"notes","params":{"owner":"ann"}}]}"#
}
