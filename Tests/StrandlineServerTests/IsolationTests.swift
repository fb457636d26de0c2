import StrandlineServer
import Testing

/// A hostile user asks for and writes to what is another's, by every request there is.
@Suite("Users among each other") struct IsolationTests {
  private func server() async throws -> TestServer {
    var table = ServerTable(bucketColumn: "owner", keepsJournal: true)
    table.privileges = ["guest": ColumnPrivileges(readable: .allBut(["secret"]), writable: .allBut(["secret"]))]
    let test = try await TestServer(["notes": table, "marks": ServerTable(bucketColumn: "owner", conflictMode: .hlc)])
    try await test.own("notes", "hers", ["owner": "bob", "secret": "s", "n": 1])
    try await test.own("notes", "gone", ["owner": "bob"])
    _ = try await test.push([.update("b1", "hers", ["n": 2])], as: "bob")
    try await test.ownDelete("notes", "gone")
    return test
  }

  @Test("no pull tells another's rows, keys, conflicts or deletions")
  func pulls() async throws {
    let test = try await server()
    let buckets: [[String: Value]] = [
      ["owner": "bob"], ["owner": "bob", "n": 2], ["owner": .null], ["owner": ["bob"]], ["owner": ""],
      ["owner": "ann"], ["owner": "bob\u{0}"],
    ]
    for cursor in ["0", "0:1", "1", "4~1.2.3"] {
      for params in buckets {
        let page = try await test.pull([("notes", params)], from: cursor)
        #expect(page.rows.isEmpty && page.tombstones.isEmpty && page.conflicts.isEmpty, "\(cursor) \(params)")
      }
      let all = try await test.pull(buckets.map { ("notes", $0) }, from: cursor)
      #expect(all.rows.isEmpty && all.tombstones.isEmpty && all.conflicts.isEmpty)
    }
  }

  @Test("no push changes another's rows, or tells whether they are there")
  func pushes() async throws {
    let test = try await server()
    var count = 0
    func attempts(_ pk: String) -> [Mutation] {
      count += 1
      return [
        .update("u\(count)", pk, ["owner": "ann"]), .update("v\(count)", pk, ["n": 9]), .delete("d\(count)", pk),
        .insert("i\(count)", pk, ["owner": "bob", "n": 9]),
        .update("t\(count)", pk).with { $0.transforms = ["n": ["op": "increment", "by": 1]] },
        .update("p\(count)", pk, ["n": 9]).with { $0.precondition = ["n": 2] },
        .update("q\(count)", pk, ["n": 9]).with { $0.precondition = ["n": 7] },
        .update("e\(count)", pk),
      ]
    }
    for pk in ["hers", "gone", "never"] {
      let verdicts = try #require(await test.push(attempts(pk)).verdicts)
      #expect(verdicts.allSatisfy { $0.reason == "RLS_DENIED" && $0.serverRow == nil }, "\(pk)")
    }
    #expect(try await test.server.row("hers", in: "notes") == ["owner": "bob", "secret": "s", "n": 2])
    #expect(try await test.highMark == 4)
  }

  @Test("another's mutation id is neither told nor taken")
  func mutationIDs() async throws {
    let test = try await server()
    #expect(try await test.push([.update("b1", "hers")]).verdicts == [.rejected("b1", .rowDenied, serverRow: nil)])
    _ = try await test.push([.insert("a1", "mine", ["owner": "ann"])])
    let taken = try await test.push([.insert("a1", "theirs", ["owner": "bob"])], as: "bob")
    #expect(taken.verdicts == [.rejected("a1", .rowDenied, serverRow: nil)])
  }

  @Test("a user id is compared byte by byte")
  func canonicalForms() async throws {
    let test = try await TestServer(["notes": ServerTable(bucketColumn: "owner")])
    try await test.own("notes", "a", ["owner": "Zo\u{e9}"])
    // The same text to a reader, in other code points.
    let other = "Zoe\u{301}"
    #expect(try await test.pull([("notes", ["owner": "Zo\u{e9}"])], as: other).rows.isEmpty)
    #expect(try await test.verdict(.update("m1", "a", ["n": 1]), as: other) == "RLS_DENIED")
    #expect(try await test.pull([("notes", ["owner": "Zo\u{e9}"])], as: "Zo\u{e9}").rows.count == 1)
    #expect(
      await refusal { try await test.push([.insert("m2", "b", in: "note\u{73}\u{301}")]) } == .featureNotSupported)
  }

  @Test("columns that a role may not read are not told by rows, verdicts, conflicts, preconditions or params")
  func hiddenColumns() async throws {
    let test = try await server()
    let visible: [String: Value] = ["owner": "bob", "n": 2]
    let page = try await test.pull([("notes", ["owner": "bob"])], as: "bob", role: "guest")
    #expect(page.rows.map(\.row) == [visible])
    let guess = try await test.pull([("notes", ["owner": "bob", "secret": "s"])], as: "bob", role: "guest")
    #expect(guess.rows.isEmpty)
    let answer = try await test.push(
      [
        .update("g1", "hers", ["n": 3]).with { $0.precondition = ["secret": "s"] },
        .update("g2", "hers", ["secret": "x"]),
        .update("g3", "hers").with { $0.transforms = ["n": ["op": "increment", "by": 1]] },
      ], as: "bob", role: "guest")
    #expect(
      answer.verdicts == [
        .rejected("g1", .precondition, serverRow: visible), .rejected("g2", .columnDenied, serverRow: visible),
        .applied("g3", serverRow: ["owner": "bob", "n": 3]),
      ])
    #expect(try await test.server.row("hers", in: "notes") == ["owner": "bob", "secret": "s", "n": 3])
  }

  @Test("a client id belongs to the user who came with it first, where clients are registered")
  func clients() async throws {
    var configuration = ServerConfiguration(tables: ["notes": ServerTable()])
    configuration.registersClients = true
    let test = try await TestServer(configuration)
    func call(_ client: String?, as user: String) async -> TransportCode? {
      await refusal {
        try await test.server.push(
          PushRequest(clientID: client, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: []),
          as: Caller(userID: user))
      }
    }
    #expect(await call("c1", as: "ann") == nil)
    #expect(await call("c1", as: "bob") == .insufficientPrivilege)
    #expect(await call("c1", as: "ann") == nil)
    #expect(await call(nil, as: "bob") == nil)
    #expect(await call(String(repeating: "c", count: 300), as: "bob") == .invalidParameter)
    let pull = PullRequest(clientID: "c1", schemaVersion: 1, cursor: "0", limit: nil, buckets: [])
    #expect(await refusal { try await test.server.pull(pull, as: Caller(userID: "bob")) } == .insufficientPrivilege)
  }
}
