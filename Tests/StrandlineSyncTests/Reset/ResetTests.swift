import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ResetTests {
  static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(conflictMode: .hlc), "mine": TableConfiguration(bucket: .byOwner("owner")),
    "teams": TableConfiguration(bucket: .byColumn("team")),
  ]

  /// A client with something in every table of its own.
  static func full(at path: String? = nil, _ change: (inout SyncConfiguration) -> Void = { _ in }) async throws
    -> TestClient
  {
    let test = try await TestClient.open(tables, at: path, change: change)
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setBucket(["team": "a"])
    try await test.client.seedRow(["a": 1], table: "todos", pk: "seed", seq: "1")
    try await test.insert("p1", ["a": 1], id: "m1")
    try await test.insert("p2", ["a": 1], id: "m2")
    test.remote.script(
      pulls: [
        .answer(
          .page(
            "5", ["p3": [:]], gone: ["p4"],
            conflicts: [
              PullAnswer.Conflict(
                table: "todos", pk: "p3", column: "a", loserValue: 1, winnerMutationID: "w", conflictMode: "hlc",
                winnerSeq: nil)
            ]), AnswerNotes(history: "0123456789abcdef0123456789abcdef;5;00000000000000aa")),
        .answer(.page("5:6", more: true, ["p5": [:]])),
      ],
      pushes: [
        .answer(PushAnswer(verdicts: [.applied("m1"), .rejected("m2", .constraint, serverRow: nil)]))
      ])
    try await test.client.pushOnce()
    try await test.client.pullOnce()
    try await test.client.pullOnce()
    try await test.client.write { tx in for n in 6...7 { try tx.insert([:], into: "todos", pk: "p\(n)") } }
    test.remote.script(pushes: [.failure(.refused(.batchTooLarge))])
    test.remote.answerAlways(pull: .failure(ScriptedRemote.offline))
    #expect(await code { try await test.client.sync() } == .remote)
    test.remote.script(pulls: [.answer(.page("5:6", more: true, ["p5": [:]]))])
    try await test.client.pullOnce()
    try await test.insert("queued", ["a": 1], id: "m3")
    try await test.insert("queued", [:], id: "m4", in: "mine")
    for (reference, file) in [("r1", "/files/a"), ("r2", "/files/b"), ("r3", "/files/a")] {
      try await test.client.plant(
        ["reference": .string(reference), "local_path": .string(file), "state": "synced"], in: StateTable.attachments)
    }
    try await test.client.plant(["reference": "r4", "state": "queued"], in: StateTable.attachments)
    try await test.client.plant(["table": "todos", "pk": "p1"], in: StateTable.confirmations)
    try await test.client.plant(["number": 1, "report": "of a version that is gone"], in: StateTable.resets)
    return test
  }

  static let stateTables = StateTable.schemas.map(\.name)

  static func state(_ client: SyncClient) async throws -> [String: [Row]] {
    var state: [String: [Row]] = [:]
    for table in stateTables { state[table] = try await client.stateRows(of: table) }
    for row in try await client.liveRows() { state[row.table, default: []].append(Row(row.columns)) }
    return state
  }

  static func meta(_ client: SyncClient) async throws -> [String: Value] {
    var meta: [String: Value] = [:]
    for row in try await client.stateRows(of: StateTable.meta) {
      if case .string(let key)? = row["key"] { meta[key] = row["value"] }
    }
    return meta
  }

  @Test func `a reset leaves exactly what the matrix says`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await Self.full(at: path)
    for table in Self.stateTables {
      #expect(try await !test.client.stateRows(of: table).isEmpty, "\(table) has to hold something for this test")
    }
    let before = try await Self.meta(test.client)
    let events = await test.eventNames().count
    let report = try await test.client.reset(keepCopy: false)
    #expect(report.attachmentPaths == ["/files/a", "/files/b"])
    #expect(report.droppedMutations == ["todos": 1, "mine": 1])
    #expect(report.reason == nil && report.keptCopy == nil && report.epochAfter == report.epochBefore + 1)
    let client = test.client
    func check(_ client: SyncClient) async throws {
      for table in Self.stateTables where table != StateTable.meta {
        #expect(try await client.stateRows(of: table).isEmpty, "\(table)")
      }
      #expect(try await client.liveRows().isEmpty)
      let meta = try await Self.meta(client)
      #expect(Set(meta.keys) == ["cursor", "client_id", "incarnation", "origin_hlc"])
      #expect(meta["cursor"] == "0" && meta["origin_hlc"] == before["origin_hlc"])
      #expect(meta["client_id"] != before["client_id"] && meta["incarnation"] == before["incarnation"])
      let seen = try await client.inspect()
      #expect(seen.depth == 0 && seen.lastMutationID == nil && seen.cursor == "0")
    }
    try await check(client)
    #expect(await test.eventNames().count == events + 1)
    #expect(await test.eventNames().last == "LOCAL_CHANGED")
    let id = try await client.inspect().clientID
    try await client.close()
    let again = try await TestClient.open(Self.tables, at: path) {
      $0.clientID = "00000000-0000-4000-8000-00000000ffff"
    }
    try await check(again.client)
    #expect(try await again.client.inspect().clientID == id)
    try await again.client.close()
  }

  @Test func `behind a reset token, columns' buckets and listeners go on, and the token names the owner`() async throws
  {
    let test = try await Self.full()
    try await test.client.reset()
    try await test.insert("early", [:], id: "e1", in: "mine")
    #expect(try await test.columns("early", in: "mine") == [:])
    test.remote.answerAlways(pull: .answer(.page("1")))
    try await test.client.sync()
    let request = try #require(test.remote.pullRequests.last)
    #expect(request.cursor == "0")
    #expect(request.buckets.map(\.params) == [["owner": "u1"], ["team": "a"], [:]])
    #expect(test.remote.contexts.last?.accessToken == token("u1"))
    try await test.insert("late", [:], in: "mine")
    #expect(try await test.columns("late", in: "mine") == ["owner": "u1"])
    #expect(await test.eventNames().last == "QUEUE_DEPTH")
  }

  @Test func `a reset lifts a block of either reason, and the user at hand becomes the owner`() async throws {
    let test = try await TestClient.open(["todos": TableConfiguration(bucket: .byOwner("owner"))])
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setAccessToken(token("u2"))
    #expect(try await test.client.reset(keepCopy: false).reason == .identityChanged)
    #expect(try await test.client.checkpoint() == Checkpoint(cursor: "0", softBlockReason: nil))
    try await test.client.sync()
    #expect(test.remote.pullRequests.map { $0.buckets.map(\.params) } == [[["owner": "u2"]]])
    test.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
    try await test.client.sync()
    #expect(try await test.client.checkpoint().softBlockReason == .resetRequired)
    #expect(try await test.client.reset(keepCopy: false).reason == .resetRequired)
    try await test.client.sync()
    #expect(try await test.client.checkpoint().softBlockReason == nil)
  }

  @Test func `a reset of an empty store, and another one, are resets too`() async throws {
    let test = try await TestClient.open()
    let ids = try await [
      test.client.inspect().clientID,
      { () async throws -> String? in
        #expect(try await test.client.reset().isEmpty)
        return try await test.client.inspect().clientID
      }(),
      { () async throws -> String? in
        try await test.client.reset()
        return try await test.client.inspect().clientID
      }(),
    ]
    #expect(Set(ids).count == 3)
    #expect(await test.eventNames() == ["LOCAL_CHANGED", "LOCAL_CHANGED"])
  }

  @Test func `a reset waits for a sync, and nothing of it remains`() async throws {
    let test = try await TestClient.open()
    let door = Door()
    test.remote.script(pulls: [.held(door, .page("5", ["p1": [:]]))])
    async let synced: Void = test.client.sync()
    await door.reached()
    async let reset = test.client.reset()
    try await test.insert("local")
    door.open()
    try await synced
    _ = try await reset
    #expect(try await test.client.liveRows().isEmpty)
    #expect(try await test.client.checkpoint().cursor == "0")
    #expect(try await test.client.outboxDepth() == 0)
  }

  @Test func `a reset ends the count of refusals`() async throws {
    let test = try await TestClient.open()
    let refusals = Array(repeating: ScriptedRemote.PushStep.failure(.refused(.raised)), count: 4)
    for _ in 1...2 {
      try await test.insert("p1", id: "m1")
      test.remote.script(pushes: refusals)
      for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
      try await test.client.reset()
    }
    #expect(try await test.client.deadLetters().isEmpty)
    #expect(try await test.client.rejections().isEmpty)
  }

  @Test func `a kept copy is the state before the reset`() async throws {
    let directory = TemporaryDirectory()
    let test = try await Self.full(at: "\(directory.path)/store")
    let rows = try await test.client.liveRows()
    let report = try await test.client.reset(keepCopy: true)
    let kept = try #require(try await test.client.keptCopies().last)
    #expect(kept.path == report.keptCopy)
    try await test.client.close()
    try await kept.backup(to: "\(directory.path)/again")
    let copy = try await TestClient.open(Self.tables, at: "\(directory.path)/again")
    #expect(try await copy.client.liveRows() == rows)
    #expect(try await copy.client.outboxDepth() == 2)
    try await copy.client.close()
  }

  @Test func `what lives on behind a reset does so also where the tables' definitions are too large to go along`()
    async throws
  {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await TestClient.open(Self.tables, at: path)
    let names = (0..<2000).map { "a column with a name of some length, number \($0)" }
    try await test.insert("p1", Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
    try await test.client.reset()
    let id = try await test.client.inspect().clientID
    let stamp = try await Self.meta(test.client)["origin_hlc"]
    try await test.client.close()
    let again = try await TestClient.open(Self.tables, at: path)
    #expect(try await again.client.inspect().clientID == id)
    #expect(try await Self.meta(again.client)["origin_hlc"] == stamp && stamp != nil)
    try await again.insert("p1", ["a": 1])
    #expect(try await again.columns("p1") == ["a": 1])
    #expect(try await again.client.liveRows().count == 1)
    try await again.client.close()
  }

  @Test func `reset is refused once the client is closed`() async throws {
    let test = try await TestClient.open()
    try await test.client.close()
    #expect(await code { try await test.client.reset() } == .engineUnavailable)
  }
}
