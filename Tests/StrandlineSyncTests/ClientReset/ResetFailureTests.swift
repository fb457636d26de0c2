@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// The failure table of Docs/ClientReset.md: local data intact, one error delivered.
struct ResetFailureTests {
  /// What an attempt that failed must have left alone.
  private struct State: Equatable {
    var rows: [String: [String: Value]]
    var head: SyncInspection

    init(_ test: ResetTest) async throws {
      rows = try await test.rows()
      head = try await test.client.inspect()
    }
  }

  @Test(arguments: ["recover", "discard", "recover-or-discard"])
  func `F2: forbidden recovery fails in recover, and is a discard elsewhere`(_ word: String) async throws {
    let test = try await ResetTest.open(try ClientResetMode(text: word))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    test.server.change { $0.isRecoveryForbidden = true }
    let before = try await State(test)
    if word == "recover" {
      let count = test.server.now.freshPullCount
      #expect(await resetReason { try await test.client.sync() } == .recoveryForbidden)
      #expect(test.server.now.freshPullCount == count, "nothing was downloaded")
      #expect(try await State(test) == before)
      await test.settle()
      #expect(test.errors.reset.count == 1)
      #expect(test.errors.reset[0].isAutomatic && test.errors.reset[0].token != nil)
    } else {
      try await test.client.sync()
      #expect(try await test.columns("a")?["title"] == "restored")
      let report = try #require(try await test.reports().last)
      #expect(!report.didRecover)
      #expect(report.fallbacks.map(\.reason) == (word == "discard" ? [] : [.recoveryForbidden]))
    }
    try await test.client.close()
  }

  @Test func `F4n: a network that is not there keeps the copy, and the next run goes on where it stopped`() async throws
  {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    for number in 0..<8 { test.server.put("r\(number)", ["x": 1]) }
    test.server.change { $0.pageRowCount = 2 }
    let server = test.server
    test.server.change { state in
      state.beforeFreshPull = { if server.now.freshPullCount == 3 { server.change { $0.isOffline = true } } }
    }
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.catalogueCode == .remote && error?.resetInfo == nil)
    #expect(try await test.isBlocked())
    #expect(!(await test.eventNames()).contains("RESET_REQUIRED"))
    test.server.change {
      $0.isOffline = false
      $0.beforeFreshPull = nil
    }
    let count = test.server.now.freshPullCount
    try await test.client.sync()
    // Ten rows in pages of two: five in all, of which some came before.
    #expect(test.server.now.freshPullCount - count < 5)
    #expect(Set(test.server.now.clientIDs.dropFirst()).count == 1)
    #expect(try await test.rows().count == 10)
    try await test.client.close()
  }

  @Test func `F4g: a fresh copy that is answered with a gate makes the demand one`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.freshAnswers = [.answer(.signal("RESET_REQUIRED"))] }
    try await test.client.sync()
    #expect(try await test.isBlocked())
    #expect((await test.eventNames()).filter { $0 == "RESET_REQUIRED" }.count == 1)
    #expect(test.errors.reset.map(\.reason) == [.schemaGate] && test.errors.reset[0].token == nil)
    try await test.client.close()
  }

  @Test func `F4p: a fresh copy that is refused for good fails, with an action that does not run by itself`()
    async throws
  {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    let before = try await State(test)
    test.server.change { $0.freshAnswers = [.failure(.refused(.unscopedPull, "no bucket"))] }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyRefused)
    #expect(try await State(test) == before)
    await test.settle()
    #expect(test.errors.reset.count == 1 && !test.errors.reset[0].isAutomatic && test.errors.reset[0].token != nil)
    try await test.client.close()
  }

  @Test func `F4m: a server that never moves on fails`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change {
      $0.freshAnswers = [
        .answer(PullAnswer(cursor: "0+1", hasMore: true)), .answer(PullAnswer(cursor: "0+1", hasMore: true)),
      ]
    }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyMalformed)
    try await test.client.close()
  }

  @Test func `F4m: a fresh copy that expires twice fails, one that expires once begins again`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.freshAnswers = [.answer(.signal("CHECKPOINT_EXPIRED"))] }
    try await test.client.sync()
    #expect(try await !test.isBlocked())
    test.server.restore()
    test.server.change {
      $0.freshAnswers = [.answer(.signal("CHECKPOINT_EXPIRED")), .answer(.signal("CHECKPOINT_EXPIRED"))]
    }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyMalformed)
    try await test.client.close()
  }

  @Test func `pages that come from several histories begin again, three times at most`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change {
      $0.isUnstable = true
      $0.pageRowCount = 1
    }
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.catalogueCode == .remote && error?.isTransient == true)
    test.server.change { $0.isUnstable = false }
    try await test.client.sync()
    #expect(try await !test.isBlocked())
    try await test.client.close()
  }

  @Test func `F6: a queue that does not decode fails in recover and is told by its mutation`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.spoilQueue()
    #expect(await resetReason { try await test.client.sync() } == .recoveryImpossible)
    await test.settle()
    #expect("\(test.errors.all)".contains("m1"))
    #expect(test.errors.reset.count == 1 && test.errors.reset[0].isAutomatic)
    try await test.client.close()
  }

  @Test func `F6: recover-or-discard discards in the same attempt`() async throws {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(.recoverOrDiscardUnsyncedChanges(), at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.spoilQueue()
    try await test.client.sync()
    #expect(try await test.columns("a")?["title"] == "restored")
    let report = try #require(try await test.reports().last)
    #expect(report.effectiveMode == .discard && report.fallbacks.map(\.reason) == [.recoveryImpossible])
    #expect(try await test.client.keptCopies().count == 1)
    #expect(test.errors.all.isEmpty)
    try await test.client.close()
  }

  @Test func `F7: a fresh copy whose keys changed fails before before is called`() async throws {
    let calls = Lock(0)
    let test = try await ResetTest.open(.recoverUnsyncedChanges(before: { _ in calls.withLock { $0 += 1 } }))
    try await test.loseHistory()
    test.server.put("z", ["id": "other"])
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    #expect(calls.withLock { $0 } == 0)
    await test.settle()
    #expect("\(test.errors.all)".contains("table todos: the row z has the key other in id"))
    try await test.client.close()
  }

  @Test
  func `F7: a server that does not know a table of which there are rows fails, and is tried again after an update`()
    async throws
  {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let server = SmallServer()
    let test = try await ResetTest.open(server: server, at: path)
    try await test.loseHistory()
    server.change { $0.unknownTables = ["todos"] }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    try await test.client.close()
    server.change { $0.unknownTables = [] }
    // The same application is refused at once, without a download.
    let count = server.now.freshPullCount
    let again = try await ResetTest.open(server: server, at: path)
    #expect(await resetReason { try await again.client.sync() } == .loopDetected)
    #expect(server.now.freshPullCount == count)
    #expect(await resetReason { try await again.client.sync() } == nil)
    await again.settle()
    #expect(again.errors.reset.count == 1)
    try await again.client.close()
    let updated = try await ResetTest.open(server: server, at: path) { $0.schemaVersion = 2 }
    try await updated.client.sync()
    #expect(try await !updated.isBlocked())
    try await updated.client.close()
  }

  @Test func `a server that demands a reset for ever is obeyed twice, then refused`() async throws {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    // It asks right behind each switch, of the same history.
    let server = test.server
    server.change { $0.schemaVersionMin = 1 }
    let always = AlwaysLost(server)
    var configuration = test.client.configuration
    try await test.client.close()
    configuration.remote = always
    let client = try await SyncClient.open(configuration)
    var reasons: [ClientResetInfo.Reason?] = []
    for _ in 0..<4 { reasons.append(await resetReason { try await client.sync() }) }
    #expect(reasons == [.demandedAgain, .demandedAgain, .loopDetected, nil])
    #expect(try await client.storedColumns(table: "todos", pk: "own") == ["x": 1])
    try await client.close()
  }

  /// Says of every anchor that its history is lost.
  private final class AlwaysLost: Remote {
    let server: SmallServer
    init(_ server: SmallServer) { self.server = server }

    func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer>
    {
      if context.history == nil { return try await server.pull(request, context) }
      return RemoteAnswer(
        body: .signal("RESET_REQUIRED", cursor: request.cursor),
        notes: AnswerNotes(history: "\(server.now.history);1;0000000000000000", resetCause: "history"))
    }

    func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer>
    {
      RemoteAnswer(
        body: PushAnswer(signal: .resetRequired),
        notes: AnswerNotes(history: "\(server.now.history);1;0000000000000000", resetCause: "history"))
    }
  }

  @Test func `F9: close, reset and another user's token end an attempt, and the data stays`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let server = SmallServer()
    let test = try await ResetTest.open(server: server, at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    let door = Door()
    server.change { $0.freshAnswers = [.held(door, PullAnswer(cursor: "0+1", hasMore: true))] }
    let client = test.client
    let run = Task { try await client.sync() }
    await door.reached()
    let closing = Task { await client.dispose() }
    door.open()
    await closing.value
    await #expect(throws: (any Error).self) { try await run.value }
    let again = try await ResetTest.open(server: server, at: path)
    #expect(try await again.columns("a")?["title"] == "mine")
    #expect(try await again.isBlocked())
    try await again.client.sync()
    #expect(server.columns("a")?["title"] == "mine")
    try await again.client.close()
  }

  @Test func `startClientReset tries again what has failed`() async throws {
    let fails = Lock(true)
    struct Oops: Error {}
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(before: { _ in if fails.withLock({ $0 }) { throw Oops() } }))
    try await test.loseHistory()
    #expect(await resetReason { try await test.client.sync() } == .beforeCallbackFailed)
    fails.withLock { $0 = false }
    try await test.client.startClientReset()
    #expect(try await !test.isBlocked())
    try await test.client.close()
  }

  @Test func `a history that was not lost after all lifts the demand in a later process`() async throws {
    let test = try await ResetTest.open()
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    let good = test.server.now.history
    test.server.change { $0.history = String(repeating: "f", count: 32) }
    try await test.client.pullOnce()
    #expect(try await test.isBlocked())
    test.server.change { $0.history = good }
    // As if another process had noted it.
    try await test.client.commit(.resetDemanded) { state in
      var demand = try #require(try state.resetDemand())
      demand.launch = "another"
      try state.set(demand)
    }
    try await test.client.sync()
    #expect(try await !test.isBlocked())
    #expect(try await test.reports().isEmpty)
    try await test.client.close()
  }

  @Test func `another user's block lies over a demand, and the owner's return brings the demand back`() async throws {
    let test = try await ResetTest.open()
    try await test.client.setAccessToken(token("u1"))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    try await test.client.pullOnce()
    try await test.client.setAccessToken(token("u2"))
    #expect(try await test.client.checkpoint().softBlockReason == .identityChanged)
    let count = test.server.now.pullCount
    try await test.client.sync()
    try await test.client.startClientReset()
    #expect(test.server.now.pullCount == count, "no mode runs while that block stands")
    try await test.client.setAccessToken(token("u1"))
    #expect(try await test.client.resumeAsOwner())
    #expect(try await test.client.checkpoint().softBlockReason == .resetRequired)
    try await test.client.sync()
    #expect(test.server.columns("a")?["title"] == "mine")
    try await test.client.close()
  }

  @Test func `a gate blocks in every mode, keeps the queue, and goes with a newer application`() async throws {
    for mode in ["manual", "discard", "recover"] {
      let directory = TemporaryDirectory()
      let path = "\(directory.path)/store"
      let server = SmallServer()
      let test = try await ResetTest.open(try ClientResetMode(text: mode), server: server, at: path)
      server.put("a", ["id": "a"])
      try await test.client.sync()
      try await test.insert("own", ["x": 1])
      server.change { $0.schemaVersionMin = 2 }
      try await test.client.sync()
      try await test.client.sync()
      #expect(try await test.isBlocked())
      #expect(try await test.depth() == 1)
      #expect((await test.eventNames()).filter { $0 == "RESET_REQUIRED" }.count == 1)
      #expect(test.errors.reset.map(\.reason) == [.schemaGate])
      #expect(
        try test.client.read { try $0.resetRecord() } == nil, "no file action for a server that refuses this schema")
      try await test.client.close()
      let updated = try await ResetTest.open(try ClientResetMode(text: mode), server: server, at: path) {
        $0.schemaVersion = 2
      }
      // The demand is asked for again only in another process; this one is the same.
      if mode == "manual" {
        #expect(await resetReason { try await updated.client.sync() } == .manual)
      } else {
        try await updated.client.sync()
        #expect(try await !updated.isBlocked())
        #expect((server.columns("own") != nil) == (mode == "recover"))
      }
      try await updated.client.close()
    }
  }
}
