import StrandlineServer
import Testing

@Suite("Conflicts by stamps") struct HybridConflictTests {
  private func server(keepsJournal: Bool = false) async throws -> TestServer {
    try await TestServer(["notes": ServerTable(conflictMode: .hlc, keepsJournal: keepsJournal)])
  }

  private func stamp(_ second: Int, _ counter: Int = 0, _ node: String = "n") -> String {
    "2026-01-01T00:00:\(second < 10 ? "0" : "")\(second).000Z|\(counter)|\(node)"
  }

  private func update(_ id: String, _ columns: [String: Value], _ hlc: String) -> Mutation {
    .update(id, "a", columns).with { $0.hlc = hlc }
  }

  @Test("the greater stamp wins a column, whenever it comes; equal loses")
  func order() async throws {
    let test = try await server()
    let insert = Mutation.insert("m1", "a", ["n": 1]).with { $0.hlc = stamp(2, 9, "b") }
    #expect(try await test.verdict(insert) == "applied")
    #expect(try await test.verdict(update("m2", ["n": 2], stamp(1, 99, "z"))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m3", ["n": 2], stamp(2, 8, "z"))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m4", ["n": 2], stamp(2, 9, "a"))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m5", ["n": 2], stamp(2, 9, "b"))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m6", ["n": 3], stamp(2, 9, "c"))) == "applied")
    // The counter is a number.
    #expect(try await test.verdict(update("m7", ["n": 4], stamp(2, 10, "a"))) == "applied")
    #expect(try await test.server.row("a", in: "notes") == ["n": 4])
  }

  @Test("some winners are enough; losers are left, with their stamps")
  func partialWinners() async throws {
    let test = try await server(keepsJournal: true)
    try await test.own("notes", "a", ["n": 1, "m": 1], hlc: stamp(3))
    try await test.own("notes", "a", ["k": 1], hlc: stamp(1))
    #expect(try await test.verdict(update("m1", ["n": 2, "k": 2, "new": 2], stamp(2))) == "applied")
    #expect(try await test.server.row("a", in: "notes") == ["n": 1, "m": 1, "k": 2, "new": 2])
    #expect(try await test.verdict(update("m2", ["k": 3, "new": 3], stamp(2))) == "SUPERSEDED")
    // The losing column is not in the journal.
    let page = try await test.pull([("notes", [:])])
    #expect(page.conflicts.map(\.column) == ["k"])
    #expect(page.conflicts.first?.conflictMode == "hlc")
  }

  @Test("a stamp from more than five seconds ahead counts as one from there")
  func clamp() async throws {
    let test = try await server()
    try await test.own("notes", "a", [:])
    #expect(try await test.verdict(update("m1", ["n": 1], "2999-01-01T00:00:00.000Z|7|far")) == "applied")
    #expect(try await test.verdict(update("m2", ["n": 2], stamp(4, 99, "z"))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m3", ["n": 2], stamp(5, 7, "faq"))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m4", ["n": 2], stamp(5, 7, "fas"))) == "applied")
    // Exactly five seconds are kept as they are.
    #expect(try await test.verdict(update("m5", ["k": 1], stamp(5, 1))) == "applied")
    #expect(try await test.verdict(update("m6", ["k": 2], stamp(5, 2))) == "applied")
    test.advance(by: .seconds(10))
    #expect(try await test.verdict(update("m7", ["n": 3], stamp(6))) == "applied")
  }

  @Test("the owner's stamp is taken as it is; without one no stamp changes")
  func owner() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["n": 1], hlc: "2026-01-01T01:00:00.000Z|0|owner")
    #expect(try await test.verdict(update("m1", ["n": 2], stamp(5))) == "SUPERSEDED")
    try await test.own("notes", "a", ["n": 3])
    try await test.own("notes", "a", ["n": 4], hlc: stamp(1))
    #expect(try await test.verdict(update("m2", ["n": 5], stamp(2))) == "applied")
  }

  @Test("transforms run without stamps, also when every column loses")
  func transforms() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["n": 1, "k": 1], hlc: stamp(3))
    let mutation = update("m1", ["n": 2], stamp(1)).with { $0.transforms = ["k": ["op": "increment", "by": 5]] }
    #expect(try await test.push([mutation]).verdicts == [.applied("m1", serverRow: ["n": 1, "k": 6])])
    // The transform left no stamp of its own.
    #expect(try await test.verdict(update("m2", ["k": 0], stamp(3))) == "SUPERSEDED")
    #expect(try await test.verdict(update("m3", ["k": 0], stamp(4))) == "applied")
  }

  @Test("stamps go with their row")
  func stampsGo() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["n": 1], hlc: "2026-01-02T00:00:00.000Z|0|owner")
    try await test.ownDelete("notes", "a")
    try await test.own("notes", "a", ["n": 2])
    #expect(try await test.verdict(update("m1", ["n": 3], stamp(0))) == "applied")
  }

  @Test("an insert over a live row compares per column")
  func merge() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["n": 1, "k": 1], hlc: stamp(3))
    let insert = Mutation.insert("m1", "a", ["n": 2, "new": 2]).with { $0.hlc = stamp(2) }
    #expect(try await test.verdict(insert) == "applied")
    #expect(try await test.server.row("a", in: "notes") == ["n": 1, "k": 1, "new": 2])
    let loser = Mutation.insert("m2", "a", ["n": 2]).with { $0.hlc = stamp(2) }
    #expect(try await test.verdict(loser) == "SUPERSEDED")
  }
}
