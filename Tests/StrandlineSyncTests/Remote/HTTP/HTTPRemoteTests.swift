import CZlib
import Foundation
import FoundationNetworking
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable import StrandlineSync

@Suite("HTTP remote") struct HTTPRemoteTests {
  private let request = PullRequest(clientID: "c", schemaVersion: 1, cursor: "0", limit: nil, buckets: [])
  private let page = PullAnswer(
    cursor: "7", rows: [.init(table: "t", pk: "p", row: ["n": 1], seq: "7")])

  private func remote(
    _ server: ScriptedServer, _ change: (inout RemoteConfiguration) -> Void = { _ in }
  ) throws -> HTTPRemote {
    var configuration = RemoteConfiguration(url: server.url, publishableKey: "secret-key")
    // The tests that run beside it may keep the pool's threads for long.
    configuration.deadlines.connect = .seconds(900)
    configuration.deadlines.request = .seconds(900)
    change(&configuration)
    return try HTTPRemote(configuration)
  }

  private let context = RemoteContext(accessToken: "secret-token", history: "h")

  private func failure(
    _ remote: HTTPRemote, _ context: RemoteContext? = nil
  ) async throws -> RemoteFailure {
    do throws(RemoteFailure) {
      _ = try await remote.pull(request, context ?? self.context)
    } catch {
      return error
    }
    throw Unexpected()
  }

  struct Unexpected: Error {}

  @Test func `a pull is a POST with the fields of the protocol, and its answer is read`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        200, page.body,
        fields: [
          "strandline-history": "a;7;b", "Strandline-Recovery": "forbidden", "Strandline-Reset-Cause": "history",
          "Strandline-Unknown-Tables": "a%2Cb,%C3%A9",
        ])
    ])
    let answer = try await remote(server).pull(request, context)
    #expect(answer.body == page)
    let heard = try #require(server.requests.first)
    var notes = AnswerNotes(
      history: "a;7;b", resetCause: "history", isRecoveryForbidden: true, unknownTables: ["a,b", "é"])
    notes.sentByteCount = heard.body.count
    notes.receivedByteCount = page.body.count
    #expect(answer.notes == notes)
    #expect(heard.start == "POST /rpc/pull HTTP/1.1")
    #expect(heard.fields["authorization"] == "Bearer secret-token")
    #expect(heard.fields["apikey"] == "secret-key")
    #expect(heard.fields["content-profile"] == "kizunasync")
    #expect(heard.fields["content-type"] == "application/json")
    #expect(heard.fields["accept"] == "application/vnd.strandline.v1, application/json;q=0.9")
    #expect(heard.fields["accept-encoding"]?.contains("gzip") == true)
    #expect(heard.fields["strandline-history"] == "h")
    #expect(try PullRequest(body: heard.body) == request)
  }

  @Test func `path prefix and the names of the fields are the configuration's`() async throws {
    let server = try ScriptedServer([ScriptedServer.answer(200, page.body)])
    let remote = try remote(server) {
      $0.url += "/rest/"
      $0.pathPrefix = "v1"
      $0.keyHeader = "X-Key"
      $0.profileHeader = "X-Profile"
      $0.schema = "app"
      $0.offersBinary = false
    }
    _ = try await remote.pull(request, RemoteContext(accessToken: "t"))
    let heard = try #require(server.requests.first)
    #expect(heard.start == "POST /rest/v1/pull HTTP/1.1")
    #expect(heard.fields["x-key"] == "secret-key" && heard.fields["x-profile"] == "app")
    #expect(heard.fields["accept"] == "application/json")
    #expect(heard.fields["strandline-history"] == nil)
  }

  @Test func `without a token nothing is sent`() async throws {
    let server = try ScriptedServer([])
    let remote = try remote(server)
    for token in [nil, ""] {
      let failure = try await failure(remote, RemoteContext(accessToken: token))
      #expect(failure.code == .sessionMissing && failure.errorCode == .remote)
    }
    for token in ["a\r\nX-Other: 1", "é", "\u{0}"] {
      #expect(try await failure(remote, RemoteContext(accessToken: token)).code == .sessionExpired)
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `the binary form is used once the server has answered in it, and given up when it no longer takes it`()
    async throws
  {
    let push = PushAnswer(verdicts: [])
    let server = try ScriptedServer([
      ScriptedServer.answer(200, page.binary, type: "application/vnd.strandline.v1"),
      ScriptedServer.answer(200, push.binary, type: "application/vnd.strandline.v1"),
      ScriptedServer.answer(415, "{}"), ScriptedServer.answer(200, page.body),
    ])
    let remote = try remote(server)
    #expect(try await remote.pull(request, context).body == page)
    let mutations = PushRequest(
      clientID: "c", schemaVersion: 1, lastMutationID: nil, isAtomic: false,
      mutations: [Mutation(id: "m", table: "t", pk: "p", operation: "delete")])
    #expect(try await remote.push(mutations, context).body == push)
    #expect(try await failure(remote).isPermanent == false)
    #expect(try await remote.pull(request, context).body == page)
    let types = server.requests.map { $0.fields["content-type"] ?? "" }
    #expect(
      types == [
        "application/json", "application/vnd.strandline.v1", "application/vnd.strandline.v1", "application/json",
      ])
    #expect(server.requests[1].start == "POST /rpc/push HTTP/1.1")
    #expect(try PushRequest(binary: server.requests[1].body, contentByteCountMax: 1 << 20) == mutations)
  }

  @Test func `a packed answer is unpacked`() async throws {
    let rows = (0..<500).map { PullAnswer.RowEntry(table: "t", pk: "\($0)", row: ["title": "milk"], seq: "\($0)") }
    let page = PullAnswer(cursor: "500", rows: rows)
    let packed = gzip(page.body)
    #expect(packed.count * 5 < page.body.count)
    let server = try ScriptedServer([ScriptedServer.answer(200, packed, fields: ["Content-Encoding": "gzip"])])
    #expect(try await remote(server).pull(request, context).body == page)
  }

  @Test(arguments: [
    (400, #"{"code":"22023","message":"m"}"#, "22023", true), (403, #"{"code":"42501","message":"m"}"#, "42501", false),
    (401, #"{"code":"PGRST301","message":"m"}"#, "PGRST301", false), (413, "<html>", "KZP02", true),
    (500, "", nil, false), (404, #"{"code":7}"#, nil, false), (302, "moved", nil, false), (204, "", nil, false),
  ])
  func `a refusal is known by its code`(status: Int, body: String, code: String?, isPermanent: Bool) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        status, body, fields: ["Retry-After": "7", "Location": "http://127.0.0.1:1/", "Strandline-History": "x"])
    ])
    let failure = try await failure(remote(server))
    #expect(failure.code?.rawValue == code)
    #expect(failure.isPermanent == isPermanent)
    #expect(failure.notes.retryAfter == 7 && failure.notes.history == "x")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    "", "{", "[]", #"{"cursor":"1","has_more":false,"rows":[]}"#,
    #"{"cursor":1,"has_more":false,"rows":[],"tombstones":[]}"#,
  ])
  func `an answer that is no message is undecodable, with its notes`(body: String) async throws {
    let server = try ScriptedServer([ScriptedServer.answer(200, body, fields: ["Strandline-History": "x"])])
    let failure = try await failure(remote(server))
    #expect(failure.errorCode == .json && failure.notes.history == "x")
  }

  @Test func `a form that was not asked for is undecodable`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(200, page.binary, type: "application/vnd.strandline.v1"),
      ScriptedServer.answer(200, page.body, type: "text/html"),
    ])
    let remote = try remote(server) { $0.offersBinary = false }
    #expect(try await failure(remote).errorCode == .json)
    #expect(try await failure(remote).errorCode == .json)
  }

  @Test func `an answer beyond the limit is not taken, announced or not, packed or not`() async throws {
    let body = [UInt8](repeating: 0x20, count: 100_000)
    let chunk = "HTTP/1.1 200 X\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n"
    let server = try ScriptedServer([
      ScriptedServer.answer(200, body), .bytes(Array(chunk.utf8) + body + Array("\r\n0\r\n\r\n".utf8)),
      ScriptedServer.answer(200, gzip(body), fields: ["Content-Encoding": "gzip"]),
    ])
    let remote = try remote(server) { $0.answerByteCountMax = 99_999 }
    for _ in 0..<3 {
      let failure = try await failure(remote)
      guard case .answerTooLarge(99_999) = failure.kind else { throw failure }
      #expect(failure.errorCode == .remote)
    }
  }

  @Test func `an answer that is too large once it is unpacked is too large, in the binary form too`() async throws {
    let page = PullAnswer(
      cursor: "7",
      rows: [.init(table: "t", pk: "p", row: ["v": .string(String(repeating: "y", count: 100_000))], seq: "7")])
    #expect(page.binary.count < 10_000)
    let server = try ScriptedServer([
      ScriptedServer.answer(200, page.binary, type: "application/vnd.strandline.v1")
    ])
    let failure = try await failure(remote(server) { $0.answerByteCountMax = 50_000 })
    guard case .answerTooLarge(50_000) = failure.kind else { throw failure }
  }

  @Test(arguments: ["Basic realm=\"x\"", "Basic", "Digest realm=\"x\", nonce=\"n\"", "Bearer", "Negotiate"])
  func `a refusal that asks for a password is answered like any other`(_ challenge: String) async throws {
    let body = #"{"code":"PGRST301","message":"expired"}"#
    let server = try ScriptedServer([ScriptedServer.answer(401, body, fields: ["WWW-Authenticate": challenge])])
    let failure = try await failure(remote(server))
    #expect(failure.code == .sessionExpired)
    #expect("\(failure)" == "the server refused with status 401: PGRST301: expired")
    #expect(server.requests.count == 1)
  }

  @Test func `a token and a key that the server repeats are shown to nobody`() async throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"
    let context = RemoteContext(accessToken: token)
    let fields = [
      "Strandline-Unknown-Tables": token, "Strandline-History": "secret-key", "Strandline-Reset-Cause": token,
    ]
    let server = try ScriptedServer([
      ScriptedServer.answer(401, #"{"code":"\#(token)","message":"your token was \#(token)!"}"#, fields: fields),
      ScriptedServer.answer(403, #"{"code":"secret-key","message":"c2lnbmF0dXJlLW9mLXRoZS10b2tlbg secret-key"}"#),
      ScriptedServer.answer(200, #"{"\#(token)":1,"\#(token)":2}"#),
      ScriptedServer.answer(200, page.body, fields: fields),
      ScriptedServer.answer(302, "moved", fields: ["Location": "http://127.0.0.1:1/?\(token)"]),
    ])
    let remote = try remote(server)
    for number in 1...5 {
      var told = ""
      do throws(RemoteFailure) {
        told = "\(try await remote.pull(request, context).notes)"
        #expect(number == 4)
      } catch {
        told = "\(error) \(error.notes) \(SyncError(error, during: .pull)) \(error.code?.rawValue ?? "")"
      }
      #expect(!told.contains("c2lnbmF0dXJl") && !told.contains("secret-key"), "\(told)")
    }
  }

  @Test func `a message without end is cut`() async throws {
    let long = String(repeating: "m", count: 1_000_000)
    let server = try ScriptedServer([ScriptedServer.answer(500, #"{"code":"\#(long)","message":"\#(long)"}"#)])
    let failure = try await failure(remote(server))
    #expect("\(failure)".utf8.count < 3000)
  }

  @Test func `a part of an answer is none`() async throws {
    let server = try ScriptedServer([ScriptedServer.answer(206, page.body)])
    let failure = try await failure(remote(server))
    #expect("\(failure)".contains("206"))
    #expect(failure.errorCode == .remote)
  }

  @Test func `a server that is not there, breaks off or speaks no HTTP is unreachable`() async throws {
    let server = try ScriptedServer([
      .broken("HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{"), .broken(""), .broken("SSH-2.0-OpenSSH\r\n"),
    ])
    let remote = try remote(server)
    for _ in 0..<3 {
      let failure = try await failure(remote)
      guard case .unreachable = failure.kind else { throw failure }
      #expect(failure.errorCode == .remote)
    }
    let (listener, port) = try LoopbackSocket.listen()
    withExtendedLifetime(listener) {}
    let nobody = try HTTPRemote(RemoteConfiguration(url: "http://127.0.0.1:\(port)", publishableKey: "k"))
    _ = consume listener
    guard case .unreachable(_, let underlying) = try await failure(nobody).kind else { throw Unexpected() }
    #expect((underlying as? URLError)?.code == .cannotConnectToHost)
  }

  @Test func `an answer that does not come ends at the deadline of the request`() async throws {
    let server = try ScriptedServer([.silence])
    let remote = try remote(server) { $0.deadlines.request = .milliseconds(300) }
    guard case .unreachable(_, let underlying) = try await failure(remote).kind else { throw Unexpected() }
    #expect((underlying as? URLError)?.code == .timedOut)
    #expect(server.requests.count == 1)
  }

  @Test func `a connection that does not come to be ends at the deadline of connecting`() async throws {
    let (listener, port) = try LoopbackSocket.listen(backlog: 0)
    // Nobody accepts: the second connection and those behind it wait for ever.
    let waiting = try (0..<3).map { _ in try LoopbackSocket.connect(port: port, isWaiting: false) }
    var configuration = RemoteConfiguration(url: "http://127.0.0.1:\(port)", publishableKey: "k")
    configuration.deadlines.connect = .milliseconds(300)
    let failure = try await failure(HTTPRemote(configuration))
    guard case .unreachable(_, let underlying) = failure.kind else { throw failure }
    #expect((underlying as? URLError)?.code == .timedOut)
    withExtendedLifetime((listener, waiting)) {}
  }

  @Test func `cancelling the task ends the call`() async throws {
    let server = try ScriptedServer([.silence])
    let remote = try remote(server)
    let call = Task { try await failure(remote) }
    while server.requests.isEmpty { await Task.yield() }
    call.cancel()
    guard case .unreachable(_, let underlying) = try await call.value.kind else { throw Unexpected() }
    #expect(underlying is CancellationError)
  }

  @Test func `no description says the token or the key`() async throws {
    let server = try ScriptedServer([ScriptedServer.answer(500, "")])
    let remote = try remote(server)
    let failure = try await failure(remote)
    let silent = RemoteContext(accessToken: "secret-token")
    var dumped = ""
    dump(remote, to: &dumped)
    dump(silent, to: &dumped)
    dump(RemoteConfiguration(url: "https://a.example", publishableKey: "secret-key"), to: &dumped)
    dump(failure, to: &dumped)
    dumped += "\(remote) \(String(reflecting: remote)) \(silent) \(String(reflecting: silent)) \(failure)"
    #expect(!dumped.contains("secret"))
  }

  private func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var bytes = bytes
    return [UInt8](unsafeUninitializedCapacity: Int(deflateBound(&stream, UInt(bytes.count)))) { room, count in
      bytes.withUnsafeMutableBufferPointer { bytes in
        stream.next_in = bytes.baseAddress
        stream.avail_in = UInt32(bytes.count)
        stream.next_out = room.baseAddress
        stream.avail_out = UInt32(room.count)
        deflate(&stream, Z_FINISH)
        count = room.count - Int(stream.avail_out)
      }
    }
  }
}

@Suite("Address of a remote") struct RemoteAddressTests {
  @Test(arguments: [
    "https://sync.example.org", "https://sync.example.org:8443/base/", "HTTPS://a", "http://127.0.0.1:8080",
    "http://127.9.9.9", "http://localhost", "http://api.localhost:1", "http://[::1]:8080", "http://10.1.2.3",
    "http://172.16.0.1", "http://172.31.255.255", "http://192.168.1.1", "http://169.254.1.1", "http://[fe80::1]",
    "http://[fd00::1]", "http://printer.local", "http://Printer.LOCAL.:80", "http://[::ffff:10.0.0.1]",
  ])
  func `goes`(url: String) throws { _ = try RemoteAddress(url) }

  @Test(arguments: [
    "", "sync.example.org", "ftp://127.0.0.1", "http://sync.example.org", "http://8.8.8.8", "http://172.32.0.1",
    "http://172.15.0.1", "http://192.169.0.1", "http://0.0.0.0", "http://[::]", "http://[2001:db8::1]",
    "http://[::ffff:8.8.8.8]", "http://127.1", "http://2130706433", "http://0x7f000001", "http://local",
    "http://.local",
    "http://localhost.example.org", "http://127.0.0.1.example.org", "http://evil.example/.local",
    "https://user:secret@sync.example.org", "https://sync.example.org?x=1", "https://sync.example.org#x", "https://",
    "http://127.0.0.1@evil.example", "file:///etc/passwd",
  ])
  func `is refused`(url: String) {
    let error = #expect(throws: SyncError.self) { try RemoteAddress(url) }
    #expect(error?.catalogueCode == .configInvalid)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `a configuration that no request can carry is refused`() {
    let changes: [(inout RemoteConfiguration) -> Void] = [
      { $0.publishableKey = "" }, { $0.publishableKey = "a\nb" }, { $0.schema = "" }, { $0.schema = "é" },
      { $0.keyHeader = "" }, { $0.keyHeader = "a b" }, { $0.keyHeader = "Authorization" },
      { $0.profileHeader = "content-type" }, { $0.profileHeader = $0.keyHeader }, { $0.pathPrefix = "/rpc" },
      { $0.pathPrefix = "rpc/" }, { $0.pathPrefix = "a//b" }, { $0.pathPrefix = "a?b" }, { $0.answerByteCountMax = 0 },
      { $0.deadlines.request = .zero },
    ]
    for change in changes {
      var configuration = RemoteConfiguration(url: "https://a.example", publishableKey: "k")
      change(&configuration)
      #expect(throws: SyncError.self) { try HTTPRemote(configuration) }
    }
  }
}
