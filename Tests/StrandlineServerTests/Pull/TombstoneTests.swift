import StrandlineServer
import Testing

@Suite("Tombstones, bucket moves and reaping") struct TombstoneTests {
  private static let table = ServerTable(bucketColumn: "owner", policy: .open)
  private static let ann: [(String, [String: Value])] = [("notes", ["owner": "ann"])]
  private static let both: [(String, [String: Value])] = [("notes", ["owner": "ann"]), ("notes", ["owner": "bob"])]

  private func server(_ table: ServerTable = Self.table) async throws -> TestServer {
    try await TestServer(["notes": table])
  }

  @Test("a tombstone goes to who was sent rows of its bucket, from the next page on")
  func grants() async throws {
    let test = try await server()
    for pk in ["a", "b", "c"] { try await test.own("notes", pk, ["owner": "ann"]) }
    try await test.ownDelete("notes", "a")
    // A first page from the start carries none, its continuation does.
    let first = try await test.pull(Self.ann, limit: 1)
    #expect(first.summary == ["b@2"] && first.cursor == "0:2")
    #expect(try await test.pull(Self.ann, from: first.cursor).summary == ["c@3", "-a@4"])
    // Another user has no grant, one who knows another bucket neither.
    #expect(try await test.pull(Self.ann, from: "3", as: "eve").summary == [])
    #expect(try await test.pull(Self.ann, from: "3").summary == ["-a@4"])
  }

  @Test("what a tombstone tells")
  func content() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "secret": 1])
    _ = try await test.pull(Self.ann)
    test.advance(by: .milliseconds(1234))
    #expect(try await test.verdict(.delete("m1", "a")) == "applied")
    #expect(
      try await test.pull(Self.ann, from: "1")
        == PullAnswer(
          cursor: "2",
          tombstones: [.init(table: "notes", pk: "a", seq: "2", deletedAt: "2026-01-01T00:00:01.234Z")]))
  }

  @Test("a move draws two numbers: who pulls both values keeps the row, who pulls the old one loses it")
  func move() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": "ann", "n": 1])
    _ = try await test.pull(Self.ann)
    _ = try await test.pull(Self.both, as: "eve")
    #expect(try await test.verdict(.update("m1", "a", ["owner": "bob"])) == "applied")
    #expect(try await test.highMark == 3)
    #expect(try await test.pull(Self.ann, from: "1").summary == ["-a@2"])
    let kept = try await test.pull(Self.both, from: "1", as: "eve")
    #expect(kept.summary == ["a@3"])
    #expect(kept.rows.first?.row == ["owner": "bob", "n": 1])
    // Back again: a later tombstone of one value takes the place of the earlier.
    try await test.own("notes", "a", ["owner": "ann"])
    #expect(try await test.pull(Self.ann, from: "1").summary == ["a@5"])
    try await test.own("notes", "a", ["owner": "bob"])
    #expect(try await test.pull(Self.ann, from: "1").summary == ["-a@6"])
  }

  @Test("a move and a later delete keep one tombstone each")
  func moveAndDelete() async throws {
    let test = try await server()
    try await test.own("notes", "x", ["owner": "bob"])
    try await test.own("notes", "a", ["owner": "ann"])
    _ = try await test.pull(Self.both)
    try await test.own("notes", "a", ["owner": "bob"])
    try await test.ownDelete("notes", "a")
    #expect(try await test.pull(Self.both, from: "2").summary == ["-a@3", "-a@5"])
    // The newest one decides about a write.
    #expect(try await test.verdict(.update("m1", "a", ["n": 1])) == "DELETE_WINS")
  }

  @Test("to null and from null are moves; a write of the same text is none")
  func moveToNull() async throws {
    let test = try await server()
    try await test.own("notes", "a", ["owner": 7])
    _ = try await test.pull([("notes", ["owner": 7])])
    try await test.own("notes", "a", ["owner": "7"])
    #expect(try await test.highMark == 2)
    try await test.own("notes", "a", ["owner": .null])
    #expect(try await test.highMark == 4)
    #expect(try await test.pull([("notes", ["owner": "7"])], from: "2").summary == ["-a@3"])
    #expect(try await test.pull([("notes", ["owner": ""])], from: "0").summary == [])
    try await test.own("notes", "a", ["owner": "7"])
    #expect(try await test.highMark == 6)
    #expect(try await test.pull([("notes", ["owner": "7"])], from: "2").summary == ["a@6"])
  }

  @Test("a row that moved is decided by the policy like any row")
  func movedRow() async throws {
    let test = try await server(ServerTable(bucketColumn: "owner"))
    try await test.own("notes", "a", ["owner": "ann"])
    _ = try await test.pull(Self.ann)
    try await test.own("notes", "a", ["owner": "bob"])
    #expect(try await test.verdict(.update("m1", "a", ["n": 1])) == "RLS_DENIED")
    #expect(try await test.verdict(.update("m2", "a", ["n": 1]), as: "bob") == "applied")
  }

  @Test("a verdict that tells a row is a delivery")
  func verdictGrants() async throws {
    let test = try await server(ServerTable())
    try await test.own("notes", "a", ["n": 1])
    let rejected = Mutation.update("m1", "a", ["n": 2]).with { $0.precondition = ["n": 9] }
    #expect(try await test.verdict(rejected) == "PRECONDITION")
    try await test.ownDelete("notes", "a")
    #expect(try await test.pull([("notes", [:])]).summary == ["-a@2"])
    #expect(try await test.pull([("notes", [:])], as: "eve").summary == [])
  }

  @Test("the deletion of an absent row by the owner draws nothing")
  func absentDelete() async throws {
    let test = try await server()
    try await test.ownDelete("notes", "a")
    #expect(try await test.highMark == 0)
    #expect(try await test.verdict(.insert("m1", "a", ["owner": "ann"])) == "applied")
  }

  @Test("tombstones older than their retention go, and the horizon rises")
  func reaping() async throws {
    var configuration = ServerConfiguration(tables: [
      "notes": ServerTable(), "short": ServerTable(tombstoneRetention: .days(1)),
    ])
    configuration.tombstoneRetention = .days(3)
    let test = try await TestServer(configuration)
    for table in ["notes", "short"] {
      for pk in ["a", "b"] { try await test.own(table, pk, [:]) }
      try await test.ownDelete(table, "a")
    }
    _ = try await test.pull([("notes", [:]), ("short", [:])])
    test.advance(by: .days(1))
    #expect(try await test.server.reap() == ReapReport())
    test.advance(by: .milliseconds(1))
    var report = try await test.server.reap()
    #expect(report.tombstoneCount == 1 && report.reapHorizon == 6)
    #expect(try await test.pull([("notes", [:])], from: "5").signal == "CHECKPOINT_EXPIRED")
    #expect(try await test.pull([("short", [:])], from: "6").summary == [])
    // The row counts as never having been, and the grant stays.
    #expect(try await test.verdict(.update("m1", "a", ["n": 1], in: "short")) == "RLS_DENIED")
    #expect(try await test.verdict(.insert("m2", "a", in: "short")) == "applied")
    #expect(try await test.verdict(.delete("m3", "a", in: "short")) == "applied")
    #expect(try await test.pull([("short", [:])], from: "6").summary == ["-a@8"])
    test.advance(by: .days(2))
    report = try await test.server.reap()
    #expect(report.tombstoneCount == 2 && report.reapHorizon == 8)
    // A horizon is never lowered, and nothing is drawn.
    #expect(try await test.server.reap(.allTombstones).reapHorizon == 8)
    #expect(try await test.highMark == 8)
  }
}
