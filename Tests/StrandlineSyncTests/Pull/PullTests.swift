import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct PullTests {
  @Test func `the request names the cursor, every table, and a limit only where one is set`() async throws {
    let tables = [
      "todos": TableConfiguration(), "news": TableConfiguration(bucket: .byColumn("team"), bucketValue: "a"),
    ]
    let test = try await TestClient.open(tables)
    test.remote.script(pulls: [.answer(.page("17~3.5"))])
    try await test.client.pullOnce()
    try await test.client.pullOnce()
    let id = try await test.client.inspect().clientID ?? ""
    let expected: Value = [
      "client_id": .string(id), "schema_version": 1, "cursor": "0",
      "buckets": [["table": "news", "params": ["team": "a"]], ["table": "todos", "params": [:]]],
    ]
    #expect(test.remote.pullRequests[0].json == expected)
    #expect(test.remote.pullRequests[1].cursor == "17~3.5")
    let limited = try await TestClient.open(tables) { $0.pageLimit = 50 }
    try await limited.client.pullOnce()
    #expect(limited.remote.pullRequests[0].limit == 50)
  }

  @Test func `nothing of a sequence shows before it closes, and then all at once`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [
      .answer(.page("0:1", more: true, ["p1": ["n": 1]])), .answer(.page("0:2", more: true, ["p2": ["n": 2]])),
      .answer(.page("3", ["p3": ["n": 3]], gone: ["p1"])),
    ])
    for _ in 1...2 {
      try await test.client.pullOnce()
      #expect(try await test.client.liveRows().isEmpty)
      #expect(try await test.client.checkpoint().cursor == "0")
      #expect(await test.eventNames().isEmpty)
    }
    #expect(try await test.client.stagedNames().map(\.pk).sorted() == ["p1", "p2"])
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().map(\.pk) == ["p2", "p3"])
    #expect(try await test.client.liveRows().map(\.seq) == ["0:2", "3"])
    #expect(try await test.shadows() == ["todos/p1"])
    #expect(try await test.client.checkpoint().cursor == "3")
    #expect(try await test.client.stagedNames().isEmpty)
    #expect(await test.eventNames() == ["LOCAL_CHANGED"])
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "0:1", "0:2"])
  }

  @Test func `many small pages and one large page end in the same state`() async throws {
    let rows: [[String: Value]] = (0..<6).map { ["n": .int(Int64($0))] }
    let small = try await TestClient.open()
    small.remote.script(
      pulls: (0..<6).map {
        .answer(.page("\($0 + 1)", more: $0 < 5, ["p\($0 % 4)": rows[$0]], gone: $0 == 3 ? ["p0"] : []))
      })
    try await small.client.sync()
    let large = try await TestClient.open()
    var page = PullAnswer(cursor: "6")
    page.rows = [("p1", 5, "6"), ("p2", 2, "3"), ("p3", 3, "4"), ("p0", 4, "5")].map {
      PullAnswer.RowEntry(table: "todos", pk: $0.0, row: rows[$0.1], seq: $0.2)
    }
    large.remote.script(pulls: [.answer(page)])
    try await large.client.sync()
    #expect(try await small.client.liveRows() == large.client.liveRows())
    #expect(small.remote.pullRequests.count == 6)
  }

  @Test func `a pulled row replaces the whole column map and clears a shadow`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1, "b": 2], table: "todos", pk: "p1", seq: "1")
    try await test.client.seedShadow(table: "todos", pk: "p2", seq: "2")
    test.remote.script(pulls: [.answer(.page("5", ["p1": ["a": 3], "p2": [:]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["a": 3])
    #expect(try await test.columns("p2") == [:])
    #expect(try await test.shadows().isEmpty)
  }

  @Test func `a row entry that is flagged as deleted is a tombstone, and rows of unknown tables are left out`()
    async throws
  {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1], table: "todos", pk: "p1", seq: "1")
    var page = PullAnswer.page("5")
    page.rows = [
      PullAnswer.RowEntry(table: "todos", pk: "p1", row: [:], seq: "5", isDeleted: true),
      PullAnswer.RowEntry(table: "strangers", pk: "p1", row: ["a": 1], seq: "4"),
    ]
    test.remote.script(pulls: [.answer(page)])
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().isEmpty)
    #expect(try await test.client.shadows().map(\.seq) == ["5"])
  }

  @Test func `a fault on a later page takes back what was staged, and the next pull begins at the durable cursor`()
    async throws
  {
    let test = try await TestClient.open()
    test.remote.script(pulls: [
      .answer(.page("0:1", more: true, ["p1": ["n": 1]])), .failure(ScriptedRemote.offline),
      .answer(.page("2", ["p2": ["n": 2]])),
    ])
    try await test.client.pullOnce()
    #expect(await code { try await test.client.pullOnce() } == .remote)
    #expect(try await test.client.stagedNames().isEmpty)
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "0:1", "0"])
    #expect(try await test.client.liveRows().map(\.pk) == ["p2"])
  }

  @Test func `a sync pulls page after page until one closes`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: (1...300).map { .answer(.page("0:\($0)", more: true)) })
    try await test.client.sync()
    #expect(test.remote.pullRequests.count == 301)
    #expect(test.remote.pullRequests.last?.cursor == "0:300")
  }

  @Test func `a staged page that does not decode stops the close and stays`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [.answer(.page("0:1", more: true, ["p1": ["n": 1]])), .answer(.page("2"))])
    try await test.client.pullOnce()
    var row = try await test.client.stateRows(of: "strandline.pages")[0]
    let whole = row
    row["body"] = ["rows": "none"]
    try await test.client.plant(row, in: "strandline.pages")
    #expect(await code { try await test.client.pullOnce() } == .json)
    #expect(try await test.client.checkpoint().cursor == "0")
    try await test.client.plant(whole, in: "strandline.pages")
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
  }

  @Test func `a page that no table can hold changes nothing`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [
      .answer(.page("0:1", more: true, ["p1": ["n": 1]])), .answer(.page("5", ["p2": ["\u{1}seq": "9"]])),
      .answer(.page("5", more: true, ["p2": ["": "9"]])), .answer(.page("5")),
    ])
    try await test.client.pullOnce()
    for _ in 1...2 { #expect(await code { try await test.client.pullOnce() } == .json) }
    #expect(try await test.client.stagedNames().map(\.pk) == ["p1"])
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
  }

  @Test func `a large page is staged in parts`() async throws {
    let test = try await TestClient.open()
    let text = Value.string(String(repeating: "x", count: 700_000))
    let rows = Dictionary(uniqueKeysWithValues: (0..<9).map { ("p\($0)", ["text": text] as [String: Value]) })
    test.remote.script(pulls: [.answer(.page("0:1", more: true, rows, gone: ["p3"])), .answer(.page("2"))])
    try await test.client.pullOnce()
    #expect(try await test.client.stateRows(of: "strandline.pages").count == 4)
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().count == 8)
  }

  // MARK: Overlay

  @Test func `a pending write of another column stays over a pulled row`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1, "n": 1], table: "todos", pk: "p1", seq: "1")
    try await test.update("p1", ["b": 2], transforms: ["n": ["op": "increment", "by": 1]])
    test.remote.script(pulls: [.answer(.page("2", ["p1": ["a": 9, "n": 5]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["a": 9, "b": 2, "n": 6])
  }

  @Test(arguments: [1, 40])
  func `pending writes find their rows, whether the page or the queue is longer`(rowCount: Int) async throws {
    let test = try await TestClient.open()
    for number in 1...10 { try await test.insert("q\(number)") }
    for _ in 1...3 { try await test.update("p1", transforms: ["n": ["op": "increment", "by": 1]]) }
    try await test.delete("q2")
    var rows: [String: [String: Value]] = ["p1": ["n": 10]]
    for number in 2...40 where number <= rowCount { rows["p\(number)"] = ["n": 0] }
    test.remote.script(pulls: [.answer(.page("2", rows))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["n": 13])
    #expect(try await test.client.liveRows().count == rowCount + 9)
    #expect(try await test.client.outboxDepth() == 14)
  }

  @Test func `a pending increment is not laid twice when its row is not pulled`() async throws {
    let test = try await TestClient.open()
    try await test.update("p1", transforms: ["n": ["op": "increment", "by": 1]])
    test.remote.script(pulls: [.answer(.page("2", ["p2": [:]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["n": 1])
  }

  @Test func `a pulled tombstone is not undone by a pending update, which stays queued`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1], table: "todos", pk: "p1", seq: "1")
    try await test.update("p1", ["b": 2], id: "m1")
    test.remote.script(pulls: [.answer(.page("2", gone: ["p1"]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == nil)
    #expect(try await test.client.outboxDepth() == 1)
    test.remote.script(pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .deleteWins, serverRow: nil)]))])
    try await test.client.pushOnce()
    #expect(try await test.shadows() == ["todos/p1"])
  }

  @Test func `a pending delete is laid over a newer row`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1], table: "todos", pk: "p1", seq: "1")
    try await test.delete("p1")
    test.remote.script(pulls: [.answer(.page("2", ["p1": ["a": 2]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == nil)
    #expect(try await test.shadows() == ["todos/p1"])
    #expect(await test.eventNames().filter { $0 == "QUEUE_DEPTH" }.count == 1)
  }

  @Test func `an own insert that is applied and then pulled is the pulled row`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p2", ["a": 1])
    try await test.client.pushOnce()
    test.remote.script(pulls: [.answer(.page("2", ["p2": ["a": 2]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p2") == ["a": 2])
    #expect(try await test.client.checkpoint().cursor == "2")
  }

  // MARK: Signals

  @Test func `an expired checkpoint begins anew, and the new snapshot replaces the old`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1], table: "todos", pk: "gone", seq: "1")
    try await test.client.seedCheckpoint("9")
    try await test.insert("mine", ["a": 2], id: "m1")
    try await test.update("gone", ["b": 1], id: "m2")
    test.remote.script(
      pulls: [
        .answer(.signal("CHECKPOINT_EXPIRED", cursor: "9")), .answer(.page("0:10", more: true, ["p1": ["a": 3]])),
        .answer(.page("12")), .answer(.page("12")),
      ],
      pushes: [.failure(ScriptedRemote.offline)])
    try await test.client.pullOnce()
    #expect(try await test.client.checkpoint() == Checkpoint(cursor: "9", softBlockReason: nil))
    #expect(await test.eventNames().last == "CHECKPOINT_EXPIRED")
    #expect(await code { try await test.client.pushOnce() } == .remote)
    try await test.client.pullOnce()
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["9", "0", "0:10"])
    // A queued insert survives the new snapshot, and so does a queued update of a row that it lacks.
    #expect(try await test.client.liveRows().map(\.pk) == ["gone", "mine", "p1"])
    #expect(try await test.columns("gone") == ["b": 1])
    #expect(try await test.shadows().isEmpty)
    #expect(try await test.client.outboxDepth() == 2)
    // The next pull is an ordinary one.
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().count == 3)
  }

  @Test func `a sync goes on with the new snapshot by itself`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1], table: "todos", pk: "gone", seq: "1")
    test.remote.script(pulls: [.answer(.signal("CHECKPOINT_EXPIRED")), .answer(.page("12", ["p1": [:]]))])
    try await test.client.sync()
    #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
  }

  @Test func `a restart stays armed through faults until its closing page`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["a": 1], table: "todos", pk: "gone", seq: "1")
    try await test.client.seedCheckpoint("9")
    test.remote.script(pulls: [
      .answer(.signal("CHECKPOINT_EXPIRED", cursor: "9")), .failure(ScriptedRemote.offline),
      .answer(.page("0:3", more: true, ["p1": [:]])), .failure(ScriptedRemote.offline),
      .answer(.page("12", ["p2": [:]])),
    ])
    for expected in [nil, SyncErrorCode.remote, nil, .remote, nil] {
      #expect(await code { try await test.client.pullOnce() } == expected)
    }
    #expect(test.remote.pullRequests.map(\.cursor) == ["9", "0", "0", "0:3", "0"])
    #expect(try await test.client.liveRows().map(\.pk) == ["p2"])
  }

  @Test func `RESET_REQUIRED blocks, tells once, and makes no further requests`() async throws {
    for isPush in [true, false] {
      let test = try await TestClient.open()
      try await test.insert("p1", id: "m1")
      if isPush {
        test.remote.script(pushes: [.answer(PushAnswer(signal: .resetRequired))])
        try await test.client.pushOnce()
      } else {
        test.remote.script(pulls: [.answer(.page("0:1", more: true)), .answer(.signal("RESET_REQUIRED"))])
        try await test.client.pullOnce()
        try await test.client.pullOnce()
      }
      let count = test.remote.requestCount
      try await test.client.pushOnce()
      try await test.client.pullOnce()
      try await test.client.sync()
      #expect(test.remote.requestCount == count)
      #expect(try await test.client.outboxDepth() == 1)
      #expect(try await test.client.checkpoint() == Checkpoint(cursor: "0", softBlockReason: .resetRequired))
      #expect(await test.events().filter { $0 == .resetRequired(.resetRequired) }.count == 1)
      // Reads and writes go on.
      try await test.insert("p2")
      #expect(try await test.client.outboxDepth() == 2)
    }
  }

  @Test func `an unknown signal changes nothing`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [
      .answer(.page("0:1", more: true, ["p1": [:]])), .answer(.signal("UPGRADE_REQUIRED")), .answer(.page("2")),
    ])
    try await test.client.pullOnce()
    #expect(await code { try await test.client.pullOnce() } == .unknownSignal)
    try await test.client.pullOnce()
    #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
  }

  // MARK: History

  @Test func `an answer of another history is thrown away whole and blocks`() async throws {
    let one = "0123456789abcdef0123456789abcdef;3;00000000000000aa"
    let other = "fedcba9876543210fedcba9876543210;9;00000000000000aa"
    let test = try await TestClient.open()
    test.remote.script(pulls: [
      .answer(.page("3", ["p1": [:]]), AnswerNotes(history: one)),
      .answer(.page("9", ["p2": [:]]), AnswerNotes(history: other)),
    ])
    try await test.client.pullOnce()
    try await test.insert("q", id: "m1")
    try await test.client.pushOnce()
    try await test.client.pullOnce()
    #expect(test.remote.contexts.map(\.history) == [nil, one, one])
    #expect(try await test.client.liveRows().map(\.pk) == ["p1", "q"])
    #expect(try await test.client.checkpoint() == Checkpoint(cursor: "3", softBlockReason: .resetRequired))
    // An automatic mode does something about it with the next sync.
    #expect(await !test.events().contains(.resetRequired(.resetRequired)))
    try await test.client.reset()
    try await test.client.pullOnce()
    #expect(test.remote.contexts.last?.history == nil)
  }

  @Test func `a refusal or a push of another history is thrown away too, and what is no anchor is none`() async throws {
    let one = "0123456789abcdef0123456789abcdef;3;00000000000000aa"
    let other = "fedcba9876543210fedcba9876543210;9;00000000000000aa"
    for isRefusal in [true, false] {
      let test = try await TestClient.open()
      test.remote.script(pulls: [
        .answer(.page("3"), AnswerNotes(history: one)), .answer(.page("4"), AnswerNotes(history: "nonsense")),
      ])
      try await test.client.pullOnce()
      try await test.client.pullOnce()
      #expect(try await test.client.checkpoint().cursor == "4")
      try await test.insert("p1", id: "m1")
      let notes = AnswerNotes(history: other)
      test.remote.script(pushes: [
        isRefusal
          ? .failure(RemoteFailure(.refused(ErrorAnswer(code: nil, message: ""), status: 500), notes: notes))
          : .answer(PushAnswer(verdicts: [.applied("m1")]), notes)
      ])
      try await test.client.pushOnce()
      #expect(try await test.client.outboxDepth() == 1)
      #expect(try await test.client.checkpoint().isSoftBlocked)
    }
  }
}
