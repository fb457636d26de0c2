import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Testing

@Suite("Wake source") struct HTTPWakeSourceTests {
  private final class Bell: Sendable {
    let count = TestLock(0)
    func ring() { count.withLock { $0 += 1 } }
    func rang(_ number: Int) async { while count.withLock({ $0 }) < number { await Task.yield() } }
  }

  private func source(_ port: Int, token: String? = HTTPTestServer.token()) throws -> HTTPWakeSource {
    try HTTPWakeSource(
      RemoteConfiguration(url: "http://127.0.0.1:\(port)", publishableKey: "key"), accessToken: { token })
  }

  private func waitCount(_ server: HTTPTestServer) async throws -> Int? {
    let text = try await server.exchange(HTTPTestServer.request("GET", "/metrics", token: nil))?.text ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix("strandline_http_waits ") }
      .flatMap { Int($0.split(separator: " ")[1]) }
  }

  @Test func `what others commit rings every topic, and what came before rings nobody`() async throws {
    let server = try await HTTPTestServer()
    try await server.test.own("shared", "0", [:])
    let source = try source(server.port)
    let bells = [Bell(), Bell()]
    let ends = try bells.map { bell in try source.subscribe(topic: "kizunasync:t") { bell.ring() } }
    while try await waitCount(server) != 1 { await Task.yield() }
    for number in 1...3 {
      try await server.test.own("shared", "\(number)", [:])
      for bell in bells { await bell.rang(number) }
      while try await waitCount(server) != 1 { await Task.yield() }
    }
    #expect(bells.map { $0.count.withLock { $0 } } == [3, 3])
    for end in ends { end() }
    await server.stop()
  }

  @Test func `a poll brings token, key and profile, and says what is known`() async throws {
    let (listener, port) = try LoopbackSocket.listen()
    let source = try source(port, token: "t")
    let bell = Bell()
    let end = try source.subscribe(topic: "t") { bell.ring() }
    let requests = try await onOwnThread {
      try ["7", "8"].compactMap { number in
        let connection = try listener.accept()
        let request = connection.receiveMessage()
        let body = "{\"number\":\"\(number)\"}"
        try connection.send(
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return request
      }
    }
    #expect(requests.map(\.start) == ["GET /v1/wake HTTP/1.1", "GET /v1/wake?after=7 HTTP/1.1"])
    #expect(requests[0].fields["authorization"] == "Bearer t" && requests[0].fields["apikey"] == "key")
    #expect(requests[0].fields["content-profile"] == "kizunasync")
    await bell.rang(1)
    end()
  }
}
