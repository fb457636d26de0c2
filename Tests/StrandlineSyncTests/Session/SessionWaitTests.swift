import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct SessionWaitTests {
  private static let unauthorized = RemoteFailure.refused(.sessionExpired, status: 401)

  /// Begins a call that waits; returns once it does.
  private func waiting(
    _ test: TestClient, _ count: Int = 1, _ body: @escaping @Sendable (SyncSession) async throws -> Void
  ) async -> Task<Void, any Error> {
    let task = Task { try await body(test.client.session) }
    while test.client.withMemory({ $0.session.waits.waits.count }) < count { await Task.yield() }
    return task
  }

  private func error(_ task: Task<Void, any Error>) async -> SyncError? {
    do {
      try await task.value
      return nil
    } catch {
      return error as? SyncError
    }
  }

  // MARK: Uploads

  @Test func `an upload is waited for until the queue of the call is answered`() async throws {
    let test = try await TestClient.open()
    try await test.client.session.waitForUpload()
    try await test.insert("p1", id: "m1")
    try await test.insert("p2", id: "m2")
    let wait = await waiting(test) { try await $0.waitForUpload() }
    try await test.update("p3", ["a": 1], id: "m3", batch: "b")
    // The first two go, the third does not.
    try await test.client.pushOnce()
    try await wait.value
    #expect(try await test.client.outboxDepth() == 1)
  }

  @Test func `a refused, aborted or given up write is answered`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "m1")
    let rejected = await waiting(test) { try await $0.waitForUpload() }
    test.remote.script(pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: nil)]))])
    try await test.client.pushOnce()
    try await rejected.value
  }

  @Test func `transient errors are waited through unless asked otherwise`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1")
    let patient = await waiting(test) { try await $0.waitForUpload() }
    let hasty = await waiting(test, 2) { try await $0.waitForUpload(failOnTransient: true) }
    test.remote.script(pushes: [.failure(ScriptedRemote.offline)])
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(await error(hasty)?.code == .connectionFailed)
    try await test.client.sync()
    try await patient.value
  }

  @Test func `an error that is not tried again ends the waits`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1")
    let upload = await waiting(test) { try await $0.waitForUpload() }
    let download = await waiting(test, 2) { try await $0.waitForDownload() }
    test.remote.script(pushes: [.failure(.refused(.raised))])
    #expect(await code { try await test.client.pushOnce() } == .permanentTransport)
    #expect(await error(upload)?.catalogueCode == .permanentTransport)
    #expect(await error(download)?.catalogueCode == .permanentTransport)
  }

  @Test func `what reset() erases is waited for no more`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1")
    let wait = await waiting(test) { try await $0.waitForUpload() }
    try await test.client.reset()
    try await wait.value
  }

  // MARK: Downloads

  @Test func `a download is waited for until a pull that began behind the call closes`() async throws {
    let test = try await TestClient.open()
    let door = Door()
    test.remote.script(pulls: [.held(door, .page("5"))])
    let first = Task { try await test.client.pullOnce() }
    await door.reached()
    let wait = await waiting(test) { try await $0.waitForDownload() }
    door.open()
    try await first.value
    #expect(test.client.withMemory { $0.session.waits.waits.count } == 1)
    test.remote.script(pulls: [.answer(.page("5:1", more: true)), .answer(.page("6"))])
    try await test.client.pullOnce()
    #expect(test.client.withMemory { $0.session.waits.waits.count } == 1)
    try await test.client.pullOnce()
    try await wait.value
  }

  @Test func `a sequence that goes on from an earlier page began before the call`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [.answer(.page("0:1", more: true))])
    try await test.client.pullOnce()
    let wait = await waiting(test) { try await $0.waitForDownload() }
    test.remote.script(pulls: [.answer(.page("2"))])
    try await test.client.pullOnce()
    #expect(test.client.withMemory { $0.session.waits.waits.count } == 1)
    try await test.client.sync()
    try await wait.value
  }

  @Test func `a restart begins anew`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [.answer(.page("0:1", more: true)), .answer(.signal("CHECKPOINT_EXPIRED"))])
    try await test.client.pullOnce()
    let wait = await waiting(test) { try await $0.waitForDownload() }
    try await test.client.sync()
    try await wait.value
  }

  // MARK: What ends all of them

  @Test func `a block ends the waits, with the run that meets it`() async throws {
    let test = try await TestClient.open()
    let wait = await waiting(test) { try await $0.waitForDownload() }
    test.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
    try await test.client.sync()
    #expect(await error(wait)?.code == .clientResetError)
    let behind = await waiting(test) { try await $0.waitForDownload() }
    try await test.client.sync()
    #expect(await error(behind)?.code == .clientResetError)
  }

  @Test func `another user ends the waits at once`() async throws {
    let test = try await TestClient.open()
    try await test.client.setAccessToken(token("u1"))
    let wait = await waiting(test) { try await $0.waitForDownload() }
    try await test.client.setAccessToken(token("u2"))
    #expect(await error(wait)?.code == .identityChanged)
    let behind = Task { try await test.client.session.waitForDownload() }
    #expect(await error(behind)?.code == .identityChanged)
  }

  @Test func `signing out and a token that is given up end the waits`() async throws {
    let test = try await TestClient.open()
    try await test.client.setAccessToken(token("u1"))
    let out = await waiting(test) { try await $0.waitForDownload() }
    try await test.client.setAccessToken(nil)
    #expect(await error(out)?.serverCode == .sessionMissing)
    try await test.client.setAccessToken(token("u1"))
    let refused = await waiting(test) { try await $0.waitForDownload() }
    for _ in 1...2 {
      test.remote.script(pulls: [.failure(Self.unauthorized)])
      #expect(await code { try await test.client.sync() } == .remote)
    }
    #expect(await error(refused)?.code == .clientUserError)
  }

  @Test func `closing ends the waits`() async throws {
    let test = try await TestClient.open()
    let wait = await waiting(test) { try await $0.waitForDownload() }
    await test.client.dispose()
    #expect(await error(wait)?.catalogueCode == .engineUnavailable)
    #expect(await code { try await test.client.session.waitForDownload() } == .engineUnavailable)
    #expect(await code { try await test.client.session.waitForUpload() } == .engineUnavailable)
  }

  @Test func `a wait that is cancelled ends as cancelled`() async throws {
    let test = try await TestClient.open()
    let wait = await waiting(test) { try await $0.waitForDownload() }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    #expect(test.client.withMemory { $0.session.waits.waits.count } == 0)
    let early = Task { [client = test.client] in
      while !Task.isCancelled { await Task.yield() }
      try await client.session.waitForDownload()
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
  }

  @Test func `a cancelled run is no error of anybody's`() async throws {
    let test = try await TestClient.open()
    let wait = await waiting(test) { try await $0.waitForDownload(failOnTransient: true) }
    let cancelled = RemoteFailure(.unreachable(reason: "r", underlying: CancellationError()))
    test.remote.script(pulls: [.failure(cancelled)])
    await #expect(throws: CancellationError.self) { try await test.client.sync() }
    #expect(test.client.withMemory { $0.session.waits.waits.count } == 1)
    try await test.client.sync()
    try await wait.value
  }
}
