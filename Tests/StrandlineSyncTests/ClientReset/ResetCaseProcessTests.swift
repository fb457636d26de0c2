@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Processes, interruptions, and the guard against loops. Numbers are those of Docs/ClientReset.md, "Cases".
struct ResetCaseProcessTests {
  private static func titles(_ rows: [Row]) -> String {
    rows.compactMap { if case .string(let title)? = $0["title"] { title } else { nil } }.sorted()
      .joined(separator: ",")
  }

  private static let modes = ["discard", "recover", "recover-or-discard"]

  @Test func `case 230: two resets in a row both succeed`() async throws {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode("discard"))
    try await test.loseHistory()
    try await test.client.sync()
    test.server.restore()
    try await test.client.sync()
    #expect(calls.before == 2 && calls.after == 2)
    #expect(try await test.reports().count == 2)
    try await test.client.close()
  }

  @Test func `case 233: a process that ends while the copy is pulled leaves the reset to the next one`() async throws {
    let directory = TemporaryDirectory()
    let (calls, server, door) = (CallCounts(), SmallServer(), Door())
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(try calls.mode("discard"), server: server, at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    server.change { $0.freshAnswers = [.held(door, PullAnswer(cursor: "0+1", hasMore: true))] }
    let client = test.client
    let run = Task { try await client.sync() }
    await door.reached()
    let closing = Task { await client.dispose() }
    door.open()
    await closing.value
    await #expect(throws: (any Error).self) { try await run.value }
    #expect(calls.before == 0)
    let again = try await ResetTest.open(try calls.mode("discard"), server: server, at: path)
    try await again.client.sync()
    #expect(try await again.columns("a")?["title"] == "restored")
    #expect(calls.before == 1 && calls.after == 1)
    try await again.client.close()
  }

  enum Obstacle: String, CaseIterable, Sendable {
    case garbage, directory
  }

  @Test(arguments: Obstacle.allCases)
  func `cases 235, 236, 272, 280: what lies where the copy is to be never ends in a manual error, and goes`(
    _ obstacle: Obstacle
  ) async throws {
    let directory = TemporaryDirectory()
    let (calls, server) = (CallCounts(), SmallServer())
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(try calls.mode("recover"), server: server, at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    server.change { $0.freshAnswers = [.failure(ScriptedRemote.offline)] }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    let staging = try #require(try test.client.store.stagingNames().first)
    try await test.client.close()
    DirectoryProbe.remove("\(path)/\(staging)")
    switch obstacle {
    case .garbage: DirectoryProbe.write([1, 2, 3], to: "\(path)/\(staging)")
    case .directory:
      DirectoryProbe.makeDirectory("\(path)/\(staging)")
      DirectoryProbe.write([1, 2, 3], to: "\(path)/\(staging)/something")
    }
    let again = try await ResetTest.open(try calls.mode("recover"), server: server, at: path)
    // A disk that refuses is tried again by the next run.
    do { try await again.client.sync() } catch let error as SyncError { #expect(error.resetInfo == nil) }
    try await again.client.sync()
    #expect(try await again.columns("a")?["title"] == "mine")
    #expect(server.columns("a")?["title"] == "mine")
    #expect(again.errors.reset.isEmpty)
    #expect(!(await again.eventNames()).contains("RESET_REQUIRED"))
    #expect(calls.before == 1 && calls.after == 1)
    #expect(try again.client.store.stagingNames().isEmpty)
    try await again.client.close()
  }

  @Test func `case 238: a large copy goes on where it was, not from the start`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.content = .init() }
    for number in 0..<100 {
      test.server.put("r\(number)", ["text": .string(String(repeating: "x", count: 10_000))])
    }
    test.server.change { $0.pageRowCount = 10 }
    try await test.insert("own", ["x": 1])
    let server = test.server
    let first = server.now.freshPullCount
    test.server.change { state in
      state.beforeFreshPull = {
        if server.now.freshPullCount == first + 6 { server.change { $0.isOffline = true } }
      }
    }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    test.server.change {
      $0.isOffline = false
      $0.beforeFreshPull = nil
    }
    try await test.client.sync()
    #expect(try await test.rows().count == 101)
    // Ten pages, and none twice: the request in between did not come through.
    #expect(server.now.freshPullCount - first == 10)
    #expect(try await test.reports().last?.pages == 10)
    try await test.client.close()
  }

  @Test func `case 239: a reset behind one that was acknowledged is no cycle`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    for round in 1...3 {
      try await test.insert("own\(round)", ["x": 1])
      try await test.client.sync()
      #expect(try test.client.read { try $0.resetRecord() } == nil, "round \(round)")
      test.server.restore()
    }
    try await test.client.sync()
    #expect(try await test.rows().keys.filter { $0.hasPrefix("own") }.count == 3)
    #expect(test.errors.all.isEmpty)
    try await test.client.close()
  }

  @Test func `case 241: a failed reset leaves its record`() async throws {
    let test = try await ResetTest.open(.discardUnsyncedChanges())
    try await test.loseHistory()
    test.server.change { $0.unknownTables = ["todos"] }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    let record = try #require(try test.client.read { try $0.resetRecord() })
    #expect(record.phase == .failed && record.failure?.running == .discard && record.failure?.isCounted == true)
    try await test.client.close()
  }

  @Test(arguments: [(242, "discard"), (244, "recover"), (245, "recover-or-discard")])
  func `cases 242, 244, 245: a discard that failed before is not tried again, in no mode`(_ number: Int, _ word: String)
    async throws
  {
    let directory = TemporaryDirectory()
    let (calls, server) = (CallCounts(), SmallServer())
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(.discardUnsyncedChanges(), server: server, at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    server.change { $0.unknownTables = ["todos"] }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    try await test.client.close()
    server.change { $0.unknownTables = [] }
    let again = try await ResetTest.open(try calls.mode(word), server: server, at: path)
    let count = server.now.freshPullCount
    #expect(await resetReason { try await again.client.sync() } == .loopDetected, "case \(number)")
    #expect(server.now.freshPullCount == count && calls.before == 0)
    #expect(try await again.columns("a")?["title"] == "mine")
    await again.settle()
    #expect(again.errors.reset.count == 1)
    try await again.client.close()
  }

  @Test func `case 247: a recovery that failed before does not keep a discard from going`() async throws {
    let directory = TemporaryDirectory()
    let (calls, server) = (CallCounts(), SmallServer())
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(server: server, at: path)
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    try await test.spoilQueue()
    #expect(await resetReason { try await test.client.sync() } == .recoveryImpossible)
    try await test.client.close()
    let again = try await ResetTest.open(try calls.mode("discard"), server: server, at: path)
    try await again.client.sync()
    #expect(try await again.rows().keys.sorted() == ["a", "c"])
    #expect(calls.before == 1 && calls.after == 1 && again.errors.all.isEmpty)
    try await again.client.close()
  }

  @Test func `case 248: the record of another version counts as none`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.unknownTables = ["todos"] }
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    test.server.change { $0.unknownTables = [] }
    try await test.client.commit(.resetPhase) { state in
      var record = try #require(try state.resetRecord())
      record.digest = "of another engine"
      try state.set(record)
    }
    test.client.withMemory { $0.hasResetFailed = false }
    try await test.client.sync()
    #expect(try await test.reports().count == 1)
    try await test.client.close()
  }

  @Test func `case 250: a record holds what runs, and no other word`() throws {
    #expect(
      ResetRecord.Running(rawValue: "discard") == .discard && ResetRecord.Running(rawValue: "recover") == .recover)
    for word in ["manual", "recover-or-discard", "", "Recover"] { #expect(ResetRecord.Running(rawValue: word) == nil) }
  }

  @Test(arguments: ["recover", "recover-or-discard"])
  func `case 250: recover-or-discard is recorded as what it runs as`(_ word: String) async throws {
    let seen = Lock<[ResetRecord?]>([])
    let box = Lock<SyncClient?>(nil)
    let mode = try ClientResetMode(
      try #require(ClientResetMode.Name(rawValue: word)),
      before: { _ in
        let record = try box.withLock { $0 }?.read { try $0.resetRecord() }
        seen.withLock { $0.append(record) }
      })
    let test = try await ResetTest.open(mode)
    box.withLock { $0 = test.client }
    try await test.loseHistory()
    try await test.client.sync()
    #expect(seen.withLock { $0 }.map { $0?.running } == [.recover])
    box.withLock { $0 = nil }
    try await test.client.close()
  }

  @Test func `case 251: demands are stored by their kinds, and one that is unknown counts as none`() throws {
    let demand = ClientResetDemand(
      kind: .gate, message: "m", anchor: nil, serverHistory: "h", schemaVersion: 3, isRecoveryForbidden: true,
      isAccepted: false, at: 5, launch: "l")
    for kind in [ClientResetDemand.Kind.history, .gate, .application] {
      var stored = demand
      stored.kind = kind
      let text = try StoredJSON.encode(stored)
      #expect(StoredJSON.decode(ClientResetDemand.self, text) == stored)
      let unknown = text.replacing("\"\(kind.rawValue)\"", with: "\"migrateSchema\"")
      #expect(StoredJSON.decode(ClientResetDemand.self, unknown) == nil)
    }
  }

  @Test func `cases 253, 254: forbidden recovery ends in a manual error with token and path, before any download`()
    async throws
  {
    let directory = TemporaryDirectory()
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode("recover"), at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    test.server.change { $0.isRecoveryForbidden = true }
    let count = test.server.now.freshPullCount
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.code == .clientResetError && error?.resetInfo?.reason == .recoveryForbidden)
    #expect(error?.resetInfo?.token != nil)
    #expect(error?.resetInfo?.keptCopyPath?.hasPrefix("\(directory.path)/store/kept-") == true)
    #expect(error?.resetInfo?.keptCopyPath.map { DirectoryProbe.exists($0) } == false)
    #expect(test.server.now.freshPullCount == count && calls.before == 0 && calls.after == 0)
    // No marker, and everything as it was.
    #expect(try test.client.read { try $0.resetRecord()?.phase } == .failed)
    #expect(try test.client.store.stagingNames().isEmpty)
    #expect(try await test.columns("a")?["title"] == "mine")
    #expect(try await test.depth() == 1)
    try await test.client.close()
  }

  @Test func `case 256: where recovery is forbidden, recover-or-discard discards, with one call of each callback`()
    async throws
  {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode("recover-or-discard"))
    test.server.put("always", ["x": 1], in: "notes")
    try await test.client.sync()
    try await test.insert("john", ["name": "John"])
    test.server.restore()
    test.server.put("paul", ["name": "Paul"])
    test.server.change { $0.isRecoveryForbidden = true }
    try await test.client.sync()
    #expect(try await test.rows() == ["paul": ["name": "Paul"]])
    #expect(calls.before == 1 && calls.after == 1)
    #expect(try await test.reports().last?.didRecover == false)
    try await test.client.close()
  }

  @Test(arguments: modes)
  func `cases 13, 257: history lost in the middle of the first pull: what waits gets the new state, with no callback`(
    _ word: String
  ) async throws {
    let (calls, server) = (CallCounts(), SmallServer())
    for number in 0..<5 { server.put("old\(number)", ["v": 1]) }
    server.change { $0.pageRowCount = 2 }
    let test = try await ResetTest.open(try calls.mode(word), server: server)
    try await test.client.pullOnce()
    server.restore(SmallServer.Content())
    for number in 0..<7 { server.put("new\(number)", ["v": 2]) }
    let client = test.client
    let wait = Task { try await client.session.waitForDownload() }
    while client.withMemory({ $0.session.waits.waits.isEmpty }) { await Task.yield() }
    // Pages of two histories are never put together: the next run begins anew.
    let error = await #expect(throws: SyncError.self) { try await client.sync() }
    #expect(error?.isTransient == true && error?.resetInfo == nil)
    #expect(try await test.rows().isEmpty)
    try await client.sync()
    try await wait.value
    #expect(try await test.rows().keys.sorted() == (0..<7).map { "new\($0)" })
    #expect(calls.before == 0 && calls.after == 0)
    try await test.client.close()
  }

  @Test func `case 259: what is carried goes out under the fresh copy's identity and place`() async throws {
    let box = Lock<(id: String?, anchor: String?)>((nil, nil))
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(after: { _, client, _ in
        try client.read { view in
          let seen = (try view.metaText(.clientID), try view.metaText(.historyAnchor))
          box.withLock { $0 = seen }
        }
      }))
    try await test.loseHistory()
    for number in 0..<123 { test.server.put("s\(number)", ["v": 1]) }
    let anchor = "\(test.server.now.history);\(test.server.now.content.number);0000000000000000"
    for number in 0..<5 { try await test.insert("own\(number)", ["v": 1], id: "m\(number)") }
    try await test.client.sync()
    let seen = box.withLock { $0 }
    #expect(seen.anchor == anchor)
    #expect(seen.id == test.server.now.clientIDs.last)
    let report = try #require(try await test.reports().last)
    #expect(report.newClientID == seen.id && report.newAnchor == anchor && report.outboxDepth == 5)
    #expect(test.server.now.pushedIDs == (0..<5).map { "m\($0)" })
    try await test.client.close()
  }

  @Test func `case 260: inserts of rows that the server has stay queued, as updates`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    for number in 0..<5 { try await test.insert("\(number)", ["v": 1]) }
    for number in 0..<3 { test.server.put("\(number)", ["w": 2]) }
    try await test.client.sync()
    let entries = try #require(try await test.reports().last).entries
    #expect(entries.pending == 5 && entries.kept == 5 && entries.merged == 3)
    #expect(try await test.reports().last?.outboxDepth == 5)
    for number in 0..<3 { #expect(test.server.columns("\(number)") == ["v": 1, "w": 2]) }
    for number in 3..<5 { #expect(test.server.columns("\(number)") == ["v": 1]) }
    try await test.client.close()
  }

  @available(*, deprecated, message: "tests the deprecated name")
  @Test func `case 262: the former name's callbacks are called as the new one's`() async throws {
    let counts = Lock((0, 0))
    let test = try await ResetTest.open(
      .discardLocal(
        before: { _ in counts.withLock { $0.0 += 1 } }, after: { _, _, _ in counts.withLock { $0.1 += 1 } }))
    try await test.loseHistory()
    try await test.client.sync()
    #expect(counts.withLock { $0 } == (1, 1))
    #expect(try await test.reports().last?.configuredMode == .discard)
    try await test.client.close()
  }

  @Test func `case 263: before and the first view of after have the local rows, the client those of the server`()
    async throws
  {
    let notes = Lock<[String]>([])
    let test = try await ResetTest.open(
      .discardUnsyncedChanges(
        before: { view in
          let text = Self.titles(try view.query("todos", QueryPlan()).rows)
          notes.withLock { $0.append("before \(text)") }
        },
        after: { view, client, _ in
          let replaced = Self.titles(try view.query("todos", QueryPlan()).rows)
          let live = Self.titles(try await client.query("todos", QueryPlan()).rows)
          notes.withLock { $0.append("after \(replaced) \(live)") }
        }))
    try await test.loseHistory()
    try await test.insert("own", ["title": "own"])
    try await test.client.sync()
    #expect(notes.withLock { $0 } == ["before a,b,own", "after a,b,own c,restored"])
    try await test.client.close()
  }

  @Test func `case 265: who waits for the download of a discarding client gets the server's state`() async throws {
    let directory = TemporaryDirectory()
    let server = SmallServer()
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(.discardUnsyncedChanges(), server: server, at: path)
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    try await test.client.close()
    let again = try await ResetTest.open(.discardUnsyncedChanges(), server: server, at: path)
    let client = again.client
    let wait = Task { try await client.session.waitForDownload() }
    while client.withMemory({ $0.session.waits.waits.isEmpty }) { await Task.yield() }
    try await client.sync()
    try await wait.value
    #expect(try await again.rows().keys.sorted() == ["a", "c"])
    try await client.close()
  }

  @Test func `case 266: a reset that arrives with a schema update is run under the new version, with its callbacks`()
    async throws
  {
    let directory = TemporaryDirectory()
    let (calls, server) = (CallCounts(), SmallServer())
    let path = "\(directory.path)/store"
    let test = try await ResetTest.open(try calls.mode("recover"), server: server, at: path)
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    server.change { $0.schemaVersionMin = 2 }
    try await test.client.sync()
    #expect(try await test.isBlocked())
    try await test.client.close()
    #expect(calls.before == 0)
    let updated = try await ResetTest.open(try calls.mode("recover"), server: server, at: path) {
      $0.schemaVersion = 2
    }
    try await updated.client.sync()
    #expect(try await updated.rows().keys.sorted() == ["a", "c", "own"])
    #expect(server.columns("own") == ["x": 1])
    #expect(calls.before == 1 && calls.after == 1)
    try await updated.client.close()
  }

  @Test func `case 269: another demand behind a switch that is not acknowledged is run`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.insert("own", ["x": 1])
    // The switch comes, and no answer to what it carried.
    let server = test.server
    server.change { state in state.losesPushAnswers = 1 }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(try test.client.read { try $0.resetRecord()?.phase } == .switched)
    server.restore()
    try await test.client.sync()
    #expect(try await test.reports().count == 2)
    #expect(try await test.rows().keys.sorted() == ["a", "c", "own"])
    #expect(server.columns("own") == ["x": 1])
    #expect(try test.client.read { try $0.resetRecord() } == nil)
    try await test.client.close()
  }
}
