import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) @_spi(Scenario) import StrandlineSync

/// What a client says of a reset that has not happened: what it waits for.
struct PendingResetTests {
  private static func opened(
    _ mode: ClientResetMode = .recoverUnsyncedChanges(), server: SmallServer = SmallServer(), at path: String,
    schemaVersion: Int = 1
  ) async throws -> ResetTest {
    try await ResetTest.open(mode, server: server, at: path) { $0.schemaVersion = schemaVersion }
  }

  @Test func `a client that syncs waits for none`() async throws {
    let test = try await ResetTest.open()
    #expect(try await test.client.pendingReset() == nil)
    try await test.client.close()
    #expect(await code { _ = try await test.client.pendingReset() } == .engineUnavailable)
  }

  @Test func `a gate waits for a newer application, and in that one for its next sync`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await Self.opened(at: path)
    try await test.insert("a", ["x": 1])
    try await test.client.sync()
    test.server.change { $0.schemaVersionMin = 2 }
    try await test.client.sync()
    let pending = try #require(try await test.client.pendingReset())
    #expect(pending.next == .application && pending.reason == .schemaGate && pending.token == nil)
    try await test.client.close()
    let updated = try await Self.opened(server: test.server, at: path, schemaVersion: 2)
    #expect(try await updated.client.pendingReset()?.next == .sync)
    try await updated.client.sync()
    #expect(try await updated.client.pendingReset() == nil)
    try await updated.client.close()
  }

  @Test func `a server that does not answer in the middle leaves it to the next sync`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.freshAnswers = [.failure(ScriptedRemote.offline)] }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    let pending = try #require(try await test.client.pendingReset())
    #expect(pending.next == .sync && pending.reason == nil && pending.token == nil)
    try await test.client.close()
  }

  @Test func `manual and a forbidden recovery wait for the action, with token and path`() async throws {
    for mode in [ClientResetMode.manual(), .recoverUnsyncedChanges()] {
      let directory = TemporaryDirectory()
      let test = try await Self.opened(mode, at: "\(directory.path)/store")
      try await test.loseHistory()
      test.server.change { $0.isRecoveryForbidden = true }
      let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
      let pending = try #require(try await test.client.pendingReset())
      let info = try #require(error?.resetInfo)
      #expect(pending.next == .action && pending.reason == info.reason)
      #expect(pending.token == info.token && pending.keptCopyPath == info.keptCopyPath && info.keptCopyPath != nil)
      // The message says that it happens by itself, and with what loss.
      #expect("\(info.isAutomatic)" == "true" && error?.message.contains("begins anew by itself") == true)
      #expect(error?.message.contains("(_:)") == false, "\(error?.message ?? "")")
      try await test.client.close()
    }
  }

  @Test func `a before callback that threw waits for the next open`() async throws {
    struct Oops: Error {}
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await Self.opened(.recoverUnsyncedChanges(before: { _ in throw Oops() }), at: path)
    try await test.loseHistory()
    #expect(await resetReason { try await test.client.sync() } == .beforeCallbackFailed)
    let pending = try #require(try await test.client.pendingReset())
    #expect(pending.next == .open && pending.reason == .beforeCallbackFailed && pending.token != nil)
    try await test.client.close()
    let again = try await Self.opened(server: test.server, at: path)
    #expect(try await again.client.pendingReset()?.next == .sync)
    try await again.client.sync()
    #expect(try await again.client.pendingReset() == nil)
    try await again.client.close()
  }

  @Test func `a loop waits for a decision, and startClientReset behind it goes on with the queue`() async throws {
    let directory = TemporaryDirectory()
    let test = try await Self.opened(at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    test.server.change { $0.isUnstable = true }
    var reasons: Set<ClientResetInfo.Reason> = []
    for _ in 0..<10 {
      if let reason = await resetReason({ try await test.client.sync() }) { reasons.insert(reason) }
      if reasons.contains(.loopDetected) { break }
    }
    #expect(reasons.contains(.loopDetected), "\(reasons)")
    // The server has come to rest.
    test.server.change { $0.isUnstable = false }
    let pending = try #require(try await test.client.pendingReset())
    #expect(pending.next == .decision && pending.reason == .loopDetected && pending.token != nil)
    let count = test.server.now.pullCount
    try await test.client.sync()
    #expect(test.server.now.pullCount == count)
    try await test.client.startClientReset()
    #expect(try await test.client.pendingReset() == nil)
    #expect(try await test.depth() == 0)
    #expect(test.server.columns("own") == ["x": 1])
    #expect(try test.client.read { try $0.resetRecord() } == nil)
    try await test.client.close()
  }

  // MARK: The action of a later process

  /// As if another process had recorded the action.
  private static func asOfAnother(_ test: ResetTest) async throws {
    try await test.client.commit(.resetAction) { state in
      var record = try #require(try state.resetRecord())
      record.action?.launch = "another"
      try state.set(record)
    }
  }

  @Test func `who opens to look leaves the action, who opens to sync performs it and can tell what it did`()
    async throws
  {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await Self.opened(.manual(), at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(test.client.resetAtOpen == nil)
    try await Self.asOfAnother(test)
    try await test.client.close()

    let looking = try await ResetTest.open(.manual(), server: test.server, at: path) {
      $0.performsResetActions = false
    }
    #expect(looking.client.resetAtOpen == nil)
    #expect(try await looking.depth() == 1)
    #expect(try await looking.rows().count == 2)
    #expect(try await looking.client.pendingReset()?.next == .action)
    try await looking.client.close()

    let later = try await Self.opened(.manual(), server: test.server, at: path)
    let report = try #require(later.client.resetAtOpen)
    #expect(report.effectiveMode == .manual && report.entries.pending == 1 && report.entries.discarded == 1)
    #expect(report.rowsByTable == ["todos": Self.removed(2)])
    #expect(report.keptCopy.path == error?.resetInfo?.keptCopyPath)
    #expect(try await later.reports().last == report)
    #expect(try await later.rows().isEmpty)
    try await later.client.close()
    let last = try await Self.opened(.manual(), server: test.server, at: path)
    #expect(last.client.resetAtOpen == nil)
    try await last.client.close()
  }

  private static func removed(_ count: Int) -> ClientResetReport.Rows {
    var rows = ClientResetReport.Rows()
    rows.removed = count
    return rows
  }

  @Test func `an action without an open client leaves its report, with what it erased`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await Self.opened(.manual(), at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    let token = try #require(error?.resetInfo?.token)
    try await test.client.close()
    try await SyncClient.performResetAction(token, at: path)
    let again = try await Self.opened(.manual(), server: test.server, at: path)
    let report = try #require(try await again.reports().last)
    #expect(report.effectiveMode == .manual && report.entries.discarded == 1 && report.entriesByTable.count == 1)
    #expect(report.rowsByTable == ["todos": Self.removed(2)])
    let epoch = try again.client.read { $0.epoch }
    #expect(report.epoch == epoch && report.sequenceAfter == report.sequenceBefore + 1)
    let copies = try await again.client.keptCopies()
    #expect(copies.map(\.path) == [error?.resetInfo?.keptCopyPath] && copies[0].report == report)
    try await again.client.close()
  }

  @Test func `the report of an action names what led to it`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.isRecoveryForbidden = true }
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    try await test.client.performResetAction(try #require(error?.resetInfo?.token))
    let report = try #require(try await test.reports().last)
    #expect(report.fallbacks.map(\.reason) == [.recoveryForbidden] && report.fallbacks.map(\.mode) == [.recover])
    try await test.client.close()
  }

  @Test func `a recovery that crashed twice is named where it became a discard`() async throws {
    let test = try await ResetTest.open(.recoverOrDiscardUnsyncedChanges())
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.client.pullOnce()
    let demand = try #require(try test.client.read { try $0.resetDemand() })
    let attempt = ResetAttempt(
      client: test.client, mode: .recoverOrDiscardUnsyncedChanges(), demand: demand, isForced: false)
    var record = attempt.record(nil, .recover, .init(crashes: 1))
    record.phase = .marker
    record.isRunning = true
    let crashed = record
    try await test.client.commit(.resetMarked) { state in try state.set(crashed) }
    try await test.client.sync()
    let report = try #require(try await test.reports().last)
    #expect(report.effectiveMode == .discard && report.entries.discarded == 1)
    #expect(report.fallbacks.map(\.reason) == [.loopDetected])
    #expect(report.fallbacks.first?.message.contains("crashed twice") == true)
    try await test.client.close()
  }

  // MARK: What reports say

  @Test func `rows of a table that is configured no longer are counted as gone`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await Self.opened(at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.client.close()
    let fewer = try await ResetTest.open(server: test.server, at: path, tables: ["notes": TableConfiguration()])
    let preview = try await fewer.client.previewReset(.recoverUnsyncedChanges())
    try await fewer.client.startClientReset()
    let report = try #require(try await fewer.reports().last)
    for report in [preview, report] {
      #expect(report.rowsByTable == ["todos": Self.removed(2)])
      #expect(report.entries.deferred == 1 && report.entries.kept == 0)
    }
    try await fewer.client.close()
  }

  @Test func `a dry run says what a run would find: a lost history, and no time of a switch`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    let preview = try await test.client.previewReset(.recoverUnsyncedChanges())
    #expect(preview.demand.kind == .history && preview.switchedAt == 0)
    #expect(preview.keptCopy.absence == "the store is in memory")
    test.server.change { $0.isRecoveryForbidden = true }
    let error = await #expect(throws: SyncError.self) {
      _ = try await test.client.previewReset(.recoverUnsyncedChanges())
    }
    #expect(error?.message.contains("dry run") == false, "\(error?.message ?? "")")
    try await test.client.close()
  }

  @Test func `copies of one second come in the order of their resets`() async throws {
    let directory = TemporaryDirectory()
    let clock = TestClock()
    let test = try await ResetTest.open(.discardUnsyncedChanges(), at: "\(directory.path)/store", clock: clock) {
      $0.keptCopies = KeptCopyPolicy(.always, countMax: 20)
    }
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    var epochs: [UInt64] = []
    for number in 0..<8 {
      clock.advance(3)
      epochs.append(try test.client.read { $0.epoch })
      if number % 3 == 2 {
        _ = try await test.client.reset(keepCopy: true)
        try await test.client.sync()
      } else {
        try await test.client.startClientReset()
      }
    }
    var found: [UInt64] = []
    for copy in try await test.client.keptCopies() {
      let store = try await copy.open()
      found.append(try store.view().epoch)
      try await store.close()
    }
    #expect(found == epochs)
    try await test.client.close()
  }
}
