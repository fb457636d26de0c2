import Glibc
import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Synchronization
import Testing

/// What a server meets that is open to everybody. Each test ends with a good call: nobody else was harmed.
@Suite("Hostile clients") struct HostileClientTests {
  private func expectHealthy(_ server: HTTPTestServer) async throws {
    let request = PullRequest(clientID: "c", schemaVersion: 1, cursor: "0", limit: nil, buckets: [])
    #expect(try await server.remote().pull(request, HTTPTestServer.context()).body.cursor == "0")
    await server.stop()
  }

  @Test func `bytes that are no request are answered with 400 or end the connection`() async throws {
    // Some of it looks like the beginning of more: the deadlines end that.
    let server = try await HTTPTestServer {
      $0.limits.headerDeadline = .milliseconds(300)
      $0.limits.bodyDeadline = .milliseconds(300)
      $0.limits.idleDeadline = .milliseconds(300)
    }
    let port = server.port
    let texts = [
      "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}",
      "GET / HTTP/1.1\r\n\r\n",
      "POST /v1/pull HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST /v1/pull HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /v1/pull HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "POST /v1/pull HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET /%00%ff HTTP/1.1\r\nHost: x\r\n\r\n", "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST http://other/v1/pull HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ]
    for text in texts {
      let answer = try await onOwnThread {
        let socket = try LoopbackSocket.connect(port: port)
        try socket.send(text)
        socket.finishSending()
        return String(decoding: socket.receiveToEnd(), as: UTF8.self)
      }
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(text): \(answer)")
    }
    try await expectHealthy(server)
  }

  @Test func `a header that is too large is refused`() async throws {
    let server = try await HTTPTestServer { $0.limits.headerByteCountMax = 4096 }
    let port = server.port
    for field in ["X: \(String(repeating: "x", count: 10_000))", String(repeating: "X: y\r\n", count: 2000) + "X: y"] {
      let answer = try await onOwnThread {
        let socket = try LoopbackSocket.connect(port: port)
        try? socket.send("POST /v1/pull HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n")
        return String(decoding: socket.receiveToEnd(), as: UTF8.self)
      }
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
    }
    try await expectHealthy(server)
  }

  @Test func `a body that is too large is refused, whether its length is told or not`() async throws {
    let server = try await HTTPTestServer { $0.limits.bodyByteCountMax = 1000 }
    let body = String(repeating: " ", count: 1001)
    let chunked =
      "POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(HTTPTestServer.token())\r\n"
      + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(body)\r\n0\r\n\r\n"
    #expect(try await server.exchange(HTTPTestServer.request(body: body))?.status == 413)
    #expect(try await server.exchange(chunked)?.status == 413)
    // A binary body that unpacks to more.
    let page = PushRequest(
      clientID: String(repeating: "c", count: 5000), schemaVersion: 1, lastMutationID: nil, isAtomic: false,
      mutations: [])
    #expect(page.binary.count < 1000)
    let request = HTTPTestServer.request(
      fields: ["Content-Type: application/vnd.strandline.v1"], body: "")
    let port = server.port
    let answer = try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      let head = request.replacing("Content-Length: 0", with: "Content-Length: \(page.binary.count)")
      try socket.send(Array(head.utf8) + page.binary)
      return socket.receiveMessage()?.status
    }
    #expect(answer == 400)
    try await expectHealthy(server)
  }

  @Test(arguments: [false, true])
  func `who sends much and is refused sees why`(isChunked: Bool) async throws {
    let server = try await HTTPTestServer { $0.limits.bodyByteCountMax = 1 << 20 }
    let port = server.port
    let body = String(repeating: " ", count: 5 << 20)
    func status(path: String = "/v1/push", token: String?) async throws -> Int? {
      var head = "POST \(path) HTTP/1.1\r\nHost: x\r\n"
      if let token { head += "Authorization: Bearer \(token)\r\n" }
      head += isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: \(body.utf8.count)\r\n\r\n"
      let text = head + (isChunked ? "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n" : body)
      return try await onOwnThread {
        let socket = try LoopbackSocket.connect(port: port)
        try socket.send(text)
        return socket.receiveMessage()?.status
      }
    }
    #expect(try await status(token: HTTPTestServer.token()) == 413)
    #expect(try await status(token: nil) == 401)
    #expect(try await status(token: HTTPTestServer.token(expires: -7200)) == 401)
    #expect(try await status(path: "/nowhere", token: nil) == 404)
    try await expectHealthy(server)
  }

  @Test func `a body that nobody would read to its end is refused by its head`() async throws {
    let server = try await HTTPTestServer()
    let port = server.port
    let status = try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(
        "POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(HTTPTestServer.token())\r\n"
          + "Content-Length: 99999999999\r\n\r\n")
      return socket.receiveMessage()?.status
    }
    #expect(status == 413)
    try await expectHealthy(server)
  }

  @Test(arguments: [
    "/metrics%00foo", "/%6detrics", "/healthz%00", "/metrics\0foo", "/metrics\0", "/metrics\0?x=1", "/metrics\0\0x?y",
    "/metrics%3Fx", "/v1%2Fpull", "//metrics", "/metrics\0 HTTP/1.1\0",
  ])
  func `no escape and no zero byte makes a path another`(path: String) async throws {
    let server = try await HTTPTestServer()
    let status = try await server.exchange(HTTPTestServer.request("GET", path, token: nil))?.status
    // Or none at all: the connection was ended.
    #expect(status == nil || status == 400 || status == 404, "\(Array(path.utf8))")
    for good in ["/metrics", "/metrics?", "/metrics?x", "/metrics?x=1&y=2", "/healthz?a=%00"] {
      #expect(try await server.exchange(HTTPTestServer.request("GET", good, token: nil))?.status == 200, "\(good)")
    }
    try await expectHealthy(server)
  }

  @Test func `a request with two lengths, or without a host, is none`() async throws {
    let server = try await HTTPTestServer()
    let two = "POST /v1/push HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}"
    #expect(try await server.exchange(two)?.status == 400)
    #expect(try await server.exchange("GET /healthz HTTP/1.1\r\n\r\n")?.status == 400)
    try await expectHealthy(server)
  }

  @Test func `who does not read its answers gets no more of them, and others do`() async throws {
    let server = try await HTTPTestServer { $0.limits.answerByteCountPerUserMax = 1 << 20 }
    // Each byte takes six in JSON: more than the sockets hold.
    for pk in ["a", "b"] {
      try await server.test.own(
        "notes", pk, ["owner": "ann", "text": .string(String(repeating: "\u{1}", count: 1_000_000))])
    }
    let port = server.port
    let news = HTTPTestServer.pullBody.replacing(#""cursor":"0""#, with: #""cursor":"2""#)
    var unread: LoopbackSocket? = try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(HTTPTestServer.request(body: HTTPTestServer.pullBody))
      // The head is there: from here on the answer is on its way, and stays there.
      _ = socket.receive(16)
      return socket
    }
    #expect(try await server.exchange(HTTPTestServer.request(body: news))?.status == 429)
    #expect(try await server.exchange(HTTPTestServer.request("GET", "/healthz", token: nil))?.status == 200)
    let bob = HTTPTestServer.request(token: HTTPTestServer.token("bob"), body: news)
    #expect(try await server.exchange(bob)?.status == 200)
    // Once its reader has gone there is room again, as soon as the server notices.
    _ = unread.take()
    var status: Int?
    repeat { status = try await server.exchange(HTTPTestServer.request(body: news))?.status } while status == 429
    #expect(status == 200)
    await server.stop()
  }

  @Test func `a body without end is cut off`() async throws {
    let server = try await HTTPTestServer { $0.limits.bodyByteCountMax = 1000 }
    let port = server.port
    let head =
      "POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(HTTPTestServer.token())\r\n"
      + "Transfer-Encoding: chunked\r\n\r\n"
    try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(head)
      let chunk = "2000\r\n\(String(repeating: " ", count: 0x2000))\r\n"
      // Ends only because the other end closes.
      while (try? socket.send(chunk)) != nil {}
    }
    try await expectHealthy(server)
  }

  @Test func `strangers are refused before their body`() async throws {
    let server = try await HTTPTestServer()
    let port = server.port
    let answer = try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(
        "POST /v1/push HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
      return socket.receiveMessage()?.status
    }
    #expect(answer == 401)
    try await expectHealthy(server)
  }

  @Test(arguments: [
    "POST /v1/pull HT", "POST /v1/pull HTTP/1.1\r\nHost: x\r\n", "",
    "POST /v1/push HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345",
  ])
  func `who sends a byte now and then is cut off`(start: String) async throws {
    let server = try await HTTPTestServer {
      $0.limits.headerDeadline = .milliseconds(300)
      $0.limits.bodyDeadline = .milliseconds(300)
    }
    let port = server.port
    try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(start)
      if start.isEmpty { _ = socket.receiveToEnd() }
      // Each byte is a sign of life; it ends only because the other end closes.
      while (try? socket.send("X")) != nil {}
    }
    try await expectHealthy(server)
  }

  @Test func `who has asked and then says nothing is let go`() async throws {
    let server = try await HTTPTestServer { $0.limits.idleDeadline = .milliseconds(300) }
    let port = server.port
    try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(HTTPTestServer.request("GET", "/healthz", token: nil))
      #expect(socket.receiveMessage()?.status == 200)
      #expect(socket.receiveToEnd().isEmpty)
    }
    try await expectHealthy(server)
  }

  @Test func `who does not take the answer is cut off`() async throws {
    let server = try await HTTPTestServer { $0.limits.answerDeadline = .milliseconds(300) }
    let text = String(repeating: "x", count: 100_000)
    for number in 0..<100 { try await server.test.own("shared", "\(number)", ["text": .string(text)]) }
    let body = #"{"schema_version":1,"cursor":"0","buckets":[{"table":"shared"}]}"#
    let port = server.port
    let count = try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send(HTTPTestServer.request(body: body))
      // Ten megabytes fit no buffer between the two.
      while server.log.entries.withLock({ $0.isEmpty }) { sleepAMoment() }
      return socket.receiveToEnd().count
    }
    #expect(count < 10_000_000)
    await server.stop()
  }

  @Test func `connections beyond the limit wait or are closed, and those inside it are served`() async throws {
    let server = try await HTTPTestServer { $0.limits.connectionCountPerAddressMax = 4 }
    let port = server.port
    try await onOwnThread {
      var sockets: [LoopbackSocket] = []
      for _ in 0..<4 {
        let socket = try LoopbackSocket.connect(port: port)
        try socket.send(HTTPTestServer.request("GET", "/healthz", token: nil))
        #expect(socket.receiveMessage()?.status == 200)
        sockets.append(socket)
      }
      for _ in 0..<4 {
        let socket = try LoopbackSocket.connect(port: port)
        try? socket.send(HTTPTestServer.request("GET", "/healthz", token: nil))
        #expect(socket.receiveMessage() == nil)
      }
      try sockets[0].send(HTTPTestServer.request("GET", "/healthz", token: nil))
      #expect(sockets[0].receiveMessage()?.status == 200)
    }
    while server.log.entries.withLock({ $0.count }) < 5 { await Task.yield() }
    await server.stop()
  }

  @Test func `hundreds of connections at once are all answered`() async throws {
    let server = try await HTTPTestServer()
    let port = server.port
    let statuses = try await onOwnThread {
      let sockets = try (0..<200).map { _ in try LoopbackSocket.connect(port: port) }
      for socket in sockets { try socket.send(HTTPTestServer.request(body: HTTPTestServer.pullBody)) }
      return sockets.map { $0.receiveMessage()?.status }
    }
    // Of one user's calls some may be more than are served at a time.
    #expect(statuses.allSatisfy { $0 == 200 || $0 == 429 })
    #expect(statuses.contains(200))
    try await expectHealthy(server)
  }

  @Test func `one user's polls take nothing from others`() async throws {
    let server = try await HTTPTestServer { $0.limits.callCountPerUserMax = 3 }
    let polls = (0..<3).map { _ in Task { try await server.exchange(HTTPTestServer.request("GET", "/v1/wake?after=0")) }
    }
    func waits() async throws -> Bool {
      try await server.exchange(HTTPTestServer.request("GET", "/metrics", token: nil))?.text
        .contains("strandline_http_waits 3\n") ?? false
    }
    while try await !waits() { await Task.yield() }
    let refused = try await server.exchange(HTTPTestServer.request("GET", "/v1/wake"))
    #expect(refused?.status == 429 && refused?.fields["retry-after"] == "1")
    #expect(try await server.exchange(HTTPTestServer.request(body: HTTPTestServer.pullBody))?.status == 429)
    let other = HTTPTestServer.request(token: HTTPTestServer.token("bob"), body: HTTPTestServer.pullBody)
    #expect(try await server.exchange(other)?.status == 200)
    await server.stop()
    for poll in polls { #expect(try await poll.value?.status == 200) }
  }

  @Test func `bodies of all together have a limit`() async throws {
    let server = try await HTTPTestServer {
      $0.limits.bodyByteCountMax = 1000
      $0.limits.bodyByteCountOfAllMax = 1500
    }
    let port = server.port
    let head = HTTPTestServer.request().replacing("Content-Length: 0", with: "Content-Length: 1000")
    let half = String(repeating: " ", count: 999)
    let statuses = try await onOwnThread {
      let first = try LoopbackSocket.connect(port: port)
      try first.send(head + half)
      // Until the first's bytes are kept, the second may be served too: it asks again.
      var status: Int?
      repeat {
        let second = try LoopbackSocket.connect(port: port)
        try second.send(head + half + " ")
        status = second.receiveMessage()?.status
      } while status == 400
      try first.send(" ")
      return (first.receiveMessage()?.status, status)
    }
    #expect(statuses.0 == 400 && statuses.1 == 503)
    try await expectHealthy(server)
  }
}

private func sleepAMoment() { usleep(10_000) }
