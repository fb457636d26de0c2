import Foundation
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Errors and their delivery, where no other test has them. Numbers are those of Docs/ClientReset.md, "Cases".
struct ResetCaseErrorsTests {
  @Test func `case 284: a demand without a cause is told once, obeyed, and erases nothing`() async throws {
    let test = try await ResetTest.open(.manual())
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    try await test.insert("own", ["x": 1])
    test.server.change { $0.schemaVersionMin = 2 }
    try await test.client.sync()
    await test.settle()
    let error = try #require(test.errors.all.first as? SyncError)
    #expect(error.isFatal && error.resetInfo?.reason == .schemaGate)
    #expect(!error.message.isEmpty && test.errors.all.count == 1)
    #expect(try await test.isBlocked())
    #expect(try await test.depth() == 1)
    try await test.client.close()
  }

  @Test func `case 286: a signal that nobody knows is refused aloud, on a pull and in a fresh copy`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.freshAnswers = [.answer(.signal("EXPLODE"))] }
    let before = try await test.rows()
    #expect(await resetReason { try await test.client.sync() } == .freshCopyMalformed)
    await test.settle()
    #expect("\(test.errors.all)".contains("EXPLODE"))
    #expect(try await test.rows() == before)
    let remote = ScriptedRemote(pulls: [.answer(.signal("EXPLODE"))])
    let plain = try await TestClient.open(remote: remote)
    #expect(await code { try await plain.client.sync() } == .unknownSignal)
    #expect(try await plain.client.checkpoint().isSoftBlocked == false)
    try await test.client.close()
  }

  @Test(arguments: [418, 451, 499, 599])
  func `case 287: a status that nobody knows is an error, no reset, and changes nothing`(_ status: Int) async throws {
    let (test, errors) = try await TestClient.openLogged()
    test.remote.script(pulls: [.answer(.page("5", ["a": ["id": "a"]]))])
    try await test.client.sync()
    test.remote.script(pulls: [.failure(.refused(nil, status: status))])
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(await test.codes(errors) == [.clientSessionError])
    #expect(try await test.columns("a") == ["id": "a"])
    #expect(try await !test.client.checkpoint().isSoftBlocked)
    try await test.client.sync()
  }

  @Test func `case 289: a server that asks for patience is told to nobody, and syncing goes on each time`() async throws
  {
    let (test, errors) = try await TestClient.openLogged()
    try await test.client.setAccessToken(token("u1"))
    for _ in 1...2 {
      test.remote.script(pulls: [.failure(.refused(nil, status: 503))])
      #expect(await code { try await test.client.sync() } == .remote)
      #expect(test.client.session.state == .active)
      // Somebody asks meanwhile.
      try await test.client.sync()
    }
    #expect(await test.codes(errors).isEmpty)
  }

  @Test func `case 290: a name that cannot be found is no fatal error`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    test.remote.script(
      pulls: [.failure(RemoteFailure(.unreachable(reason: "dns", underlying: URLError(.cannotFindHost))))])
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(await test.codes(errors) == [.connectionFailed])
    let error = SyncError(classifying: errors.errors[0])
    #expect(!error.isFatal && error.isTransient)
  }

  @Test func `case 292: an error of the system that nobody knows is transient, and told`() async throws {
    struct Unheard: Error {}
    let (test, errors) = try await TestClient.openLogged()
    try await test.client.setAccessToken(token("u1"))
    test.remote.script(pulls: [.failure(RemoteFailure(.unreachable(reason: "?", underlying: Unheard())))])
    #expect(await code { try await test.client.sync() } == .remote)
    _ = await test.events()
    let error = SyncError(classifying: try #require(errors.errors.first))
    #expect(errors.errors.count == 1 && error.isTransient && !error.isFatal)
    #expect(test.client.session.state == .active)
    try await test.client.sync()
  }

  @Test(arguments: [true, false])
  func `cases 295, 296: an open that waits for its download ends with it, or with the deadline`(_ answers: Bool)
    async throws
  {
    let (test, errors) = try await TestClient.openLogged()
    let door = Door()
    let late = RemoteFailure(.unreachable(reason: "late", underlying: POSIXError(.ETIMEDOUT)))
    test.remote.script(
      pulls: [answers ? .held(door, .page("5", ["a": ["id": "a"]])) : .heldFailure(door, late)])
    let client = test.client
    let wait = Task { try await client.session.waitForDownload(failOnTransient: true) }
    while client.withMemory({ $0.session.waits.waits.isEmpty }) { await Task.yield() }
    let run = Task { try await client.sync() }
    await door.reached()
    door.open()
    if answers {
      try await wait.value
      try await run.value
      #expect(try await test.columns("a") == ["id": "a"])
    } else {
      let error = await #expect(throws: (any Error).self) { try await wait.value }
      #expect((error as? POSIXError ?? (error as? SyncError)?.originalError as? POSIXError)?.code == .ETIMEDOUT)
      await #expect(throws: (any Error).self) { try await run.value }
      _ = await test.events()
      #expect(errors.errors.map { ($0 as? POSIXError)?.code } == [.ETIMEDOUT])
    }
  }

  @Test func `case 302: a write against permission is told with table, key and reason, whatever the key is made of`()
    async throws
  {
    let tables: [String: TableConfiguration] = [
      "texts": TableConfiguration(), "pairs": TableConfiguration(key: ["a", "b"]),
    ]
    let (test, errors) = try await TestClient.openLogged(tables)
    let writes: [(table: String, pk: String, columns: [String: Value])] = [
      ("texts", "plain", ["id": "plain"]), ("texts", "6f7c", ["id": "6f7c"]), ("texts", "12", ["id": "12"]),
      ("texts", "ünï", ["id": "ünï"]), ("pairs", "[\"1\", \"2\"]", ["a": "1", "b": "2"]),
    ]
    for (number, write) in writes.enumerated() {
      try await test.insert(write.pk, write.columns.merging(["x": 1]) { $1 }, id: "m\(number)", in: write.table)
    }
    test.remote.script(
      pushes: [
        .answer(PushAnswer(verdicts: writes.indices.map { .rejected("m\($0)", .rowDenied, serverRow: nil) }))
      ])
    try await test.client.pushOnce()
    _ = await test.events()
    let error = try #require(errors.errors.first as? SyncError)
    #expect(errors.errors.count == 1 && error.code == .writeRejected && !error.isFatal)
    #expect(error.rejections.map(\.pk) == writes.map(\.pk))
    #expect(error.rejections.map(\.table) == writes.map(\.table))
    #expect(error.rejections.allSatisfy { $0.reason == "RLS_DENIED" })
    for write in writes { #expect(try await test.columns(write.pk, in: write.table) == nil) }
  }

  @Test func `case 307: a bucket that the server refuses is told with its words, and no reset`() async throws {
    let (test, errors) = try await TestClient.openLogged(["teams": TableConfiguration(bucket: .byColumn("team"))])
    try await test.client.setBucket(["team": "red"])
    test.remote.script(pulls: [.failure(.refused(.unscopedPull, "team cannot be asked for"))])
    #expect(await code { try await test.client.sync() } == .permanentTransport)
    #expect(await test.codes(errors) == [.invalidSubscription])
    #expect("\(errors.errors[0])".contains("team cannot be asked for"))
    #expect(try await !test.client.checkpoint().isSoftBlocked)
  }
}
