import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

/// Answers about other rows than they say.
struct PageGuardTests {
  private static let tables = [
    "todos": TableConfiguration(), "lines": TableConfiguration(key: ["list", "item"]),
  ]

  private static func page(_ table: String, _ pk: String, _ row: [String: Value]) -> PullAnswer {
    PullAnswer(cursor: "5", rows: [.init(table: table, pk: pk, row: row, seq: "5")])
  }

  @Test(arguments: [
    page("todos", "a", ["id": "b"]), page("todos", "7", ["id": 8]), page("todos", "a", ["id": true]),
    page("todos", "", ["n": 1]), page("lines", #"["1", "x"]"#, ["list": "1", "item": "y"]),
    page("lines", "1x", ["list": "1", "item": "x"]), page("todos", String(repeating: "k", count: 5000), [:]),
    PullAnswer(cursor: "5", tombstones: [.init(table: "todos", pk: "", seq: "5", deletedAt: nil)]),
  ])
  func `a page with a row that is not its key's changes nothing`(_ page: PullAnswer) async throws {
    for hasMore in [false, true] {
      let test = try await TestClient.open(Self.tables)
      var page = page
      page.hasMore = hasMore
      page.rows.append(.init(table: "todos", pk: "good", row: ["n": 1], seq: "5"))
      test.remote.script(pulls: [.answer(page)])
      do {
        try await test.client.sync()
        Issue.record("the page was taken")
      } catch let error as SyncError {
        #expect(error.catalogueCode == .json && error.code == .clientSessionError)
      }
      #expect(try await test.client.checkpoint().cursor == "0")
      #expect(try await test.client.liveRows().isEmpty)
      #expect(try await test.client.stagedNames().isEmpty)
      #expect(test.client.session.progress.downloadedRowCount == 0)
    }
  }

  @Test func `a row that has its key, a part of it, or none of it, is taken`() async throws {
    let test = try await TestClient.open(Self.tables)
    let uuid = "AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA"
    var page = PullAnswer(cursor: "5")
    page.rows = [
      .init(table: "todos", pk: "7", row: ["id": 7], seq: "1"), .init(table: "todos", pk: "a", row: ["n": 1], seq: "2"),
      .init(table: "todos", pk: "b", row: ["id": .null], seq: "3"),
      .init(table: "todos", pk: uuid, row: ["id": .string(uuid)], seq: "4"),
      .init(table: "lines", pk: #"["1", "x"]"#, row: ["list": 1], seq: "5"),
    ]
    test.remote.script(pulls: [.answer(page)])
    try await test.client.sync()
    #expect(try await test.client.liveRows().count == 5)
  }

  @Test func `rows of tables that were not asked for are not counted`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [.answer(Self.page("strangers", "a", ["id": "b"]))])
    try await test.client.sync()
    #expect(test.client.session.progress.downloadedRowCount == 0)
  }

  @Test func `a verdict with the row of another key changes nothing, and answers no write`() async throws {
    let test = try await TestClient.open()
    try await test.insert("a", ["n": 1], id: "m1")
    test.remote.script(pushes: [
      .answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: ["id": "other", "n": 2])])),
      .answer(PushAnswer(verdicts: [.applied("m1", serverRow: ["id": "other", "n": 2])])),
      .answer(PushAnswer(verdicts: [.applied("m2")])),
    ])
    for _ in 1...2 { #expect(await code { try await test.client.pushOnce() } == .json) }
    #expect(await code { try await test.client.pushOnce() } == .verdictBijection)
    #expect(try await test.columns("a") == ["n": 1])
    #expect(try await test.client.outboxDepth() == 1)
    #expect(test.client.session.progress.uploadedRowCount == 0)
  }

  @Test func `an abort with the row of another key changes nothing`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["n": 0], table: "todos", pk: "a", seq: "1")
    try await test.update("a", ["n": 1], id: "m1", batch: "b")
    try await test.update("a", ["n": 2], id: "m2", batch: "b")
    test.remote.script(pushes: [
      .answer(
        PushAnswer(
          abort: .init(outcome: "aborted", offenderMutationID: "m2", reason: "CONSTRAINT", serverRow: ["id": "other"])))
    ])
    #expect(await code { try await test.client.pushOnce() } == .json)
    #expect(try await test.columns("a") == ["n": 2])
    #expect(try await test.client.outboxDepth() == 2)
  }
}
