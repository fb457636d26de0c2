@_spi(Scenario) import StrandlineServer
import Testing

@Suite("Pages") struct PageTests {
  private func server(scanCap: Int = 5000, _ tables: [String: ServerTable]) async throws -> TestServer {
    var configuration = ServerConfiguration(tables: tables)
    configuration.limits.pullScanCountMax = scanCap
    return try await TestServer(configuration)
  }

  private static let mine: [(String, [String: Value])] = [("notes", ["owner": "ann"])]

  @Test("an empty server closes at once")
  func empty() async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "owner")])
    #expect(try await test.pull(Self.mine) == PullAnswer(cursor: "0"))
    #expect(try await test.pull(Self.mine, from: "7") == PullAnswer(cursor: "7"))
  }

  @Test("the latest image of each row, in the order of the numbers; the cursor passes what is others'")
  func latestImages() async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "owner"), "other": ServerTable()])
    try await test.own("notes", "b", ["owner": "ann", "n": 1])
    try await test.own("notes", "a", ["owner": "ann", "n": 1])
    try await test.own("notes", "x", ["owner": "bob"])
    try await test.own("notes", "b", ["n": 2])
    try await test.own("other", "o", [:])
    let page = try await test.pull(Self.mine)
    #expect(
      page
        == PullAnswer(
          cursor: "5",
          rows: [
            .init(table: "notes", pk: "a", row: ["owner": "ann", "n": 1], seq: "2"),
            .init(table: "notes", pk: "b", row: ["owner": "ann", "n": 2], seq: "4"),
          ]))
    #expect(try await test.pull(Self.mine, from: "2").summary == ["b@4"])
    #expect(try await test.pull(Self.mine, from: "5") == PullAnswer(cursor: "5"))
    #expect(try await test.pull(Self.mine + [("other", [:])], from: "4").summary == ["o@5"])
  }

  @Test("a limit makes continuation pages; an exact fit closes")
  func limit() async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "owner")])
    for n in 1...5 { try await test.own("notes", "p\(n)", ["owner": "ann"]) }
    let first = try await test.pull(Self.mine, limit: 2)
    #expect(first.summary == ["p1@1", "p2@2"])
    #expect(first.hasMore && first.cursor == "0:2")
    let second = try await test.pull(Self.mine, from: first.cursor, limit: 2)
    #expect(second.summary == ["p3@3", "p4@4"] && second.hasMore && second.cursor == "0:4")
    let third = try await test.pull(Self.mine, from: second.cursor, limit: 2)
    #expect(third.summary == ["p5@5"] && !third.hasMore && third.cursor == "5")
    let exact = try await test.pull(Self.mine, limit: 5)
    #expect(exact.summary.count == 5 && !exact.hasMore && exact.cursor == "5")
    let fromCheckpoint = try await test.pull(Self.mine, from: "1", limit: 1)
    #expect(fromCheckpoint.summary == ["p2@2"] && fromCheckpoint.cursor == "1:2")
    // A change of a row that was delivered moves it to the end of the transfer.
    try await test.own("notes", "p1", ["n": 1])
    #expect(try await test.pull(Self.mine, from: "0:4").summary == ["p5@5", "p1@6"])
  }

  @Test("a page ends before its rows have too many bytes, and has one row at least")
  func bytes() async throws {
    var configuration = ServerConfiguration(tables: ["notes": ServerTable(bucketColumn: "owner", keepsJournal: true)])
    configuration.limits.answerByteCountMax = 1000
    let test = try await TestServer(configuration)
    func text(_ byteCount: Int) -> Value { .string(String(repeating: "x", count: byteCount)) }
    for (pk, byteCount) in [("a", 400), ("b", 400), ("c", 3000), ("d", 100), ("e", 100)] {
      try await test.own("notes", pk, ["owner": "ann", "text": text(byteCount)])
    }
    let first = try await test.pull(Self.mine)
    #expect(first.summary == ["a@1", "b@2"] && first.hasMore && first.cursor == "0:2")
    let second = try await test.pull(Self.mine, from: first.cursor)
    #expect(second.summary == ["c@3"] && second.hasMore && second.cursor == "0:3")
    let third = try await test.pull(Self.mine, from: second.cursor)
    #expect(third.summary == ["d@4", "e@5"] && !third.hasMore && third.cursor == "5")
    // Values that lost travel with their row, and count.
    for pk in ["a", "b"] {
      #expect(try await test.verdict(.update("m-\(pk)", pk, ["text": text(300)])) == "applied")
    }
    let fourth = try await test.pull(Self.mine, from: "5")
    #expect(fourth.summary == ["a@6"] && fourth.conflicts.count == 1 && fourth.hasMore)
    #expect(try await test.pull(Self.mine, from: fourth.cursor).summary == ["b@7"])
  }

  @Test("rows that another bucket or the policy hides are no entries, and the cap counts what was looked at")
  func scanCap() async throws {
    let policy = RowPolicy(
      mayRead: { caller, row in row.columns["hidden"] != true && row.bucket == caller.userID },
      mayWrite: { _, _ in true })
    let test = try await server(scanCap: 3, ["notes": ServerTable(bucketColumn: "owner", policy: policy)])
    for n in 1...3 { try await test.own("notes", "h\(n)", ["owner": "ann", "hidden": true]) }
    for n in 1...3 { try await test.own("notes", "bob\(n)", ["owner": "bob"]) }
    try await test.own("notes", "a", ["owner": "ann"])
    let first = try await test.pull(Self.mine)
    // The fourth candidate is the row; the cap is reached in front of it.
    #expect(first == PullAnswer(cursor: "0:3", hasMore: true))
    let second = try await test.pull(Self.mine, from: first.cursor)
    #expect(second.summary == ["a@7"] && second.cursor == "7" && !second.hasMore)
    // Tombstones count, once the grant is there.
    try await test.ownDelete("notes", "h1")
    #expect(try await test.pull(Self.mine) == PullAnswer(cursor: "0:7", hasMore: true, rows: second.rows))
    #expect(try await test.pull(Self.mine, from: "0:7").summary == ["-h1@8"])
    // An exact fit of the cap closes.
    try await test.server.reap(.allTombstones)
    #expect(try await test.pull(Self.mine) == PullAnswer(cursor: "8", rows: second.rows))
  }

  @Test("a page that is full looks on for one more deliverable entry before it says that there is more")
  func fullPage() async throws {
    let policy = RowPolicy(mayRead: { _, row in row.columns["hidden"] != true }, mayWrite: { _, _ in true })
    let test = try await server(["notes": ServerTable(policy: policy)])
    try await test.own("notes", "a", [:])
    try await test.own("notes", "h", ["hidden": true])
    let closing = try await test.pull([("notes", [:])], limit: 1)
    #expect(closing.summary == ["a@1"] && !closing.hasMore && closing.cursor == "2")
    try await test.own("notes", "b", [:])
    let more = try await test.pull([("notes", [:])], limit: 1)
    #expect(more.summary == ["a@1"] && more.hasMore && more.cursor == "0:1")
  }

  @Test("params beside the bucket column choose rows by value; entries of one table add up")
  func params() async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "team"), "shared": ServerTable()])
    try await test.own("notes", "a", ["team": "ann", "kind": 1])
    try await test.own("notes", "b", ["team": "ann", "kind": 2])
    try await test.own("shared", "c", ["n": 1])
    try await test.own("shared", "d", ["n": "1"])
    try await test.own("shared", "e", [:])
    func keys(_ buckets: [(String, [String: Value])]) async throws -> [String] {
      try await test.pull(buckets).rows.map(\.pk)
    }
    #expect(try await keys([("notes", ["team": "ann", "kind": 1])]) == ["a"])
    #expect(try await keys([("notes", ["team": "ann", "kind": .double(2)])]) == ["b"])
    #expect(
      try await keys([("notes", ["team": "ann", "kind": 1]), ("notes", ["team": "ann", "kind": 2])]) == ["a", "b"])
    #expect(try await keys([("notes", ["team": "bob"]), ("notes", ["team": "ann", "kind": 9])]) == [])
    #expect(try await keys([("shared", ["n": 1])]) == ["c"])
    #expect(try await keys([("shared", ["n": .null])]) == ["e"])
    #expect(try await keys([("shared", ["n": 1]), ("shared", [:])]) == ["c", "d", "e"])
  }

  @Test("a bucket value is compared by its text")
  func bucketText() async throws {
    let open = ServerTable(bucketColumn: "team", policy: .open)
    let test = try await server(["notes": open])
    try await test.own("notes", "a", ["team": 7])
    try await test.own("notes", "b", ["team": "7"])
    try await test.own("notes", "c", ["team": true])
    #expect(try await test.pull([("notes", ["team": 7])]).rows.map(\.pk) == ["a", "b"])
    #expect(try await test.pull([("notes", ["team": "7"])]).rows.map(\.pk) == ["a", "b"])
    #expect(try await test.pull([("notes", ["team": "true"])]).rows.map(\.pk) == ["c"])
  }

  @Test("holes in a cursor are delivered, and what lies between them is not")
  func holes() async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "owner")])
    for n in 1...9 { try await test.own("notes", "p\(n)", ["owner": n == 4 ? "bob" : "ann"]) }
    #expect(try await test.pull(Self.mine, from: "7~2.4.5").summary == ["p2@2", "p5@5", "p8@8", "p9@9"])
    #expect(try await test.pull(Self.mine, from: "7~2.4.5").cursor == "9")
    #expect(try await test.pull(Self.mine, from: "0:9~1").summary == ["p1@1"])
    let page = try await test.pull(Self.mine, from: "7~2.5", limit: 1)
    #expect(page.cursor == "7:2" && page.hasMore)
    let far = "\(Int64.max)~3"
    #expect(try await test.pull(Self.mine, from: far).summary == ["p3@3"])
    #expect(try await test.pull(Self.mine, from: far).cursor == "\(Int64.max)")
  }

  @Test("many rows in many buckets arrive in one order, whatever the size of the pages", arguments: [1, 7, 100])
  func pageSizes(_ limit: Int64) async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "team", policy: .open), "plain": ServerTable()])
    var expected: [String] = []
    for n in 1...300 {
      let table = n % 3 == 0 ? "plain" : "notes"
      try await test.own(table, "p\(n)", ["team": .int(Int64(n % 5))])
      if n % 3 == 0 || n % 5 != 4 { expected.append("p\(n)@\(n)") }
    }
    var found: [String] = []
    var cursor = "0"
    let buckets: [(String, [String: Value])] =
      (0..<4).map { ("notes", ["team": .int($0)]) } + [("plain", [:])]
    while true {
      let page = try await test.pull(buckets, from: cursor, limit: limit)
      found += page.summary
      #expect(page.rows.count <= limit)
      cursor = page.cursor
      if !page.hasMore { break }
    }
    #expect(found == expected)
    #expect(cursor == "300")
  }

  @Test("a server that begins in the middle of a history")
  func startState() async throws {
    let test = try await server(["notes": ServerTable(bucketColumn: "owner")])
    try await test.server.seed(
      ServerStartState(
        rows: [.init(table: "notes", pk: "a", columns: ["owner": "ann"], number: 4)],
        tombstones: [
          ServerTombstone(id: RowID(table: "notes", pk: "b"), bucket: "ann", number: 5, deletedAt: TestServer.start)
        ], highMark: 6, reapHorizon: 3))
    #expect(try await test.highMark == 6)
    #expect(try await test.pull(Self.mine, from: "2").signal == "CHECKPOINT_EXPIRED")
    #expect(try await test.pull(Self.mine, from: "3").summary == ["a@4"])
    let known = try await test.pull(Self.mine, from: "3")
    #expect(known.summary == ["a@4", "-b@5"] && known.cursor == "6")
    #expect(try await test.verdict(.update("m1", "b", ["n": 1])) == "DELETE_WINS")
    #expect(try await test.verdict(.update("m2", "a", ["n": 1])) == "applied")
    #expect(try await test.pull(Self.mine, from: "6").summary == ["a@7"])
  }
}
