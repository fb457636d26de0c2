import Foundation
import FoundationNetworking
import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Synchronization
import Testing

@Suite("HTTP server") struct HTTPServerTests {
  private let pull = PullRequest(
    clientID: "c", schemaVersion: 1, cursor: "0", limit: nil,
    buckets: [.init(table: "notes", params: ["owner": "ann"]), .init(table: "ghosts", params: [:])])

  private func push(_ mutations: Mutation...) -> PushRequest {
    PushRequest(clientID: "c", schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: mutations)
  }

  @Test(arguments: ["rpc", "v1"], [true, false])
  func `what one client pushes another pulls, in either form of body`(prefix: String, isBinary: Bool) async throws {
    let server = try await HTTPTestServer { $0.offersBinary = isBinary }
    let remote = try server.remote { $0.pathPrefix = prefix }
    let row: [String: Value] = ["owner": "ann", "text": "milk 𝄞", "n": 7, "tags": ["a", .null]]
    // The first call finds out whether the server knows the binary form, the second uses it.
    for round in 1...2 {
      let answer = try await remote.push(push(.insert("m\(round)", "p\(round)", row)), HTTPTestServer.context())
      #expect(answer.body.verdicts == [.applied("m\(round)")])
    }
    let page = try await remote.pull(pull, HTTPTestServer.context())
    #expect(page.body.rows.map(\.row) == [row, row] && page.body.cursor == "2" && !page.body.hasMore)
    #expect(page.notes.unknownTables == ["ghosts"])
    #expect(HistoryAnchor(page.notes.history ?? "")?.number == 2)
    let types = server.log.entries.withLock { $0.map(\.route) }
    #expect(types.allSatisfy { $0 == "/\(prefix)/push" || $0 == "/\(prefix)/pull" })

    // Sent back, the anchor is compared.
    var context = HTTPTestServer.context()
    context.history = "00000000000000000000000000000000;2;0000000000000000"
    let lost = try await remote.pull(pull, context)
    #expect(lost.body.signal == "RESET_REQUIRED" && lost.notes.resetCause == "history")
    await server.stop()
  }

  @Test func `a user reaches nothing of another's`() async throws {
    let server = try await HTTPTestServer()
    let remote = try server.remote()
    _ = try await remote.push(push(.insert("m1", "p", ["owner": "ann", "text": "mine"])), HTTPTestServer.context())
    let page = try await remote.pull(pull, HTTPTestServer.context("eve"))
    #expect(page.body.rows.isEmpty)
    let stolen = push(
      .update("m2", "p", ["text": "theirs"]), .update("m3", "p", ["owner": "eve"]), .delete("m4", "p"),
      .insert("m5", "p", ["owner": "eve"]), .insert("m1", "q", ["owner": "eve"]))
    let answer = try await remote.push(stolen, HTTPTestServer.context("eve"))
    #expect(answer.body.verdicts?.map(\.reason) == Array(repeating: "RLS_DENIED", count: 5))
    #expect(answer.body.verdicts?.allSatisfy { $0.serverRow == nil } == true)
    #expect(
      try await remote.pull(pull, HTTPTestServer.context()).body.rows.map(\.row) == [["owner": "ann", "text": "mine"]])
    await server.stop()
  }

  @Test func `refusals have the code and the status of the protocol, and say where the server stands`() async throws {
    let server = try await HTTPTestServer { $0.publishableKeys = ["key", "other"] }
    let key = "apikey: other"
    let expired = HTTPTestServer.token(expires: -300)
    let forged = HTTPTestServer.token(secret: Array("another secret, 32 bytes long...".utf8))
    let unscoped = #"{"schema_version":1,"cursor":"0","buckets":[{"table":"notes","params":{}}]}"#
    let foreign =
      #"{"schema_version":1,"batch":{"mutations":[{"mutation_id":"m","table":"ghosts","pk":"p","op":"insert"}]}}"#
    let pullOnly =
      #"{"schema_version":1,"batch":{"mutations":[{"mutation_id":"m","table":"colors","pk":"p","op":"insert"}]}}"#
    let cases: [(String, Int, String?)] = [
      (HTTPTestServer.request(fields: [key], token: nil, body: HTTPTestServer.pullBody), 401, "PGRST301"),
      (HTTPTestServer.request(fields: [key], token: "x", body: HTTPTestServer.pullBody), 401, "PGRST301"),
      (HTTPTestServer.request(fields: [key], token: expired, body: HTTPTestServer.pullBody), 401, "PGRST301"),
      (HTTPTestServer.request(fields: [key], token: forged, body: HTTPTestServer.pullBody), 401, "PGRST301"),
      (
        HTTPTestServer.request(fields: [key, "Authorization: Basic x"], body: HTTPTestServer.pullBody), 401, "PGRST301"
      ),
      (HTTPTestServer.request(body: HTTPTestServer.pullBody), 401, "PGRST301"),
      (HTTPTestServer.request(fields: ["apikey: ke"], body: HTTPTestServer.pullBody), 401, "PGRST301"),
      (HTTPTestServer.request(fields: [key, "Content-Profile: x"], body: HTTPTestServer.pullBody), 406, "PGRST106"),
      (HTTPTestServer.request(fields: [key, "Content-Type: text/plain"], body: "{}"), 415, nil),
      (HTTPTestServer.request(fields: [key, "Content-Encoding: gzip"], body: "{}"), 415, nil),
      (HTTPTestServer.request(fields: [key], body: ""), 400, "22023"),
      (HTTPTestServer.request(fields: [key], body: "{"), 400, "22023"),
      (HTTPTestServer.request(fields: [key], body: "{}"), 400, "22023"),
      (HTTPTestServer.request(fields: [key, "Content-Type: application/vnd.strandline.v1"], body: "{}"), 400, "22023"),
      (HTTPTestServer.request(fields: [key], body: unscoped), 400, "KZL01"),
      (HTTPTestServer.request("POST", "/rpc/push", fields: [key], body: foreign), 400, "0A000"),
      (HTTPTestServer.request("POST", "/v1/push", fields: [key], body: pullOnly), 400, "KZP01"),
      (HTTPTestServer.request("POST", "/rest/v1/rpc/pull", fields: [key]), 404, nil),
      (HTTPTestServer.request("POST", "/v1/pull/", fields: [key]), 404, nil),
      (HTTPTestServer.request("GET", "/v1/pull", fields: [key]), 405, nil),
      (HTTPTestServer.request("DELETE", "/v1/push", fields: [key]), 405, nil),
      (HTTPTestServer.request("GET", "/v1/wake?after=-1", fields: [key]), 400, "22023"),
      (HTTPTestServer.request("GET", "/v1/wake?after=1&after=2", fields: [key]), 400, "22023"),
      (HTTPTestServer.request("GET", "/v1/wake?wait=x", fields: [key]), 400, "22023"),
    ]
    // All over one connection: a refusal is no reason to close it.
    let answers = try await server.exchange(cases.map(\.0))
    #expect(answers.count == cases.count)
    for (answer, wanted) in zip(answers, cases) {
      #expect(answer.status == wanted.1, "\(wanted.0)")
      #expect(answer.fields["content-type"] == "application/problem+json")
      let problem = try Value.json(answer.text)
      guard case .object(let members) = problem else { continue }
      #expect(members["code"] == wanted.2.map { .string($0) })
      #expect(members["status"] == .int(Int64(wanted.1)) && members["type"] == "about:blank")
      #expect(members["message"] == members["detail"] && members["title"] != nil)
      let isJudgedByTheServer = wanted.1 == 400 && !wanted.0.hasPrefix("GET")
      #expect((answer.fields["strandline-history"] != nil) == isJudgedByTheServer, "\(wanted.0)")
    }
    #expect(answers[0].fields["www-authenticate"] == "Bearer" && answers[19].fields["allow"] == "POST")
    await server.stop()
  }

  @Test func `the prefix of the paths and the names of the headers can be chosen`() async throws {
    let server = try await HTTPTestServer {
      $0.pathPrefix = "/rest/v1"
      $0.profiles = ["app"]
      $0.profileHeader = "X-Profile"
      $0.keyHeader = "X-Key"
      $0.publishableKeys = ["k"]
    }
    let remote = try server.remote {
      $0.url += "/rest/v1"
      $0.schema = "app"
      $0.profileHeader = "x-profile"
      $0.keyHeader = "x-key"
      $0.publishableKey = "k"
    }
    #expect(try await remote.pull(pull, HTTPTestServer.context()).body.cursor == "0")
    await server.stop()
  }

  @Test func `a large answer is packed for those who take it`() async throws {
    let server = try await HTTPTestServer()
    for number in 0..<100 { try await server.test.own("shared", "\(number)", ["title": "milk and bread and butter"]) }
    let body = #"{"schema_version":1,"cursor":"0","buckets":[{"table":"shared"}]}"#
    let answers = try await server.exchange([
      HTTPTestServer.request(fields: ["Accept-Encoding: deflate, gzip;q=0.5"], body: body),
      HTTPTestServer.request(fields: ["Accept-Encoding: gzip;q=0"], body: body),
      HTTPTestServer.request(
        fields: ["Accept-Encoding: gzip", "Accept: application/vnd.strandline.v1"], body: body),
    ])
    #expect(answers[0].fields["content-encoding"] == "gzip" && answers[0].body.count * 5 < answers[1].body.count)
    #expect(answers[1].fields["content-encoding"] == nil)
    #expect(answers[2].fields["content-encoding"] == nil)
    #expect(answers[2].fields["content-type"] == "application/vnd.strandline.v1")
    let page = try await server.remote().pull(PullRequest(json: Value.json(body)), HTTPTestServer.context())
    #expect(page.body.rows.count == 100)
    #expect(try PullAnswer(body: answers[1].body) == page.body)
    await server.stop()
  }

  @Test func `a long poll is answered when there is news, or with what is known when there is none`() async throws {
    let server = try await HTTPTestServer()
    let path = "/v1/wake?after=0"
    async let woken = server.exchange(HTTPTestServer.request("GET", path))
    let none = try await server.exchange(HTTPTestServer.request("GET", "/v1/wake?after=0&wait=0"))
    #expect(none?.text == #"{"number":"0"}"#)
    let known = try await server.exchange(HTTPTestServer.request("GET", "/v1/wake"))
    #expect(known?.text == #"{"number":"0"}"#)
    try await server.test.own("shared", "1", [:])
    #expect(try await woken?.text == #"{"number":"1"}"#)
    // A client that knows more than there is has to hear of it.
    let lost = try await server.exchange(HTTPTestServer.request("GET", "/v1/wake?after=9"))
    #expect(lost?.text == #"{"number":"1"}"#)
    await server.stop()
  }

  @Test func `an event stream tells all news and ends with the server`() async throws {
    let server = try await HTTPTestServer { $0.limits.heartbeat = .milliseconds(50) }
    let port = server.port
    let request = HTTPTestServer.request("GET", "/v1/wake?after=0", fields: ["Accept: text/event-stream"])
    let first = AsyncStream<Void>.makeStream()
    async let heard = onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(request)
      var text = ""
      while true {
        let more = socket.receive()
        if more.isEmpty { return text }
        text += String(decoding: more, as: UTF8.self)
        if text.contains(": alive") { first.continuation.yield() }
        if text.contains(#""1""#) { first.continuation.finish() }
      }
    }
    var iterator = first.stream.makeAsyncIterator()
    await iterator.next()
    try await server.test.own("shared", "1", [:])
    for await _ in first.stream {}
    await server.stop()
    let text = try await heard
    #expect(text.hasPrefix("HTTP/1.1 200") && text.lowercased().contains("content-type: text/event-stream"))
    #expect(text.contains("event: wake\nid: 1\ndata: {\"number\":\"1\"}\n\n"))
    #expect(text.hasSuffix("0\r\n\r\n"))
  }

  @Test func `an event stream ends with its token`() async throws {
    let server = try await HTTPTestServer { $0.limits.heartbeat = .milliseconds(50) }
    let port = server.port
    // Expired within the leeway: it is taken still, and lives no longer.
    let request = HTTPTestServer.request(
      "GET", "/v1/wake", fields: ["Accept: text/event-stream"], token: HTTPTestServer.token(expires: -10))
    let text = try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(request)
      var bytes: [UInt8] = []
      while !bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) { bytes += socket.receive() }
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(text.hasPrefix("HTTP/1.1 200"))
    await server.stop()
  }

  @Test func `health, readiness and figures`() async throws {
    let server = try await HTTPTestServer()
    _ = try await server.remote().pull(pull, HTTPTestServer.context())
    _ = try await server.exchange(HTTPTestServer.request(token: "x", body: HTTPTestServer.pullBody))
    while server.log.entries.withLock({ $0.count }) < 2 { await Task.yield() }
    let answers = try await server.exchange(
      ["/healthz", "/readyz", "/metrics"].map { HTTPTestServer.request("GET", $0, token: nil) })
    #expect(answers.map(\.status) == [200, 200, 200])
    let lines = answers[2].text.split(separator: "\n")
    for line in [
      "strandline_http_requests_total{route=\"/rpc/pull\",method=\"POST\",status=\"200\"} 1",
      "strandline_http_requests_total{route=\"/v1/pull\",method=\"POST\",status=\"401\"} 1",
      "strandline_http_request_seconds_count{route=\"/rpc/pull\"} 1", "strandline_tokens_refused_total 1",
      "strandline_http_calls 0", "strandline_http_waits 0", "# TYPE strandline_http_request_seconds histogram",
    ] {
      #expect(lines.contains(Substring(line)), "\(line)")
    }
    try await server.test.server.close()
    let closed = try await server.exchange(
      ["/healthz", "/readyz"].map { HTTPTestServer.request("GET", $0, token: nil) }
        + [HTTPTestServer.request(body: HTTPTestServer.pullBody)])
    #expect(closed.map(\.status) == [200, 503, 500])
    #expect(closed[2].text.contains("in trouble") && !closed[2].text.contains("closed"))
    while server.log.entries.withLock({ $0.last?.trouble == nil }) { await Task.yield() }
    await server.stop()
  }

  @Test func `what is being served when the server stops is answered, and nothing after it`() async throws {
    let server = try await HTTPTestServer()
    let port = server.port
    let polls = (0..<8).map { _ in
      Task { try await server.exchange(HTTPTestServer.request("GET", "/v1/wake?after=0")) }
    }
    while try await metric("strandline_http_waits", server) != "8" { await Task.yield() }
    await server.stop()
    for poll in polls { #expect(try await poll.value?.status == 200) }
    await #expect(throws: LoopbackSocket.Failure.self) {
      try await onOwnThread { _ = try LoopbackSocket.connect(port: port) }
    }
    // A second stop finds nothing to do.
    await server.stop()
  }

  private func metric(_ name: String, _ server: HTTPTestServer) async throws -> String? {
    let text = try await server.exchange(HTTPTestServer.request("GET", "/metrics", token: nil))?.text ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(name.count + 1)) }
  }

  @Test func `a port in use and settings that cannot be are told`() async throws {
    let server = try await HTTPTestServer()
    let address = server.http.address
    let error = await #expect(throws: HTTPServerError.self) { _ = try await HTTPTestServer { $0.address = address } }
    guard case .cannotListen(address.description, EADDRINUSE)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let changes: [@Sendable (inout HTTPServerConfiguration) -> Void] = [
      { $0.pathPrefix = "rest" }, { $0.pathPrefix = "/rest/" }, { $0.pathPrefix = "/v1" },
      { $0.publishableKeys = [""] }, { $0.limits.callCountMax = 0 }, { $0.limits.headerByteCountMax = 100 },
      { $0.limits.bodyDeadline = .zero }, { $0.keyHeader = "" },
    ]
    for change in changes {
      await #expect(throws: HTTPServerError.self) { _ = try await HTTPTestServer(change) }
    }
    await #expect(throws: HTTPServerError.self) {
      _ = try await HTTPTestServer { $0.identity = TLSIdentity(certificate: "x", key: "y") }
    }
    await server.stop()
  }

  @Test(arguments: [
    ("127.0.0.1:80", "127.0.0.1:80"), ("localhost:0", "127.0.0.1:0"), ("*:65535", "0.0.0.0:65535"),
    ("[::1]:8", "[::1]:8"),
  ])
  func `addresses to listen on`(text: String, address: String) {
    #expect(SocketAddress(text)?.description == address)
  }

  @Test(arguments: [
    "", ":", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "a.example:80", "::1:80", "[::1]",
  ])
  func `no address to listen on`(text: String) { #expect(SocketAddress(text) == nil) }
}
