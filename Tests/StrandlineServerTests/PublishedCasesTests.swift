import StrandlineServer
import Testing

/// Cases of the published protocol's corpus that speak about the server, by their numbers there.
@Suite("Published cases, the server's side") struct PublishedCasesTests {
  private static let mine: [(String, [String: Value])] = [("todos", ["owner": "ann"])]

  private func server(_ table: ServerTable = ServerTable(bucketColumn: "owner")) async throws -> TestServer {
    try await TestServer(["todos": table])
  }

  @Test("26, 28, 29, 34: transforms, with sums of any size, and the row that they made")
  func transforms() async throws {
    let test = try await server()
    func push(_ id: String, _ transforms: [String: Value]) async throws -> PushAnswer.Verdict? {
      try await test.push([.update(id, "a", in: "todos").with { $0.transforms = transforms }]).verdicts?.first
    }
    try await test.own("todos", "a", ["owner": "ann", "likes": 4, "big": "9223372036854775807"])
    #expect(
      try await push("m1", ["tags": ["op": "arrayUnion", "values": ["urgent", "home"]]])?.serverRow?["tags"]
        == ["urgent", "home"])
    #expect(
      try await push("m2", ["tags": ["op": "arrayRemove", "values": ["urgent"]]])?.serverRow?["tags"] == ["home"])
    #expect(try await push("m3", ["big": ["op": "increment", "by": 1]])?.serverRow?["big"] == "9223372036854775808")
    try await test.own("todos", "a", ["big": "1234567890123456789012345678901234567899"])
    #expect(
      try await push("m4", ["big": ["op": "increment", "by": 1]])?.serverRow?["big"]
        == "1234567890123456789012345678901234567900")
    #expect(try await push("m5", ["likes": ["op": "increment", "by": 1]])?.serverRow?["likes"] == 5)
    #expect(
      try await push("m6", ["likes": ["op": "increment", "by": 2_147_483_642]])?.serverRow?["likes"] == 2_147_483_647)
    #expect(try await push("m7", ["likes": ["op": "increment", "by": 1]])?.serverRow?["likes"] == "2147483648")
    #expect(try await push("m8", ["likes": ["op": "increment", "by": "-1"]])?.serverRow?["likes"] == 2_147_483_647)
  }

  @Test("83, 89, 106: resends, preconditions on columns that are not there, atomic reverts")
  func pushes() async throws {
    let test = try await server()
    let insert = Mutation.insert("m1", "a", ["owner": "ann", "likes": 1], in: "todos")
    #expect(try await test.push([insert]).verdicts == [.applied("m1")])
    #expect(try await test.push([insert]).verdicts == [.applied("m1")])
    #expect(try await test.highMark == 1)
    let guarded = Mutation.update("m2", "a", ["likes": 2], in: "todos").with { $0.precondition = ["version": 3] }
    #expect(
      try await test.push([guarded]).verdicts == [
        .rejected("m2", .precondition, serverRow: ["owner": "ann", "likes": 1])
      ])
    let batch: [Mutation] = [
      .insert("m3", "b", ["owner": "ann"], in: "todos"), .insert("m4", "c", ["owner": "bob"], in: "todos"),
    ]
    #expect(try await test.push(batch, isAtomic: true).abort?.offenderMutationID == "m4")
    #expect(try await test.pull(Self.mine).summary == ["a@1"])
  }

  @Test("14, 127: a composite key and a key of an integer")
  func keys() async throws {
    let test = try await TestServer([
      "items": ServerTable(keyColumns: ["list", "item"], keyTypes: [.int, .bigint]),
      "numbered": ServerTable(keyTypes: [.bigint]),
    ])
    _ = try await test.push([
      .insert("m1", #"["1", "3456"]"#, ["list": 1, "item": 3456], in: "items"),
      .insert("m2", "42", ["id": 42, "title": "x"], in: "numbered"),
    ])
    let page = try await test.pull([("items", [:]), ("numbered", [:])])
    #expect(
      page.rows == [
        .init(table: "items", pk: #"["1", "3456"]"#, row: ["list": 1, "item": 3456], seq: "1"),
        .init(table: "numbered", pk: "42", row: ["id": 42, "title": "x"], seq: "2"),
      ])
  }

  @Test("121 to 125, 142: pages, their heads and fits, and tokens that are too old")
  func pages() async throws {
    let test = try await server()
    try await test.own("todos", "x", ["owner": "bob"])
    #expect(try await test.pull(Self.mine) == PullAnswer(cursor: "1"))
    for pk in ["a", "b", "c"] { try await test.own("todos", pk, ["owner": "ann"]) }
    #expect(try await test.pull(Self.mine, limit: 3).cursor == "4")
    try await test.ownDelete("todos", "a")
    try await test.own("todos", "b", ["n": 1])
    // The tombstone is the head of the page.
    let head = try await test.pull(Self.mine, from: "4", limit: 1)
    #expect(head.summary == ["-a@5"] && head.hasMore && head.cursor == "4:5")
    try await test.server.reap(.allTombstones)
    #expect(try await test.pull(Self.mine, from: "4:5", limit: 1).signal == "CHECKPOINT_EXPIRED")
    #expect(try await test.pull(Self.mine, from: "5").summary == ["b@6"])
  }

  @Test("133: an update of a row that was deleted after it was pulled")
  func deleteWins() async throws {
    let test = try await server()
    try await test.own("todos", "a", ["owner": "ann"])
    _ = try await test.pull(Self.mine)
    try await test.ownDelete("todos", "a")
    let answer = try await test.push([.update("m1", "a", ["n": 1], in: "todos")])
    #expect(answer.verdicts == [.rejected("m1", .deleteWins, serverRow: nil)])
  }

  @Test("148, 149: conflicts on one column, by arrival and by stamps")
  func conflicts() async throws {
    let arrival = try await server(ServerTable(keepsJournal: true))
    try await arrival.own("todos", "a", ["title": "base"])
    #expect(try await arrival.verdict(.update("m1", "a", ["title": "first"], in: "todos")) == "applied")
    #expect(try await arrival.verdict(.update("m2", "a", ["title": "second"], in: "todos"), as: "bob") == "applied")
    #expect(try await arrival.pull([("todos", [:])]).conflicts.map(\.loserValue) == ["first"])
    let stamped = try await server(ServerTable(conflictMode: .hlc))
    try await stamped.own("todos", "a", ["title": "base"])
    let late = Mutation.update("m1", "a", ["title": "late"], in: "todos").with {
      $0.hlc = "2026-01-01T00:00:02.000Z|0|b"
    }
    let early = Mutation.update("m2", "a", ["title": "early"], in: "todos").with {
      $0.hlc = "2026-01-01T00:00:01.000Z|0|a"
    }
    #expect(try await stamped.verdict(late) == "applied")
    #expect(
      try await stamped.push([early]).verdicts == [.rejected("m2", .superseded, serverRow: ["title": "late"])])
  }

  @Test("146: no number below a cursor that was handed out can come late")
  func noLateNumbers() async throws {
    let test = try await server(ServerTable())
    var cursor = "0"
    for number in 1...20 {
      let before = cursor
      async let first = test.verdict(.insert("a\(number)", "a\(number)", in: "todos"))
      async let second = test.verdict(.insert("b\(number)", "b\(number)", in: "todos"))
      async let page = test.pull([("todos", [:])], from: before)
      let (found, _, _) = try await (page, first, second)
      cursor = found.cursor
      let rest = try await test.pull([("todos", [:])], from: cursor)
      #expect(found.rows.count + rest.rows.count == 2)
      cursor = rest.cursor
    }
  }
}
