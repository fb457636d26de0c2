@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Faults that users of another engine's resets have reported, where no other test has them. Docs/ClientReset.md lists all of them.
struct ResetReportedFaultsTests {
  private struct Oops: Error {}

  // MARK: Endless and stuck

  @Test func `a copy that never decodes is asked for a few times a run, and never for ever`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    let broken = RemoteFailure(.undecodable(MessageDefect(path: "rows[0]", reason: "no row")))
    test.server.change { $0.freshAnswers = Array(repeating: .failure(broken), count: 100) }
    let first = test.server.now.freshPullCount
    for run in 1...3 {
      let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
      #expect(error?.isTransient == true)
      #expect(test.server.now.freshPullCount == first + 3 * run)
    }
    await test.settle()
    #expect(test.errors.all.count == 3)
    #expect(try await test.columns("a")?["title"] == "mine")
    try await test.client.close()
  }

  @Test(arguments: ["manual", "discard", "recover", "recover-or-discard"], [true, false])
  func `who waits for a download during a reset hears of its end, never nothing`(_ word: String, _ fails: Bool)
    async throws
  {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(try ClientResetMode(text: word), at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    test.server.change { $0.unknownTables = fails ? ["todos"] : [] }
    let client = test.client
    let wait = Task { try await client.session.waitForDownload() }
    while client.withMemory({ $0.session.waits.waits.isEmpty }) { await Task.yield() }
    do { try await client.sync() } catch let error as SyncError { #expect(error.code == .clientResetError) }
    if word == "manual" || fails {
      #expect(await resetReason { try await wait.value } == (word == "manual" ? .manual : .freshCopyUnfit))
    } else {
      try await wait.value
      #expect(try await test.columns("c") == ["id": "c", "title": "c"])
    }
    try await client.close()
  }

  @Test func `a pause and a resume in the middle of the download make one reset`() async throws {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode("recover"))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    let door = Door()
    test.server.change { state in
      state.pageRowCount = 1
      state.beforeFreshPull = { await door.pass() }
    }
    let client = test.client
    let run = Task { try await client.sync() }
    await door.reached()
    client.session.pause()
    client.session.resume()
    client.session.pause()
    door.open()
    do { try await run.value } catch is CancellationError {}
    client.session.resume()
    try await client.sync()
    #expect(calls.before == 1 && calls.after == 1)
    #expect(try await test.reports().count == 1)
    #expect(test.server.columns("a")?["title"] == "mine")
    #expect(test.errors.all.isEmpty)
    try await client.close()
  }

  // MARK: Data

  @Test func `signing out is no reset: what is queued stays until the application says so`() async throws {
    let test = try await ResetTest.open()
    try await test.client.setAccessToken(token("u1"))
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    for number in 0..<3 { try await test.insert("own\(number)", ["x": 1]) }
    test.server.change { $0.needsToken = true }
    try await test.client.setAccessToken(nil)
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.serverCode == .sessionMissing && error?.resetInfo == nil)
    #expect(test.client.session.state == .waitingForToken)
    #expect(try await test.depth() == 3)
    #expect(try await test.rows().count == 4)
    try await test.client.setAccessToken(token("u1"))
    try await test.client.sync()
    #expect(test.server.columns("own2") == ["x": 1])
    try await test.client.close()
  }

  @Test func `a permission that was lost erases nothing, offers no action, and ends the waits`() async throws {
    let test = try await ResetTest.open()
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    try await test.insert("own", ["x": 1])
    let remote = ScriptedRemote(isObliging: false)
    let denied = RemoteFailure.refused(.insufficientPrivilege, "no more", status: 403)
    remote.answerAlways(pull: .failure(denied), push: .failure(denied))
    let directory = TemporaryDirectory()
    let (plain, errors) = try await TestClient.openLogged { configuration in
      configuration.storePath = "\(directory.path)/store"
      configuration.remote = remote
    }
    try await plain.insert("own", ["x": 1])
    let client = plain.client
    let wait = Task { try await client.session.waitForDownload() }
    while client.withMemory({ $0.session.waits.waits.isEmpty }) { await Task.yield() }
    await #expect(throws: SyncError.self) { try await client.sync() }
    let error = await #expect(throws: SyncError.self) { try await wait.value }
    #expect(error?.code == .permissionDeniedError && error?.resetInfo == nil && error?.isFatal == false)
    #expect(await plain.codes(errors) == [.permissionDeniedError])
    #expect(try await client.outboxDepth() == 1)
    #expect(try await plain.columns("own") == ["x": 1])
    try await plain.insert("next", ["x": 2])
    try await client.close()
    try await test.client.close()
  }

  @Test func `a queue of hundreds of writes is carried over and goes out in slices`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    for number in 0..<800 { try await test.insert("own\(number)", ["n": .int(Int64(number))], id: "m\(number)") }
    try await test.client.sync()
    #expect(test.server.now.pushedIDs == (0..<800).map { "m\($0)" })
    #expect(test.server.now.pushCount > 1)
    #expect(try await test.depth() == 0)
    #expect(try await test.reports().last?.entries.kept == 800)
    try await test.client.close()
  }

  // MARK: Callbacks

  @Test func `a callback that asks for a table that is not configured gets an error that names it`() async throws {
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(before: { view in _ = try view.query("strangers", QueryPlan()) }))
    try await test.loseHistory()
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.resetInfo?.reason == .beforeCallbackFailed)
    #expect(error?.message.contains("strangers") == true)
    #expect((error?.originalError as? SyncError)?.catalogueCode == .unknownTable)
    try await test.client.close()
  }

  @Test(arguments: ["discard", "recover"], [["todos"], ["todos", "notes", "extra"]])
  func `an application with fewer or more tables than the store is reset with its own`(
    _ word: String, _ names: [String]
  ) async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let server = SmallServer()
    let test = try await ResetTest.open(server: server, at: path)
    try await test.loseHistory()
    try await test.insert("n", ["x": 1], in: "notes")
    try await test.client.close()
    let seen = Lock<[String]>([])
    let mode = try ClientResetMode(
      try #require(ClientResetMode.Name(rawValue: word)),
      before: { view in
        for name in view.tables { _ = try view.query(name, QueryPlan()) }
        seen.withLock { $0 += view.tables }
      },
      after: { view, client, _ in
        for name in view.tables { _ = try view.query(name, QueryPlan()) }
        let last = view.tables.contains("extra") ? "extra" : "todos"
        try await client.apply(.insert, to: last, pk: "behind", columns: ["colour": "red"])
      })
    let tables = Dictionary(uniqueKeysWithValues: names.map { ($0, TableConfiguration()) })
    let again = try await ResetTest.open(
      mode, server: server, at: path, ids: CountingIDs(from: 10_000), tables: tables)
    try await again.client.sync()
    #expect(seen.withLock { $0 }.sorted() == names.sorted())
    #expect(server.columns("behind", in: names.contains("extra") ? "extra" : "todos") == ["colour": "red"])
    let report = try #require(try await again.reports().last)
    if word == "recover", names == ["todos"] {
      #expect(report.deferred.map(\.reason) == [.tableNotConfigured])
    } else {
      #expect(report.deferred.isEmpty)
    }
    #expect(again.errors.all.isEmpty)
    try await again.client.close()
  }

  @Test func `a handler may close the client and act on its session`() async throws {
    let directory = TemporaryDirectory()
    let closed = Door()
    let box = Lock<SyncClient?>(nil)
    let states = Lock<[SyncSession.State]>([])
    let test = try await ResetTest.open(
      .manual(handler: { _, session in
        states.withLock { $0.append(session.state) }
        session.pause()
        session.resume()
        let client = box.withLock { $0 }
        Task {
          await client?.dispose()
          closed.open()
        }
      }), at: "\(directory.path)/store")
    box.withLock { $0 = test.client }
    try await test.loseHistory()
    #expect(await resetReason { try await test.client.sync() } == .manual)
    await closed.pass()
    #expect(states.withLock { $0 } == [.blocked(.resetRequired)])
    box.withLock { $0 = nil }
    let again = try await ResetTest.open(.manual(), server: test.server, at: "\(directory.path)/store")
    #expect(try await again.rows().keys.sorted() == ["a", "b"])
    try await again.client.close()
  }

  // MARK: Files

  @Test func `two copies of one second have two names`() async throws {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(at: "\(directory.path)/store") { $0.keptCopies = KeptCopyPolicy(.always) }
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    for _ in 1...3 { try await test.client.startClientReset() }
    let names = try await test.client.keptCopies().map(\.name)
    #expect(names.count == 3 && Set(names).count == 3)
    #expect(Set(names.map { $0.prefix(21) }).count == 1, "the time is the same")
    try await test.client.close()
  }

  @Test func `a store opens again behind an action, in the same process and with the copy beside it`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(.manual(), at: path)
    try await test.loseHistory()
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    try await test.client.performResetAction(try #require(error?.resetInfo?.token))
    try await test.client.close()
    let again = try await ResetTest.open(.manual(), server: test.server, at: path)
    try await again.client.sync()
    #expect(try await again.rows().keys.sorted() == ["a", "c"])
    #expect(try await again.client.keptCopies().count == 1)
    try await again.client.close()
  }

  @Test func `a table with a long name is reset like any other`() async throws {
    let name = String(repeating: "long_", count: 40)
    let test = try await ResetTest.open(tables: [name: TableConfiguration(), "todos": TableConfiguration()])
    test.server.put("a", ["id": "a"], in: name)
    try await test.client.sync()
    try await test.insert("own", ["x": 1], in: name)
    test.server.restore()
    test.server.put("b", ["id": "b"], in: name)
    try await test.client.sync()
    #expect(try await test.rows(in: name).keys.sorted() == ["a", "b", "own"])
    #expect(test.server.columns("own", in: name) == ["x": 1])
    try await test.client.close()
  }

  // MARK: Errors

  @Test func `one handler of two stores is told which of them failed`() async throws {
    let directory = TemporaryDirectory()
    let paths = Lock<[String]>([])
    let handler: ErrorHandler = { _, session in paths.withLock { $0.append(session.storePath) } }
    let server = SmallServer()
    var tests: [ResetTest] = []
    let modes: [ClientResetMode] = [
      .recoverUnsyncedChanges(), .recoverUnsyncedChanges(before: { _ in throw Oops() }),
    ]
    for (name, mode) in zip(["one", "two"], modes) {
      tests.append(
        try await ResetTest.open(
          mode, server: server, at: "\(directory.path)/\(name)", ids: CountingIDs(from: tests.count * 10_000)
        ) { $0.errorHandler = handler })
    }
    server.put("a", ["id": "a"])
    for test in tests { try await test.client.sync() }
    server.restore()
    for test in tests { try? await test.client.sync() }
    for test in tests { await test.settle() }
    #expect(paths.withLock { $0 } == ["\(directory.path)/two"])
    for test in tests { try await test.client.close() }
  }

  @Test(arguments: ["", "-1", "0", "99999", "reset", "23505", "\u{0}", String(repeating: "9", count: 100)])
  func `a code that nobody knows crashes nothing and erases nothing, in the middle of a reset too`(_ code: String)
    async throws
  {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    test.server.change { $0.freshAnswers = [.failure(.refused(TransportCode(rawValue: code), "?"))] }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(try await test.columns("a")?["title"] == "mine")
    try await test.client.startClientReset()
    #expect(test.server.columns("a")?["title"] == "mine")
    try await test.client.close()
  }

  @Test func `what a report says of a drop names row, column and reason`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.put("a", ["id": "a", "n": "no number"])
    try await test.update("a", [:], transforms: ["n": ["op": "increment", "by": 1]], id: "m1")
    try await test.client.sync()
    let dropped = try #require(try await test.reports().last).dropped
    #expect(dropped.map(\.pk) == ["a"] && dropped.map(\.table) == ["todos"])
    #expect(dropped.map(\.column) == ["n"] && dropped.map(\.reason) == [.typeChangedOnServer])
    try await test.client.close()
  }
}
