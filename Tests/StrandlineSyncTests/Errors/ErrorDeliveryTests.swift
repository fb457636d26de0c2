import Foundation
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ErrorDeliveryTests {
  private static let late = RemoteFailure(.unreachable(reason: "late", underlying: POSIXError(.ETIMEDOUT)))
  private static let unauthorized = RemoteFailure.refused(.sessionExpired, status: 401)

  // MARK: Who is told

  @Test func `an error that ends a run is thrown and told once, and looked up when it is told`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    test.remote.answerAlways(pull: .failure(.refused(.raised)))
    #expect(await code { try await test.client.sync() } == .permanentTransport)
    #expect(await test.codes(errors) == [.clientSessionError])
    let lines = Lock<[String]>([])
    let other = ErrorLog()
    test.client.errorHandler = { error, session in
      other.handler(error, session)
      lines.withLock { $0.append(session.storePath) }
    }
    #expect(await code { try await test.client.pullOnce() } == .permanentTransport)
    #expect(await test.codes(other) == [.clientSessionError])
    #expect(lines.withLock { $0 } == [test.client.store.path])
    #expect(errors.codes.count == 1)
  }

  @Test func `without a handler errors are logged`() async throws {
    let lines = Lock<[String]>([])
    let test = try await TestClient.open { configuration in
      configuration.log = { line in lines.withLock { $0.append(line) } }
    }
    test.remote.answerAlways(pull: .failure(.refused(.raised, "no such thing")))
    #expect(await code { try await test.client.sync() } == .permanentTransport)
    _ = await test.events()
    let line = try #require(lines.withLock { $0 }.first)
    #expect(line.contains("PERMANENT_TRANSPORT") && line.contains("no such thing"))
    #expect(line.hasPrefix(test.client.store.path))
  }

  @Test func `a deadline is told as what it is`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    test.remote.answerAlways(pull: .failure(Self.late))
    #expect(await code { try await test.client.sync() } == .remote)
    _ = await test.events()
    #expect(errors.errors.map { ($0 as? POSIXError)?.code } == [.ETIMEDOUT])
  }

  @Test func `misuse, patience, cancellation and a local disk are nobody's but the caller's`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    #expect(await code { try await test.insert("p1", in: "strangers") } == .unknownTable)
    #expect(await code { try await test.client.setBucket(["team": "a"]) } == .bucketUnset)
    for failure in [
      RemoteFailure.refused(nil, status: 429), .refused(nil, status: 503), .refused(.atomicRequired),
      .refused(.sessionMissing),
    ] {
      test.remote.script(pulls: [.failure(failure)])
      #expect(await code { try await test.client.sync() } == .remote)
    }
    let cancelled = RemoteFailure(.unreachable(reason: "r", underlying: CancellationError()))
    test.remote.script(pulls: [.failure(cancelled)])
    await #expect(throws: CancellationError.self) { try await test.client.pullOnce() }
    #expect(await test.codes(errors).isEmpty)
  }

  @Test func `an unset bucket is told where a run meets it`() async throws {
    let (test, errors) = try await TestClient.openLogged(["todos": TableConfiguration(bucket: .byColumn("team"))])
    #expect(await code { try await test.client.sync() } == .bucketUnset)
    #expect(await test.codes(errors) == [.invalidSubscription])
  }

  @Test func `a run tells one error, of the push where the pull fails too`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.insert("p1")
    test.remote.script(pulls: [.failure(Self.late)], pushes: [.failure(.refused(.raised))])
    #expect(await code { try await test.client.sync() } == .permanentTransport)
    #expect(await test.codes(errors) == [.clientSessionError])
  }

  @Test func `nothing is told while paused, and once closing was asked for (case 293)`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    let door = Door()
    test.remote.script(pulls: [.heldFailure(door, .refused(.raised))])
    let run = Task { try await test.client.sync() }
    await door.reached()
    test.client.session.pause()
    door.open()
    #expect(await code { try await run.value } == .permanentTransport)
    #expect(await test.codes(errors).isEmpty)
    test.client.session.resume()
    let second = Door()
    test.remote.script(pulls: [.heldFailure(second, .refused(.raised))])
    let last = Task { try await test.client.sync() }
    await second.reached()
    let closing = Task { await test.client.dispose() }
    while test.client.session.state != .closing { await Task.yield() }
    second.open()
    #expect(await code { try await last.value } == .permanentTransport)
    await closing.value
    #expect(errors.codes.isEmpty)
  }

  // MARK: Tokens

  @Test func `the first refusal of a token is nobody's business, the second in a row means to sign in`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.client.setAccessToken(token("u1"))
    test.remote.script(pulls: [.failure(Self.unauthorized)])
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(await test.codes(errors).isEmpty)
    #expect(test.client.session.state == .active)
    // Answered in between: not in a row.
    try await test.client.sync()
    test.remote.script(pulls: [.failure(Self.unauthorized)])
    #expect(await code { try await test.client.sync() } == .remote)
    // A renewed token is refused too.
    try await test.client.setAccessToken(token("u1") + "x")
    test.remote.script(pulls: [.failure(Self.unauthorized)])
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(await test.codes(errors) == [.clientUserError])
    #expect(test.client.session.state == .waitingForToken && test.client.isSignInGivenUp)
    let requestCount = test.remote.requestCount
    for _ in 1...2 {
      do {
        try await test.client.sync()
        Issue.record("a token that is given up was used")
      } catch let error as SyncError {
        #expect(error.serverCode == .sessionMissing && error.catalogueCode == .remote)
      }
    }
    try await test.client.setAccessToken(token("u1") + "x")
    #expect(test.client.session.state == .waitingForToken)
    #expect(test.remote.requestCount == requestCount)
    #expect(await test.codes(errors) == [.clientUserError])
    try await test.client.setAccessToken(token("u1") + "y")
    #expect(test.client.session.state == .active && !test.client.isSignInGivenUp)
    try await test.client.sync()
  }

  @Test func `a renewal that is given up behind a refusal means to sign in (case 298)`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.client.setAccessToken(token("u1"))
    test.client.renewalGivenUp()
    #expect(test.client.session.state == .active)
    test.remote.script(pulls: [.failure(Self.unauthorized)])
    #expect(await code { try await test.client.sync() } == .remote)
    test.client.renewalGivenUp()
    test.client.renewalGivenUp()
    #expect(test.client.session.state == .waitingForToken)
    #expect(await test.codes(errors) == [.clientUserError])
  }

  // MARK: Commits

  @Test func `writes that one commit undid are one error behind its events (case 304)`() async throws {
    let told = Lock<[String]>([])
    let test = try await TestClient.open { configuration in
      configuration.errorHandler = { error, _ in
        let error = SyncError(classifying: error)
        told.withLock { $0.append("\(error.code) \(error.rejections.map(\.mutationID))") }
      }
    }
    test.client.on { event in told.withLock { $0.append(event.name) } }
    try await test.insert("p1", ["b": 1, "a": 2], id: "m1")
    try await test.insert("p2", id: "m2")
    try await test.insert("p3", id: "m3")
    _ = await test.events()
    told.withLock { $0 = [] }
    // The answer is lost, and comes again.
    let verdicts = PushAnswer(
      verdicts: [
        .rejected("m1", .constraint, serverRow: nil), .applied("m2"), .rejected("m3", .superseded, serverRow: nil),
      ])
    test.remote.script(pushes: [.failure(ScriptedRemote.offline), .answer(verdicts)])
    #expect(await code { try await test.client.pushOnce() } == .remote)
    try await test.client.pushOnce()
    _ = await test.events()
    #expect(
      told.withLock { $0 } == [
        "connectionFailed []", "MUTATION_REJECTED", "MUTATION_REJECTED", "LOCAL_CHANGED",
        "writeRejected [\"m1\", \"m3\"]",
      ])
  }

  @Test func `what a run's commits undid is told once the gate is given back`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.insert("p1", id: "m1")
    let door = Door()
    test.remote.script(
      pulls: [.held(door, .page("5"))],
      pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: nil)]))])
    let run = Task { try await test.client.sync() }
    await door.reached()
    #expect(await test.eventNames().contains("MUTATION_REJECTED"))
    #expect(errors.codes.isEmpty)
    door.open()
    try await run.value
    #expect(await test.codes(errors) == [.writeRejected])
  }

  @Test func `a rejection says what, where and why (case 301)`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.insert("p1", ["b": 1, "a": 2], id: "m1")
    test.remote.script(pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: nil)]))])
    try await test.client.pushOnce()
    _ = await test.events()
    let error = try #require(errors.errors.first as? SyncError)
    let write = RejectedWrite(
      mutationID: "m1", table: "todos", pk: "p1", kind: .rejected, reason: "CONSTRAINT", columns: ["a", "b"])
    #expect(error.code == .writeRejected && error.rejections == [write])
    #expect(error.description.hasPrefix("writeRejected: "))
  }

  @Test func `an aborted batch and a dead letter tell all that they undid`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.insert("p0", id: "m0")
    try await test.client.pushOnce()
    try await test.update("p0", ["a": 1], id: "m1", batch: "b")
    try await test.update("p0", ["b": 1], id: "m2", batch: "b")
    test.remote.script(
      pushes: [
        .answer(
          PushAnswer(
            abort: PushAnswer.Abort(
              outcome: "aborted", offenderMutationID: "m2", reason: "CONSTRAINT", serverRow: nil)))
      ])
    try await test.client.pushOnce()
    _ = await test.events()
    var undone = (errors.errors.last as? SyncError)?.rejections
    #expect(undone?.map(\.mutationID) == ["m1", "m2"] && undone?.allSatisfy { $0.kind == .batchAborted } == true)
    try await test.insert("p3", id: "m3")
    test.remote.script(pushes: Array(repeating: .failure(.refused(.raised)), count: 5))
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    _ = await test.events()
    undone = (errors.errors.last as? SyncError)?.rejections
    #expect(undone?.map(\.mutationID) == ["m3"] && undone?.first?.kind == .deadLetter)
    #expect(
      errors.codes == [.writeRejected] + Array(repeating: .clientSessionError, count: 4) + [.writeRejected])
  }

  @Test func `a write that is too large is named`() async throws {
    let (test, errors) = try await TestClient.openLogged()
    try await test.insert("p1", id: "m1")
    test.remote.script(pushes: [.failure(.refused(nil, status: 413))])
    #expect(await code { try await test.client.pushOnce() } == .permanentTransport)
    #expect(await test.codes(errors) == [.limitExceeded])
    #expect("\(errors.errors[0])".contains("m1"))
  }

  @Test func `a gate and another user are told though nothing is thrown`() async throws {
    let (gated, gate) = try await TestClient.openLogged()
    gated.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
    try await gated.client.sync()
    try await gated.client.sync()
    #expect(await gated.codes(gate) == [.clientResetError])
    #expect((gate.errors[0] as? SyncError)?.resetInfo?.reason == .schemaGate)
    let (owned, identity) = try await TestClient.openLogged()
    try await owned.client.setAccessToken(token("u1"))
    try await owned.client.setAccessToken(token("u2"))
    try await owned.client.sync()
    #expect(await owned.codes(identity) == [.identityChanged])
  }

  @Test func `a store beyond writing is told once`() async throws {
    let disk = FaultyFileSystem(SimulatedDisk())
    let errors = ErrorLog()
    let test = try await SyncWorkload.open(disk)
    test.client.errorHandler = errors.handler
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setBucket(["team": "a"])
    disk.fail([.write], with: .errno(Errno(EIO)), .forever)
    #expect(await code { try await test.client.pullOnce() } == .store)
    for _ in 1...2 { #expect(await code { try await test.client.sync() } == .engineUnavailable) }
    #expect(await test.codes(errors) == [.storeFailed])
    #expect((errors.errors[0] as? SyncError)?.originalError is POSIXError)
    #expect(test.client.session.state == .closed)
    await test.client.dispose()
  }

  @Test func `the token in force stands in no error, whatever the remote is`() async throws {
    let token = token("ann-with-a-long-name")
    let test = try await TestClient.open()
    try await test.client.setAccessToken(token)
    test.remote.script(pulls: [
      .failure(.refused(TransportCode(rawValue: token), "your token was \(token)", status: 500)),
      .answer(.signal(token)),
    ])
    for _ in 1...2 {
      do {
        try await test.client.pullOnce()
        Issue.record("nothing was thrown")
      } catch let error as SyncError {
        let told = "\(error) \(error.serverCode?.rawValue ?? "")"
        #expect(!told.contains(token), "\(error)")
      }
    }
  }
}
