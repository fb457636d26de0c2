import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ReadTests {
  private func client(_ tables: [String: TableConfiguration] = ["todos": TableConfiguration()]) async throws
    -> TestClient
  {
    let test = try await TestClient.open(tables)
    let rows: [(String, [String: Value])] = [
      ("p1", ["title": "buy milk", "rank": 2, "done": false]), ("p2", ["title": "sell MILK jug", "rank": 1]),
      ("p3", ["title": "walk", "rank": .null, "done": true]), ("p4", ["title": "walk", "rank": 2.0]),
    ]
    for (pk, columns) in rows { try await test.client.seedRow(columns, table: "todos", pk: pk, seq: "77") }
    return test
  }

  private func pks(_ builder: SelectBuilder) async throws -> [Value?] { try await builder.rows().map { $0["id"] } }

  @Test func `a whole row is what was written and the key, and nothing of the client's own`() async throws {
    let test = try await client()
    let select = try test.client.from("todos").select()
    #expect(try await select.eq("id", "p3").rows() == [["id": "p3", "title": "walk", "rank": .null, "done": true]])
    #expect(try await select.csv().split(separator: "\n").first?.contains("\u{1}") == false)
    #expect(
      try await test.client.from("todos").select("id, , none").eq("id", "p1").rows() == [["id": "p1", "none": .null]])
    #expect(try await select.eq("id", "p3").stripNulls().rows() == [["id": "p3", "title": "walk", "done": true]])
    // 77 is the number under which the server sent the rows.
    #expect(try await pks(select.search("77")).isEmpty)
    #expect(try await pks(select.search("true")).isEmpty)
    #expect(try await pks(select.search("milk")) == ["p1", "p2"])
    #expect(try await pks(select.search("P4")) == ["p4"])
  }

  @Test func `filters find what they say`() async throws {
    let test = try await client()
    let select = try test.client.from("todos").select()
    #expect(try await pks(select.eq("rank", 2)) == ["p1", "p4"])
    #expect(try await pks(select.neq("rank", 2)) == ["p2"])
    #expect(try await pks(select.in("id", ["p4", "p1", "none"])) == ["p1", "p4"])
    #expect(try await pks(select.like("title", "%milk%")) == ["p1"])
    #expect(try await pks(select.is("done", .null)) == ["p2", "p4"])
    #expect(try await pks(select.not(.column("done", .equals, true))) == ["p1"])
    #expect(try await pks(select.or(.column("rank", .equals, 1), .column("done", .is, true))) == ["p2", "p3"])
    #expect(try await pks(select.or()).isEmpty)
    #expect(try await pks(select.and()).count == 4)
    #expect(try await pks(select.search("")).count == 4)
    #expect(try await pks(select.textSearch("title", "\"milk jug\"", type: .websearch)) == ["p2"])
    #expect(try await pks(select.isDistinct("rank", 2)) == ["p2", "p3"])
  }

  @Test func `order puts nulls last ascending and first descending, and the key's order where rows are equal`()
    async throws
  {
    let test = try await client()
    let select = try test.client.from("todos").select()
    #expect(try await pks(select.order(by: "rank")) == ["p2", "p1", "p4", "p3"])
    #expect(try await pks(select.order(by: "rank", ascending: false)) == ["p3", "p1", "p4", "p2"])
    #expect(try await pks(select.order(by: "rank", nulls: .first).limit(2)) == ["p3", "p2"])
    #expect(try await pks(select.order(by: "title", ascending: false).order(by: "rank")) == ["p4", "p3", "p2", "p1"])
    #expect(try await pks(select.range(from: 1, through: 2)) == ["p2", "p3"])
    #expect(try await pks(select.limit(0)).isEmpty)
  }

  @Test func `counts and heads`() async throws {
    let test = try await client()
    let answer = try await test.client.from("todos").select(head: true, count: true).eq("rank", 2).limit(1).execute()
    #expect(answer == SelectAnswer(rows: [], count: 2))
    #expect(try await test.client.from("todos").select(count: true).limit(1).execute().count == 4)
  }

  @Test func `one-row answers`() async throws {
    let test = try await client()
    let select = try test.client.from("todos").select()
    #expect(try await select.eq("id", "p1").single()["title"] == "buy milk")
    #expect(await code { _ = try await select.eq("id", "none").single() } == .localConstraint)
    #expect(await code { _ = try await select.single() } == .localConstraint)
    #expect(await code { _ = try await select.maybeSingle() } == .localConstraint)
    #expect(try await select.eq("id", "none").maybeSingle() == nil)
    struct Todo: Decodable, Equatable {
      var id: String
      var title: String
      var done: Bool?
    }
    #expect(try await select.eq("id", "p1").all(Todo.self) == [Todo(id: "p1", title: "buy milk", done: false)])
    #expect(await code { _ = try await select.all(Int.self) } == .json)
  }

  @Test func `questions that mean nothing are refused before a row is read`() async throws {
    let test = try await client()
    let select = try test.client.from("todos").select()
    #expect(await code { _ = try await select.match("title", "(a)\\1").rows() } == .localUnsupported)
    #expect(await code { _ = try await select.limit(-1).rows() } == .localUnsupported)
    #expect(await code { _ = try await select.is("done", "yes").rows() } == .localUnsupported)
    #expect(await code { _ = try await test.client.query("none", QueryPlan()) } == .unknownTable)
    #expect(await code { _ = try QueryPlan(json: ["filters": "none"]) } == nil)
    #expect(throws: StoreError.self) { try QueryPlan(json: ["filters": "none"]) }
  }

  @Test func `the key's column at the root reads only its rows`() async throws {
    let test = try await client([
      "todos": TableConfiguration(softDeleteColumn: "gone"), "n": TableConfiguration(key: ["no"]),
    ])
    let select = try test.client.from("todos").select()
    func path(_ builder: SelectBuilder) async throws -> QueryExplanation.Path { try await builder.explain().path }
    #expect(try await path(select.eq("id", "p1")) == .keys)
    #expect(try await path(select.in("id", ["p1", "p2"])) == .keys)
    #expect(try await path(select.and(.column("id", .equals, "p1"), .column("rank", .greaterThan, 0))) == .keys)
    #expect(try await path(select) == .scan)
    #expect(try await path(select.neq("id", "p1")) == .scan)
    #expect(try await path(select.or(.column("id", .equals, "p1"), .column("rank", .equals, 1))) == .scan)
    #expect(try await select.eq("id", "p1").explain().narrowingColumns == ["id"])
    // The short way finds what the long way finds.
    for columns: [String: Value] in [["no": 7], ["no": "8"], ["no": 9, "x": 1]] {
      try await test.client.from("n").insert(columns)
    }
    for operand: Value in [7, 7.0, "7", "8", 8, .null, true, [7]] {
      let short = try await test.client.from("n").select().eq("no", operand).rows()
      let long = try await test.client.from("n").select().or(
        .column("no", .equals, operand), .column("no", .equals, .null)
      ).rows()
      #expect(short == long, "\(operand)")
    }
    #expect(try await test.client.from("n").select().in("no", [9, "8", .null]).count() == 2)
  }

  @Test func `an index that a table declares is used, and the answer is the same`() async throws {
    let test = try await client(["todos": TableConfiguration(indexes: [IndexSchema("by_title", ["title"])])])
    let select = try test.client.from("todos").select().eq("title", "walk")
    #expect(try await "\(select.explain())".contains("by_title"))
    try await test.update("p4", ["title": "run"])
    #expect(try await pks(select) == ["p3"])
  }

  @Test func `views and changes look back`() async throws {
    let test = try await TestClient.open { $0.storeOptions.history = .commits(1000) }
    try await test.insert("p1", ["n": 1], id: "m1")
    let view = try await test.client.view()
    try await test.update("p1", ["n": 2])
    let plan = QueryPlan()
    #expect(try view.query("todos", plan).rows == [["id": "p1", "n": 1]])
    #expect(try await test.client.view(at: view.sequence).query("todos", plan).rows == [["id": "p1", "n": 1]])
    #expect(try await test.client.view().query("todos", plan).rows == [["id": "p1", "n": 2]])
    try await test.delete("p1")
    try await test.client.store.sync()
    var seen: [SyncCommit] = []
    for try await commit in test.client.changes() {
      if commit.cause == .localWrite { seen.append(commit) }
      if seen.count == 3 { break }
    }
    #expect(seen.map { $0.rows.map(\.row) } == [[["id": "p1", "n": 1]], [["id": "p1", "n": 2]], [nil]])
    #expect(seen[0].rows.map(\.pk) == ["p1"])
  }
}
