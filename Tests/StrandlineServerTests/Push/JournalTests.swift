import StrandlineServer
import StrandlineTestSupport
import Testing

@Suite("Conflict journal") struct JournalTests {
  private func conflict(_ column: String, _ loser: Value, _ winner: String, _ seq: String) -> PullAnswer.Conflict {
    PullAnswer.Conflict(
      table: "notes", pk: "a", column: column, loserValue: loser, winnerMutationID: winner, conflictMode: "arrival",
      winnerSeq: seq)
  }

  @Test("values that a push replaced are delivered with the row that replaced them")
  func conflicts() async throws {
    let test = try await TestServer(["notes": ServerTable(keepsJournal: true)])
    try await test.own("notes", "a", ["id": "a", "z": 1, "n": .null, "same": 2, "b": "old", "t": 1])
    let update = Mutation.update("m1", "a", ["z": 2, "n": 1, "same": .double(2), "b": "new", "fresh": 1]).with {
      $0.transforms = ["t": ["op": "increment", "by": 1]]
    }
    _ = try await test.push([update])
    let expected = [conflict("b", "old", "m1", "2"), conflict("z", 1, "m1", "2")]
    #expect(try await test.pull([("notes", [:])]).conflicts == expected)
    // Again whenever the row is, to everybody, its writer too.
    #expect(try await test.pull([("notes", [:])], as: "bob").conflicts == expected)
    #expect(try await test.pull([("notes", [:])], from: "2").conflicts == [])
    // Older entries are not shown, and the owner's writes record nothing.
    _ = try await test.push([.update("m2", "a", ["z": 3])])
    #expect(try await test.pull([("notes", [:])]).conflicts == [conflict("z", 2, "m2", "3")])
    try await test.own("notes", "a", ["z": 4])
    #expect(try await test.pull([("notes", [:])]).conflicts == [])
  }

  @Test("an insert over a live row records too, but no key column")
  func merge() async throws {
    let test = try await TestServer(["notes": ServerTable(keepsJournal: true)])
    try await test.own("notes", "7", ["id": "7", "n": 1])
    _ = try await test.push([.insert("m1", "7", ["id": 7, "n": 2])])
    #expect(try await test.pull([("notes", [:])]).conflicts.map(\.column) == ["n"])
  }

  @Test("two writes of one push: only what the last replaced")
  func twoWrites() async throws {
    let test = try await TestServer(["notes": ServerTable(keepsJournal: true)])
    try await test.own("notes", "a", ["n": 1, "k": 1])
    _ = try await test.push([.update("m1", "a", ["n": 2]), .update("m2", "a", ["k": 2])])
    #expect(try await test.pull([("notes", [:])]).conflicts == [conflict("k", 1, "m2", "3")])
  }

  @Test("entries that no page shows any more are not kept")
  func outdated() async throws {
    let directory = TemporaryDirectory()
    let storage = try await EmbeddedServerStorage.open(at: directory.path + "/server")
    let server = try await SyncServer(
      ServerConfiguration(tables: ["notes": ServerTable(keepsJournal: true)]), storage: storage)
    func push(_ mutations: [Mutation]) async throws {
      let request = PushRequest(
        clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: mutations)
      _ = try await server.push(request, as: Caller(userID: "ann"))
    }
    func columns(_ number: Int64) async throws -> [String] {
      try await storage.read { (state) throws(ServerStorageFailure) in
        try state.journal(of: RowID(table: "notes", pk: "a"), number: number).map(\.column)
      }
    }
    try await push([.insert("m1", "a", ["n": 1, "k": 1]), .update("m2", "a", ["n": 2]), .update("m3", "a", ["k": 2])])
    #expect(try await columns(2) == [])
    #expect(try await columns(3) == ["k"])
    try await push([.update("m4", "a", ["n": 3])])
    #expect(try await columns(3) == [])
    #expect(try await columns(4) == ["n"])
    try await push([.delete("m5", "a")])
    #expect(try await columns(4) == [])
    try await server.close()
  }

  @Test("nothing without the journal, and no column that the role may not read")
  func hidden() async throws {
    var table = ServerTable(keepsJournal: true)
    table.privileges = ["guest": ColumnPrivileges(readable: .allBut(["secret"]))]
    let test = try await TestServer(["notes": table, "plain": ServerTable()])
    try await test.own("notes", "a", ["n": 1, "secret": 1])
    try await test.own("plain", "a", ["n": 1])
    _ = try await test.push([.update("m1", "a", ["n": 2, "secret": 2]), .update("m2", "a", ["n": 2], in: "plain")])
    let page = try await test.pull([("notes", [:]), ("plain", [:])], role: "guest")
    #expect(page.conflicts == [conflict("n", 1, "m1", "3")])
    #expect(page.rows.first?.row == ["n": 2])
  }
}
