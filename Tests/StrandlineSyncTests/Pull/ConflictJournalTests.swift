import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct ConflictJournalTests {
  private static func conflict(_ column: String, winner: String) -> PullAnswer.Conflict {
    PullAnswer.Conflict(
      table: "todos", pk: "p1", column: column, loserValue: ["a", 1], winnerMutationID: winner, conflictMode: "arrival",
      winnerSeq: "7")
  }

  @Test func `conflicts are journalled, but for those that this device has won`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "mine")
    try await test.update("p1", ["x": 1], id: "refused")
    test.remote.script(
      pulls: [
        .answer(
          .page(
            "7", ["p1": ["a": 1]],
            conflicts: [
              Self.conflict("a", winner: "mine"), Self.conflict("b", winner: "theirs"),
              Self.conflict("c", winner: "refused"),
            ]))
      ],
      pushes: [
        .answer(PushAnswer(verdicts: [.applied("mine"), .rejected("refused", .constraint, serverRow: ["a": 0])]))
      ])
    try await test.client.sync()
    let journal = try await test.client.overwrites()
    #expect(journal.map(\.column) == ["c", "b"])
    #expect(
      journal[1].winnerMutationID == "theirs" && journal[1].loserValue == ["a", 1] && journal[1].winnerSeq == "7")
    #expect(journal[1].loserValueJSON == "[\"a\",1]")
    #expect(await test.eventNames().suffix(3) == ["LOCAL_CHANGED", "COLUMN_OVERWRITTEN", "COLUMN_OVERWRITTEN"])
  }

  @Test func `only the newest thousand pushed ids are remembered`() async throws {
    let test = try await TestClient.open()
    for round in 0..<2 {
      try await test.client.write { tx in for n in 0..<600 { try tx.insert([:], into: "todos", pk: "p\(round)-\(n)") } }
      try await test.client.pushOnce()
    }
    #expect(try await test.client.stateRows(of: "strandline.pushed").count == 1000)
    let first = test.remote.pushRequests[0].mutations.map(\.id)
    let page = PullAnswer.page(
      "9", ["p1": [:]],
      conflicts: [Self.conflict("old", winner: first[199]), Self.conflict("new", winner: first[200])])
    test.remote.script(pulls: [.answer(page)])
    try await test.client.pullOnce()
    #expect(try await test.client.overwrites().map(\.column) == ["old"])
  }

  @Test func `behind a reset own wins are journalled too`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "mine")
    try await test.client.pushOnce()
    try await test.client.reset()
    test.remote.script(pulls: [.answer(.page("7", ["p1": [:]], conflicts: [Self.conflict("a", winner: "mine")]))])
    try await test.client.pullOnce()
    #expect(try await test.client.overwrites().count == 1)
  }
}
