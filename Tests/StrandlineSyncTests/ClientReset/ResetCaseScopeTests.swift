@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Partial replication: a subscription is the bucket's value in force. Numbers are those of Docs/ClientReset.md, "Cases".
struct ResetCaseScopeTests {
  private struct Obstacle: Error {}

  private static func open(_ mode: ClientResetMode, _ server: SmallServer, at path: String? = nil) async throws
    -> ResetTest
  {
    try await ResetTest.open(
      mode, server: server, at: path, tables: ["teams": TableConfiguration(bucket: .byColumn("team"))])
  }

  @Test func `case 271: rows of the bucket in force are recovered beside the server's`() async throws {
    let (calls, server) = (CallCounts(), SmallServer())
    server.put("a", ["team": "red"], in: "teams")
    let test = try await Self.open(try calls.mode("recover"), server)
    try await test.client.setBucket(["team": "red"])
    try await test.client.sync()
    try await test.insert("own", ["team": "red"], in: "teams")
    server.restore()
    server.put("other", ["team": "red"], in: "teams")
    server.put("foreign", ["team": "blue"], in: "teams")
    try await test.client.sync()
    #expect(try await test.rows(in: "teams").keys.sorted() == ["a", "other", "own"])
    #expect(server.columns("own", in: "teams") == ["team": "red"])
    #expect(try await test.reports().last?.didRecover == true)
    #expect(calls.before == 1 && calls.after == 1)
    try await test.client.close()
  }

  @Test func `case 272: a failed reset keeps the bucket and its writes, and the next open recovers both`() async throws
  {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let server = SmallServer()
    server.put("a", ["team": "red"], in: "teams")
    let test = try await Self.open(.recoverUnsyncedChanges(before: { _ in throw Obstacle() }), server, at: path)
    try await test.client.setBucket(["team": "red"])
    try await test.client.sync()
    server.restore()
    server.put("b", ["team": "blue"], in: "teams")
    try await test.client.setBucket(["team": "blue"])
    try await test.insert("own", ["team": "blue"], in: "teams")
    #expect(await resetReason { try await test.client.sync() } == .beforeCallbackFailed)
    #expect(test.client.withMemory { $0.buckets["teams"] } == "blue")
    #expect(try await test.depth() == 1)
    try await test.client.close()
    let again = try await Self.open(.recoverUnsyncedChanges(), server, at: path)
    try await again.client.setBucket(["team": "blue"])
    try await again.client.sync()
    #expect(try await again.rows(in: "teams").keys.sorted() == ["b", "own"])
    #expect(server.columns("own", in: "teams") == ["team": "blue"])
    #expect(try await again.client.rejections().isEmpty)
    try await again.client.close()
  }

  @Test func `case 278: a copy that is refused for its bucket fails with the server's words`() async throws {
    let server = SmallServer()
    server.put("a", ["team": "red"], in: "teams")
    let test = try await Self.open(.discardUnsyncedChanges(), server)
    try await test.client.setBucket(["team": "red"])
    try await test.client.sync()
    try await test.insert("own", ["team": "red"], in: "teams")
    server.restore()
    server.change { $0.freshAnswers = [.failure(.refused(.unscopedPull, "there is no column team any more"))] }
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.resetInfo?.reason == .freshCopyRefused)
    #expect(error?.message.contains("there is no column team any more") == true)
    #expect((error?.originalError as? SyncError)?.message.contains("there is no column team any more") == true)
    #expect(try await test.rows(in: "teams").keys.sorted() == ["a", "own"])
    try await test.client.close()
  }
}
