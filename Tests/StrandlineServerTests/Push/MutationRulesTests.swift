@_spi(Scenario) import StrandlineServer
import Testing

/// Each rule of the table "Deciding one mutation", and that the first that holds decides.
@Suite("Deciding one mutation") struct MutationRulesTests {
  static let notes = ServerTable(bucketColumn: "owner", deniedColumns: ["locked"])

  private func server(_ table: ServerTable = notes) async throws -> TestServer {
    try await TestServer(["notes": table])
  }

  @Test("1: what an earlier mutation of the push deleted stays deleted, without any grant")
  func deletedJustNow() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "n": 1])
    let answer = try await test.push([
      .delete("m1", "a"), .insert("m2", "a", ["id": "b", "owner": "bob"]), .update("m3", "a", ["n": 2]),
      .delete("m4", "a"),
    ])
    #expect(
      answer.verdicts == [
        .applied("m1"), .rejected("m2", .deleteWins, serverRow: nil), .rejected("m3", .deleteWins, serverRow: nil),
        .rejected("m4", .deleteWins, serverRow: nil),
      ])
    #expect(try await test.highMark == 2)
  }

  @Test("2: a removal is told to who was sent rows of the bucket, and hidden from everybody else")
  func removal() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann"])
    try await test.own("notes", "b", ["owner": "ann"])
    try await test.ownDelete("notes", "a")
    #expect(try await test.verdict(.insert("m1", "a", ["owner": "ann"])) == "RLS_DENIED")
    // Now a row of the bucket is sent.
    #expect(try await test.pull([("notes", ["owner": "ann"])]).summary == ["b@2"])
    #expect(try await test.verdict(.insert("m2", "a", ["owner": "ann"])) == "DELETE_WINS")
    #expect(try await test.verdict(.delete("m3", "a")) == "DELETE_WINS")
    #expect(try await test.verdict(.insert("m4", "a", ["owner": "bob"]), as: "bob") == "RLS_DENIED")
    // The owner may put it back, and then it is a row like others.
    try await test.own("notes", "a", ["owner": "ann"])
    #expect(try await test.verdict(.update("m5", "a", ["n": 1])) == "applied")
  }

  @Test("3: an update names no key column, whatever the row")
  func updateOfKey() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "id": "a"])
    let answer = try await test.push([
      .update("m1", "a", ["id": "a"]),
      .update("m2", "a").with { $0.transforms = ["id": ["op": "increment", "by": 1]] },
      .update("m3", "absent", ["id": "absent"]),
    ])
    let row: [String: Value] = ["owner": "ann", "id": "a"]
    #expect(
      answer.verdicts == [
        .rejected("m1", .columnDenied, serverRow: row), .rejected("m2", .columnDenied, serverRow: row),
        .rejected("m3", .columnDenied, serverRow: nil),
      ])
  }

  @Test("4: key columns that an insert names have the text of the key")
  func insertOfOtherKey() async throws {
    let test = try await server()
    #expect(try await test.verdict(.insert("m1", "7", ["id": 8, "owner": "ann"])) == "CONSTRAINT")
    #expect(try await test.verdict(.insert("m2", "7", ["id": .null, "owner": "ann"])) == "CONSTRAINT")
    // Before the policy is asked.
    #expect(try await test.verdict(.insert("m3", "7", ["id": "07", "owner": "bob"])) == "CONSTRAINT")
    #expect(try await test.verdict(.insert("m4", "7", ["id": 7, "owner": "ann"])) == "applied")
    #expect(try await test.server.row("7", in: "notes") == ["id": 7, "owner": "ann"])
  }

  @Test("5: absent and hidden rows cannot be told apart")
  func absentOrHidden() async throws {
    let test = try await server()
    try await test.own("notes", "hers", ["owner": "bob", "n": 1])
    let hidden = try await test.push([
      .update("m1", "hers", ["locked": 1]).with { $0.precondition = ["n": 2] }, .delete("m2", "hers"),
    ])
    let absent = try await test.push([
      .update("m1b", "none", ["locked": 1]).with { $0.precondition = ["n": 2] }, .delete("m2b", "none"),
    ])
    #expect(hidden.verdicts?.map(\.reason) == ["RLS_DENIED", "RLS_DENIED"])
    #expect(hidden.verdicts?.map(\.serverRow) == [nil, nil])
    #expect(absent.verdicts?.map(\.reason) == ["RLS_DENIED", "RLS_DENIED"])
    #expect(try await test.server.row("hers", in: "notes") == ["owner": "bob", "n": 1])
  }

  @Test("5: a row that may be read and not written is denied, and told")
  func readOnlyRow() async throws {
    let policy = RowPolicy(mayRead: { _, _ in true }, mayWrite: { caller, row in row.bucket == caller.userID })
    let test = try await server(ServerTable(bucketColumn: "owner", policy: policy))
    try await test.own("notes", "hers", ["owner": "bob"])
    let answer = try await test.push([.update("m1", "hers", ["n": 1]), .insert("m2", "hers", ["owner": "ann"])])
    #expect(
      answer.verdicts == [
        .rejected("m1", .rowDenied, serverRow: ["owner": "bob"]),
        .rejected("m2", .rowDenied, serverRow: ["owner": "bob"]),
      ])
  }

  @Test("6: an insert for another user, over another's row, or without an owner is denied")
  func insertDenied() async throws {
    let test = try await server()
    try await test.own("notes", "hers", ["owner": "bob", "n": 1])
    #expect(try await test.verdict(.insert("m1", "x", ["owner": "bob"])) == "RLS_DENIED")
    #expect(try await test.verdict(.insert("m2", "x", [:])) == "RLS_DENIED")
    #expect(try await test.verdict(.insert("m3", "hers", ["owner": "ann"])) == "RLS_DENIED")
    #expect(try await test.server.row("hers", in: "notes") == ["owner": "bob", "n": 1])
    #expect(try await test.server.row("x", in: "notes") == nil)
  }

  @Test("6: an insert over a live row of one's own merges")
  func insertMerges() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "n": 1, "k": 1])
    #expect(try await test.verdict(.insert("m1", "a", ["n": 2])) == "applied")
    #expect(try await test.server.row("a", in: "notes") == ["owner": "ann", "n": 2, "k": 1])
    #expect(try await test.verdict(.insert("m2", "a", ["owner": "bob"])) == "RLS_DENIED")
    #expect(try await test.verdict(.insert("m3", "a")) == "RLS_DENIED")
    #expect(try await test.verdict(.insert("m4", "b", ["owner": "ann"])) == "applied")
  }

  @Test("7: columns that the table or the role does not let be written")
  func columnDenied() async throws {
    var table = Self.notes
    table.columns = .only(["n", "s"])
    table.privileges = ["guest": ColumnPrivileges(writable: .only(["n", "owner"]))]
    let test = try await server(table)
    try await test.own("notes", "a", ["owner": "ann", "n": 1])
    #expect(try await test.verdict(.update("m1", "a", ["unknown": 1])) == "COLUMN_DENIED")
    #expect(try await test.verdict(.update("m2", "a", ["locked": 1])) == "COLUMN_DENIED")
    #expect(try await test.verdict(.update("m3", "a", ["s": "x"]), role: "guest") == "COLUMN_DENIED")
    let transform = Mutation.update("m4", "a").with { $0.transforms = ["unknown": ["op": "increment", "by": 1]] }
    #expect(try await test.verdict(transform) == "COLUMN_DENIED")
    // Before the precondition; after the policy.
    let both = Mutation.update("m5", "a", ["locked": 1]).with { $0.precondition = ["n": 9] }
    #expect(try await test.verdict(both) == "COLUMN_DENIED")
    #expect(try await test.verdict(.insert("m6", "b", ["locked": 1, "owner": "bob"])) == "RLS_DENIED")
    #expect(try await test.verdict(.update("m7", "a", ["s": "x"])) == "applied")
    #expect(try await test.verdict(.update("m8", "a", ["n": 2]), role: "guest") == "applied")
    // A delete's columns are ignored.
    #expect(try await test.verdict(.delete("m9", "a").with { $0.columns = ["unknown": 1] }) == "applied")
  }

  @Test("8: a precondition is compared by value; absent is null")
  func precondition() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "n": 2])
    func update(_ id: String, _ expected: [String: Value]) -> Mutation {
      Mutation.update(id, "a", ["m": 1]).with { $0.precondition = expected }
    }
    #expect(try await test.verdict(update("m1", ["n": 3])) == "PRECONDITION")
    #expect(try await test.verdict(update("m2", ["n": "2"])) == "PRECONDITION")
    #expect(try await test.verdict(update("m3", ["none": 1])) == "PRECONDITION")
    #expect(try await test.verdict(update("m4", ["n": .double(2), "none": .null])) == "applied")
    #expect(try await test.verdict(.delete("m5", "a").with { $0.precondition = ["n": 9] }) == "PRECONDITION")
    let insert = Mutation.insert("m6", "b", ["owner": "ann"]).with { $0.precondition = ["owner": "ann"] }
    #expect(try await test.verdict(insert) == "PRECONDITION")
    let fresh = Mutation.insert("m7", "b", ["owner": "ann"]).with { $0.precondition = ["owner": .null] }
    #expect(try await test.verdict(fresh) == "applied")
  }

  @Test("9: an insert has no transforms")
  func insertWithTransforms() async throws {
    let test = try await server()
    let insert = Mutation.insert("m1", "a", ["owner": "ann"]).with {
      $0.transforms = ["n": ["op": "increment", "by": 1]]
    }
    #expect(try await test.verdict(insert) == "CONSTRAINT")
    #expect(try await test.verdict(.insert("m2", "a", ["owner": "ann"]).with { $0.transforms = [:] }) == "applied")
  }

  @Test("10: an update that names nothing")
  func emptyUpdate() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann"])
    let answer = try await test.push([.update("m1", "a").with { $0.transforms = [:] }])
    #expect(answer.verdicts == [.rejected("m1", .rowDenied, serverRow: ["owner": "ann"])])
  }

  @Test(
    "12: what no client can hold is not stored, whoever brings it",
    arguments: ["", "\u{1}", "\u{1}pk", String(repeating: "x", count: 257)])
  func columnNames(name: String) async throws {
    let test = try await server()
    #expect(try await test.verdict(.insert("m1", "a", ["owner": "ann", name: 1])) == "CONSTRAINT")
    try await test.own("notes", "a", ["owner": "ann"])
    #expect(try await test.verdict(.update("m2", "a", [name: 1])) == "CONSTRAINT")
    let increment = Mutation.update("m3", "a").with { $0.transforms = [name: ["op": "increment", "by": 1]] }
    #expect(try await test.verdict(increment) == "CONSTRAINT")
    #expect(await refusal { try await test.own("notes", "b", [name: 1]) } == .invalidParameter)
    #expect(await refusal { try await test.own("notes", "a", [name: 1]) } == .invalidParameter)
    #expect(try await test.server.row("a", in: "notes") == ["owner": "ann"])
    #expect(try await test.highMark == 1)
  }

  @Test("12: a row has as many columns as every client takes, and no more")
  func columnCount() async throws {
    let test = try await server()
    var columns: [String: Value] = ["owner": "ann"]
    for place in 1..<ColumnRules.countMax { columns["c\(place)"] = 1 }
    #expect(try await test.verdict(.insert("m1", "a", columns)) == "applied")
    #expect(try await test.verdict(.update("m2", "a", ["c1": 2])) == "applied")
    #expect(try await test.verdict(.update("m3", "a", ["surplus": 1])) == "CONSTRAINT")
    #expect(await refusal { try await test.own("notes", "a", ["surplus": 1]) } == .invalidParameter)
    #expect(
      await refusal { try await test.own("notes", "b", columns.merging(["surplus": 1]) { $1 }) } == .invalidParameter)
    #expect(try await test.server.row("a", in: "notes")?.count == ColumnRules.countMax)
    #expect(try await test.highMark == 2)
  }

  @Test("a number beyond the last is not drawn: the call is refused, and nothing changes")
  func lastNumber() async throws {
    let test = try await server()
    var start = ServerStartState(highMark: .max)
    start.rows = [.init(table: "notes", pk: "a", columns: ["owner": "ann"], number: .max)]
    try await test.server.seed(start)
    for mutation in [Mutation.insert("m1", "b", ["owner": "ann"]), .update("m2", "a", ["n": 1]), .delete("m3", "a")] {
      do {
        _ = try await test.push([mutation])
        Issue.record("\(mutation.id) was applied")
      } catch { #expect(error.code == nil) }
    }
    for write in [OwnerWrite.upsert(table: "notes", pk: "b", columns: [:]), .delete(table: "notes", pk: "a")] {
      await #expect(throws: ErrorAnswer.self) { try await test.server.write([write]) }
    }
    #expect(try await test.pull([("notes", ["owner": "ann"])]).summary == ["a@\(Int64.max)"])
  }

  @Test("the owner is told what is wrong with a row")
  func ownersMessages() async throws {
    let test = try await server()
    func message(_ pk: String, _ columns: [String: Value]) async -> String {
      do throws(ErrorAnswer) {
        try await test.server.write([.upsert(table: "notes", pk: pk, columns: columns)])
        return ""
      } catch { return error.message }
    }
    let long = String(repeating: "x", count: 500)
    #expect(await message(long, [:]).contains("has 500 bytes"))
    #expect(await message("a", [long: 1]).contains("a column that no client can hold"))
    #expect(await message("a", ["owner": .string(long)]).contains("the bucket value"))
    #expect(await message("a", ["t": .string(String(repeating: "x", count: 1 << 20))]).contains("are the most"))
    #expect(await message("", [:]).contains("not the canonical text"))
  }

  @Test("12: a transform that cannot be done, a rule of the table, a row that is too large")
  func constraint() async throws {
    var table = Self.notes
    table.rule = { row in row.columns["n"].map { Value.order($0, 10) <= 0 } ?? true }
    let test = try await server(table)
    try await test.own("notes", "a", ["owner": "ann", "s": "text"])
    func transform(_ id: String, _ column: String, _ transform: Value) -> Mutation {
      Mutation.update(id, "a").with { $0.transforms = [column: transform] }
    }
    #expect(try await test.verdict(transform("m1", "s", ["op": "increment", "by": 1])) == "CONSTRAINT")
    #expect(try await test.verdict(transform("m2", "s", ["op": "arrayUnion", "values": [1]])) == "CONSTRAINT")
    #expect(try await test.verdict(.update("m3", "a", ["n": 11])) == "CONSTRAINT")
    #expect(try await test.verdict(.update("m4", "a", ["n": 10])) == "applied")
    #expect(try await test.verdict(transform("m5", "n", ["op": "increment", "by": 1])) == "CONSTRAINT")
    let long = String(repeating: "x", count: 1 << 20)
    #expect(try await test.verdict(.update("m6", "a", ["s": .string(long)])) == "CONSTRAINT")
    #expect(try await test.verdict(.insert("m7", String(long.prefix(600)), ["owner": "ann"])) == "CONSTRAINT")
    #expect(try await test.verdict(.update("m8", String(long.prefix(600)), ["n": 1])) == "RLS_DENIED")
    #expect(try await test.server.row("a", in: "notes") == ["owner": "ann", "s": "text", "n": 10])
  }

  @Test("13: a result that the caller may not write")
  func resultDenied() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann"])
    let answer = try await test.push([.update("m1", "a", ["owner": "bob"])])
    #expect(answer.verdicts == [.rejected("m1", .rowDenied, serverRow: ["owner": "ann"])])
    #expect(try await test.verdict(.update("m2", "a", ["owner": .null])) == "RLS_DENIED")
    #expect(try await test.server.row("a", in: "notes") == ["owner": "ann"])
  }

  @Test("a rejected mutation leaves nothing but its verdict")
  func rejectionDrawsNothing() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann"])
    _ = try await test.push([.update("m1", "a", ["owner": "bob"]), .update("m2", "a", ["n": 1])])
    #expect(try await test.highMark == 2)
    let page = try await test.pull([("notes", ["owner": "ann"])])
    #expect(page.rows == [.init(table: "notes", pk: "a", row: ["owner": "ann", "n": 1], seq: "2")])
  }

  @Test("transforms run after the columns, in the row that these left, and the verdict tells the row")
  func transforms() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "n": "9223372036854775807", "tags": ["x", "x", "y"]])
    let answer = try await test.push([
      .update("m1", "a", ["k": 1]).with {
        $0.transforms = [
          "n": ["op": "increment", "by": 1], "tags": ["op": "arrayRemove", "values": ["y"]],
          "new": ["op": "arrayUnion", "values": [1, 1, .double(1), "1"]],
        ]
      }
    ])
    let row: [String: Value] = [
      "owner": "ann", "k": 1, "n": "9223372036854775808", "tags": ["x", "x"], "new": [1, "1"],
    ]
    #expect(answer.verdicts == [.applied("m1", serverRow: row)])
    #expect(try await test.highMark == 2)
  }
}
