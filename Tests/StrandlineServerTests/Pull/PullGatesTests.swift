import StrandlineServer
import Testing

@Suite("Gates of a pull") struct PullGatesTests {
  private func server(_ change: (inout ServerConfiguration) -> Void = { _ in }) async throws -> TestServer {
    var configuration = ServerConfiguration(tables: [
      "notes": ServerTable(bucketColumn: "owner", schemaVersionMin: 2), "shared": ServerTable(schemaVersionMin: 1),
      "strict": ServerTable(schemaVersionMin: 7),
    ])
    change(&configuration)
    return try await TestServer(configuration)
  }

  @Test("each gate in front of the next")
  func order() async throws {
    let test = try await server { $0.limits.bucketEntryCountMax = 2 }
    try await test.own("shared", "a", [:])
    try await test.ownDelete("shared", "a")
    try await test.server.reap(.allTombstones)
    let unscoped: [(String, [String: Value])] = [("notes", ["other": 1])]
    // 1: limit and number of entries
    #expect(await refusal { try await test.pull(unscoped, from: "x", limit: 0, version: 0) } == .invalidParameter)
    #expect(await refusal { try await test.pull(unscoped, from: "x", limit: -1, version: 0) } == .invalidParameter)
    #expect(
      await refusal { try await test.pull(unscoped + unscoped + unscoped, from: "x", version: 0) } == .invalidParameter)
    // 2: schema
    let gated = PullAnswer(cursor: "x", signal: "RESET_REQUIRED")
    #expect(try await test.pull(unscoped, from: "x", version: 1) == gated)
    #expect(try await test.pull(unscoped, from: "x", version: nil) == gated)
    // 3: scope
    #expect(await refusal { try await test.pull(unscoped, from: "x", version: 2) } == .unscopedPull)
    // 4: cursor
    #expect(await refusal { try await test.pull([("shared", [:])], from: "x") } == .invalidParameter)
    #expect(await refusal { try await test.pull([("shared", [:])], from: "") } == .invalidParameter)
    // 5: expiry
    #expect(
      try await test.pull([("shared", [:])], from: "1") == PullAnswer(cursor: "1", signal: "CHECKPOINT_EXPIRED"))
    #expect(try await test.pull([("shared", [:])], from: "2") == PullAnswer(cursor: "2"))
  }

  @Test("the schema gate goes by the tables named, and by all when none is known")
  func schemaGate() async throws {
    let test = try await server()
    func signal(_ tables: [String], _ version: Int64) async throws -> String? {
      try await test.pull(tables.map { ($0, ["owner": "ann"]) }, version: version).signal
    }
    #expect(try await signal(["shared"], 1) == nil)
    #expect(try await signal(["shared", "notes"], 1) == "RESET_REQUIRED")
    #expect(try await signal(["shared", "notes"], 2) == nil)
    #expect(try await signal(["shared", "unknown"], 1) == nil)
    #expect(try await signal(["unknown"], 6) == "RESET_REQUIRED")
    #expect(try await signal([], 6) == "RESET_REQUIRED")
    #expect(try await signal([], 7) == nil)
  }

  @Test("a refused scope names table and column")
  func unscopedMessage() async throws {
    let test = try await server()
    do {
      _ = try await test.pull([("shared", [:]), ("notes", [:])], version: 9)
      Issue.record("it was answered")
    } catch {
      #expect(error.message.contains("\"notes\"") && error.message.contains("\"owner\""))
    }
    // To name the column with a value that has no text asks for nothing.
    try await test.own("notes", "a", ["owner": .null])
    #expect(try await test.pull([("notes", ["owner": .null])], version: 9) == PullAnswer(cursor: "1"))
  }

  @Test(
    "expiry goes by the start of a transfer, else by the high; a transfer from the start never expires",
    arguments: [
      ("0", nil), ("0:3", nil), ("0:1", nil), ("1", "E"), ("1:9", "E"), ("9:1", nil), ("4", nil), ("3", "E"),
      ("4:1", nil), ("3:4", "E"),
    ] as [(String, String?)])
  func expiry(_ cursor: String, _ expected: String?) async throws {
    let test = try await server()
    for pk in ["a", "b"] {
      try await test.own("shared", pk, [:])
      try await test.ownDelete("shared", pk)
    }
    try await test.server.reap(.allTombstones)
    let answer = try await test.pull([("shared", [:])], from: cursor)
    #expect(answer.signal == expected.map { _ in "CHECKPOINT_EXPIRED" })
    if expected != nil { #expect(answer == PullAnswer(cursor: cursor, signal: "CHECKPOINT_EXPIRED")) }
  }

  @Test("tables that the server does not know ask for nothing, and are named beside the answer")
  func unknownTables() async throws {
    let test = try await server()
    let request = PullRequest(
      clientID: nil, schemaVersion: 9, cursor: "0", limit: nil,
      buckets: ["x", "shared", "y", "x"].map { PullRequest.Bucket(table: $0, params: [:]) })
    let answer = try await test.server.pull(request, as: Caller(userID: "ann"))
    #expect(answer.body == PullAnswer(cursor: "0"))
    #expect(answer.notes.unknownTables == ["x", "y"])
  }

  @Test("a role that may not call, and a user id that no storage takes")
  func roles() async throws {
    let test = try await server { $0.allowedRoles = ["authenticated"] }
    #expect(await refusal { try await test.pull([], role: "anon", version: 9) } == .insufficientPrivilege)
    #expect(await refusal { try await test.push([], role: "anon", version: 9) } == .insufficientPrivilege)
    #expect(await refusal { try await test.pull([], as: "", version: 9) } == .insufficientPrivilege)
    let long = String(repeating: "x", count: 257)
    #expect(await refusal { try await test.push([], as: long, version: 9) } == .insufficientPrivilege)
  }
}
