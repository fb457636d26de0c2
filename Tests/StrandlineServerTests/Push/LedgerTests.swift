import StrandlineServer
import Testing

@Suite("Verdict ledger") struct LedgerTests {
  @Test("a known id is answered as it was, and nothing is done")
  func replay() async throws {
    let test = try await TestServer(["notes": ServerTable(bucketColumn: "owner")])
    let first = try await test.push([
      .insert("m1", "a", ["owner": "ann", "n": 1]), .update("m2", "a", ["owner": "bob"]),
      .update("m3", "a").with { $0.transforms = ["n": ["op": "increment", "by": 1]] },
    ])
    #expect(
      first.verdicts == [
        .applied("m1"), .rejected("m2", .rowDenied, serverRow: ["owner": "ann", "n": 1]),
        .applied("m3", serverRow: ["owner": "ann", "n": 2]),
      ])
    try await test.own("notes", "a", ["k": true])
    // Other content under the same ids changes nothing.
    let again = try await test.push([
      .delete("m1", "a"), .update("m2", "zzz", ["n": 9]), .insert("m3", "zzz", ["owner": "ann"]),
    ])
    let row: [String: Value] = ["owner": "ann", "n": 2, "k": true]
    #expect(
      again.verdicts == [
        .applied("m1"), .rejected("m2", .rowDenied, serverRow: row), .applied("m3", serverRow: row),
      ])
    #expect(try await test.highMark == 3)
    try await test.ownDelete("notes", "a")
    let gone = try await test.push([.update("m2", "a"), .update("m3", "a")])
    #expect(gone.verdicts == [.rejected("m2", .rowDenied, serverRow: nil), .applied("m3", serverRow: nil)])
  }

  @Test("an id twice in one push is decided once")
  func twiceInOnePush() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    let answer = try await test.push([
      .insert("m1", "a", ["n": 1]), .insert("m1", "a", ["n": 2]), .delete("m2", "a"), .delete("m2", "a"),
    ])
    #expect(answer.verdicts == [.applied("m1"), .applied("m1"), .applied("m2"), .applied("m2")])
    #expect(try await test.highMark == 2)
  }

  @Test("to another user a known id is a refusal that tells nothing")
  func otherUser() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    _ = try await test.push([.insert("m1", "a", ["n": 1])])
    #expect(
      try await test.push([.insert("m1", "b", ["n": 2])], as: "bob").verdicts == [
        .rejected("m1", .rowDenied, serverRow: nil)
      ])
    #expect(try await test.server.row("b", in: "notes") == nil)
    // Nothing was recorded either.
    #expect(try await test.push([.insert("m1", "a")]).verdicts == [.applied("m1")])
  }

  @Test("verdicts go after their time, but never before tombstones do")
  func retention() async throws {
    var configuration = ServerConfiguration(tables: ["notes": ServerTable()])
    configuration.verdictRetention = .days(1)
    configuration.tombstoneRetention = .days(10)
    let test = try await TestServer(configuration)
    let increment = Mutation.update("m1", "a").with { $0.transforms = ["n": ["op": "increment", "by": 1]] }
    try await test.own("notes", "a", [:])
    #expect(try await test.verdict(increment) == "applied")
    test.advance(by: .days(10))
    try await test.server.reap()
    #expect(try await test.verdict(increment) == "applied")
    #expect(try await test.server.row("a", in: "notes") == ["n": 1])
    test.advance(by: .seconds(1))
    #expect(try await test.server.reap().verdictCount == 1)
    #expect(try await test.verdict(increment) == "applied")
    #expect(try await test.server.row("a", in: "notes") == ["n": 2])
  }
}
