@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Client resets from end to end, against a small server that is put back to an older state.
struct ClientResetTests {
  // MARK: Recover

  @Test func `recover keeps what was queued, takes the rest from the server, and uploads it`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.update("a", [:], transforms: ["n": ["op": "increment", "by": 5]], id: "m2")
    try await test.update("b", ["title": "lost"], id: "m3")
    try await test.insert("d", ["title": "new"], id: "m4")
    let id = try await test.client.inspect().clientID
    try await test.client.sync()
    #expect(
      try await test.rows() == [
        "a": ["id": "a", "title": "mine", "n": 15], "c": ["id": "c", "title": "c"], "d": ["title": "new"],
      ])
    #expect(test.server.columns("a") == ["id": "a", "title": "mine", "n": 15])
    #expect(test.server.now.pushedIDs == ["m1", "m2", "m4"])
    #expect(try await test.depth() == 0)
    #expect(try await test.client.inspect().clientID != id)
    #expect(try await !test.isBlocked())
    let report = try #require(try await test.reports().last)
    #expect(report.didRecover && report.demand.kind == .history && report.configuredMode == .recover)
    #expect(report.entries.pending == 4 && report.entries.kept == 3 && report.entries.dropped == 1)
    #expect(report.dropped.map(\.mutationID) == ["m3"] && report.dropped[0].reason == .missingOnServer)
    let letters = try await test.client.deadLetters()
    #expect(letters.map(\.mutationID) == ["m3"] && letters[0].reason == "CLIENT_RESET")
    #expect(report.rowsByTable["todos"]?.added == 1 && report.rowsByTable["todos"]?.removed == 1)
    #expect(test.errors.all.isEmpty)
    let names = await test.eventNames()
    #expect(!names.contains("RESET_REQUIRED"))
    #expect(names.filter { $0 == "DID_RESET" }.count == 1)
    try await test.client.close()
  }

  @Test func `discard drops the queue and shows the server's state`() async throws {
    let test = try await ResetTest.open(.discardUnsyncedChanges())
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.insert("d", ["title": "new"], id: "m2")
    try await test.client.sync()
    #expect(
      try await test.rows() == [
        "a": ["id": "a", "title": "restored", "n": 10], "c": ["id": "c", "title": "c"],
      ])
    #expect(test.server.now.pushedIDs.isEmpty)
    #expect(try await test.client.deadLetters().isEmpty)
    let report = try #require(try await test.reports().last)
    #expect(!report.didRecover && report.entries.discarded == 2 && report.entries.pending == 2)
    try await test.client.close()
  }

  @Test(arguments: ["recover", "discard", "recover-or-discard"])
  func `three resets in a row: no loop and no loss`(_ mode: String) async throws {
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(try ClientResetMode(text: mode), at: "\(directory.path)/store")
    try await test.loseHistory()
    for round in 1...3 {
      try await test.insert("r\(round)", ["n": .int(Int64(round))], id: "i\(round)")
      try await test.client.sync()
      #expect(try await !test.isBlocked(), "round \(round)")
      #expect(try await test.depth() == 0)
      if mode != "discard" { #expect(test.server.columns("r\(round)") == ["n": .int(Int64(round))]) }
      // The acknowledged reset leaves no record.
      #expect(try test.client.read { try $0.resetRecord() } == nil)
      test.server.restore()
    }
    try await test.client.sync()
    #expect(try await test.reports().count == 4)
    #expect(test.errors.all.isEmpty)
    try await test.client.close()
  }

  @Test func `two resets in a row are no cycle when the first had nothing to upload`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.client.sync()
    test.server.restore()
    try await test.client.sync()
    #expect(try await test.reports().count == 2)
    #expect(try await !test.isBlocked())
    try await test.client.close()
  }

  @Test func `a switch leaves exactly what the matrix says`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let before = try test.client.read { view in
      (
        try view.metaText(.originHLC), try view.metaText(.clientID), try view.metaText(.historyAnchor),
        view.sequence.rawValue, view.epoch
      )
    }
    test.server.change { $0.freshAnswers = [] }
    try await test.client.sync()
    let view = try test.client.store.view()
    #expect(try view.metaText(.clientID) != before.1)
    #expect(try view.metaText(.historyAnchor) != before.2)
    #expect(try view.metaText(.cursor) == "\(test.server.now.content.number)")
    #expect(view.sequence.rawValue > before.3 && view.epoch == before.4 + 1)
    #expect(try view.softBlock() == nil)
    #expect(try view.resetDemand() == nil)
    for key in [MetaKey.pageCursor, .isFreshComplete, .freshPages] { #expect(try view.meta(key) == nil) }
    try await test.client.close()
  }

  @Test func `what differs is told by its keys, and what does not is not`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.insert("own", ["x": 1], in: "notes")
    _ = await test.eventNames()
    let count = test.log.events.count
    try await test.client.sync()
    await test.settle()
    let told = test.log.events[count...]
    guard case .localChanged(let changes)? = told.first else {
      Issue.record("the first event is \(told.first.map(\.name) ?? "none")")
      return
    }
    #expect(changes.tables == ["todos": .keys(["a", "b", "c"])])
    guard case .didReset? = told.dropFirst().first else {
      Issue.record("the second event is \(told.dropFirst().first.map(\.name) ?? "none")")
      return
    }
    try await test.client.close()
  }

  @Test func `identical states: no localChanged, and the identity is another`() async throws {
    let test = try await ResetTest.open()
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    let id = try await test.client.inspect().clientID
    let count = (await test.eventNames()).count
    test.server.restore()
    try await test.client.sync()
    #expect(Array((await test.eventNames())[count...]) == ["DID_RESET", "LOCAL_CHANGED"])
    #expect(try await test.client.inspect().clientID != id)
    try await test.client.close()
  }

  @Test func `local-only columns stay with their rows in every mode`() async throws {
    for mode in [ClientResetMode.recoverUnsyncedChanges(), .discardUnsyncedChanges()] {
      let test = try await ResetTest.open(mode) { $0.localOnlyColumns = ["draft"] }
      try await test.loseHistory()
      try await test.update("a", ["draft": "kept"])
      try await test.update("b", ["draft": "gone"])
      try await test.client.sync()
      #expect(try await test.columns("a") == ["id": "a", "title": "restored", "n": 10, "draft": "kept"])
      #expect(try await test.columns("b") == nil)
      #expect(try await test.reports().last?.rowsByTable["todos"]?.localOnlyLost == 1)
      try await test.client.close()
    }
  }

  // MARK: What the server knew already

  @Test func `a write whose answer was lost is not applied twice across a reset`() async throws {
    let test = try await ResetTest.open()
    test.server.put("a", ["id": "a", "n": 1])
    try await test.client.sync()
    try await test.update("a", [:], transforms: ["n": ["op": "increment", "by": 5]], id: "m1")
    test.server.change { $0.losesPushAnswers = 1 }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(test.server.columns("a") == ["id": "a", "n": 6])
    test.server.restore()
    try await test.client.sync()
    #expect(test.server.columns("a") == ["id": "a", "n": 6])
    #expect(try await test.columns("a") == ["id": "a", "n": 6])
    try await test.client.close()
  }

  @Test func `a carried write that was applied long ago and overwritten since shows the server's row`() async throws {
    let test = try await ResetTest.open()
    test.server.put("a", ["id": "a", "x": 1])
    try await test.client.sync()
    try await test.update("a", ["x": 2], id: "m1")
    test.server.change { $0.losesPushAnswers = 1 }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    test.server.put("a", ["id": "a", "x": 3])
    test.server.restore()
    try await test.client.sync()
    #expect(try await test.columns("a") == ["id": "a", "x": 3])
    try await test.client.close()
  }

  @Test func `an own insert that the server applied but does not deliver to this client disappears`() async throws {
    let test = try await ResetTest.open(
      tables: ["teams": TableConfiguration(bucket: .byColumn("team"))], change: { _ in })
    try await test.client.setBucket(["team": "red"])
    test.server.put("a", ["id": "a", "team": "red"], in: "teams")
    try await test.client.sync()
    test.server.restore()
    try await test.insert("x", ["team": "blue"], id: "m1", in: "teams")
    try await test.client.sync()
    #expect(test.server.columns("x", in: "teams") == ["team": "blue"])
    #expect(try await test.columns("x", in: "teams") == nil)
    #expect(try await test.columns("a", in: "teams") == ["id": "a", "team": "red"])
    try await test.client.close()
  }

  // MARK: Never written

  @Test func `a store that was never written runs no attempt`() async throws {
    let server = SmallServer()
    let test = try await ResetTest.open(server: server)
    try await test.client.startClientReset()
    #expect(try await test.reports().isEmpty)
    #expect(try await !test.isBlocked())
    try await test.client.close()
  }

  @Test func `a client that has nothing goes on with the server's new history`() async throws {
    let server = SmallServer()
    let test = try await ResetTest.open(server: server)
    try await test.client.sync()
    server.restore()
    server.put("a", ["id": "a"])
    try await test.client.sync()
    #expect(try await test.rows().keys.sorted() == ["a"])
    #expect(try await !test.isBlocked())
    #expect(try await test.reports().isEmpty)
    #expect(server.now.pullCount == 3)
    try await test.client.close()
  }

  @Test func `a server that demands a reset for ever ends the run of a client that has nothing`() async throws {
    let remote = ScriptedRemote()
    remote.answerAlways(
      pull: .answer(.signal("RESET_REQUIRED"), AnswerNotes(resetCause: AnswerNotes.historyCause)))
    let client = try await SyncClient.open(SyncConfiguration(tables: ResetTest.tables, remote: remote))
    #expect(await resetReason { try await client.sync() } == .demandedAgain)
    #expect(remote.pullRequests.count == 2)
    try await client.close()
  }

  // MARK: The application asks

  @Test func `the application may ask for a reset that nobody demands`() async throws {
    let test = try await ResetTest.open()
    test.server.put("a", ["id": "a"])
    try await test.client.sync()
    try await test.insert("own", ["x": 1], id: "m1")
    try await test.client.startClientReset(.discardUnsyncedChanges())
    #expect(try await test.rows().keys.sorted() == ["a"])
    let report = try #require(try await test.reports().last)
    #expect(report.demand.kind == .application && report.configuredMode == .discard)
    try await test.client.close()
  }

  // MARK: Writes meanwhile

  @Test func `a write that comes while the copy is pulled is recovered`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    let client = test.client
    test.server.change { state in
      state.pageRowCount = 1
      state.beforeFreshPull = { try? await client.apply(.insert, to: "notes", pk: "late", columns: ["x": 1]) }
    }
    try await test.client.sync()
    #expect(test.server.columns("late", in: "notes") == ["x": 1])
    #expect(try await test.columns("late", in: "notes") == ["x": 1])
    try await test.client.close()
  }

  @Test func `writers beside the switch lose nothing`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    let client = test.client
    let writer = Task {
      for number in 0..<200 {
        try await client.apply(.insert, to: "notes", pk: "w\(number)", columns: ["n": .int(Int64(number))])
      }
    }
    try await test.client.sync()
    try await writer.value
    try await test.client.sync()
    for number in 0..<200 { #expect(test.server.columns("w\(number)", in: "notes") != nil) }
    #expect(try await test.rows(in: "notes").count == 200)
    try await test.client.close()
  }

  @Test func `a writer that never pauses does not keep the switch from coming, and loses nothing`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    let client = test.client
    let writer = Task {
      var count = 0
      while !Task.isCancelled {
        do { try await client.apply(.insert, to: "notes", pk: "w\(count)", columns: ["n": 1]) } catch { break }
        count += 1
      }
      return count
    }
    test.server.change { $0.pageRowCount = 10_000 }
    try await test.client.startClientReset()
    writer.cancel()
    let count = await writer.value
    try await test.client.sync()
    #expect(try await test.rows(in: "notes").count == count)
    #expect(test.server.now.content.rows.keys.filter { $0.table == "notes" }.count == count)
    #expect(try await test.reports().count == 1)
    try await test.client.close()
  }

  // MARK: Reopening

  @Test func `a switched store opens as what it became, and goes on`() async throws {
    let directory = TemporaryDirectory()
    let server = SmallServer()
    let test = try await ResetTest.open(server: server, at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.client.sync()
    let rows = try await test.rows()
    try await test.client.close()
    let again = try await ResetTest.open(server: server, at: "\(directory.path)/store")
    #expect(try await again.rows() == rows)
    try await again.insert("e", ["x": 1])
    try await again.client.sync()
    #expect(server.columns("e") == ["x": 1])
    try await again.client.close()
  }
}
