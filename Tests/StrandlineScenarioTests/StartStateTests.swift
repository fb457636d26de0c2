@_spi(Scenario) import StrandlineServer
import Testing

@testable import StrandlineScenario

@Suite("The start state of a transcript") struct StartStateTests {
  static let user = "3f9c6a1e-52d7-4c0b-8a44-7b1d90e2c6f5"

  static func transcript(_ steps: [Value]) throws -> Transcript {
    let json: Value = [
      "context": [
        "user_id": .string(user), "client_id": "b8e07d42-1a9f-4e63-9c2b-6d5f8a3071ce", "schema_version": 1,
        "server": ["tables": ["notes": ["bucket_column": "owner"]]],
      ],
      "steps": .array(steps),
    ]
    return try Transcript(MessageMember(json, ""))
  }

  static func row(_ pk: String, _ seq: Int64, owner: String = user) -> Value {
    ["table": "notes", "pk": .string(pk), "seq": .string(String(seq)), "row": ["owner": .string(owner)]]
  }

  static func pull(_ cursor: String, _ rows: [Value] = [], tombstones: [Value] = [], hasMore: Bool = false) -> Value {
    [
      "kind": "rpc", "rpc": "pull",
      "request": [
        "client_id": "c", "schema_version": 1, "cursor": "0",
        "buckets": [["table": "notes", "params": ["owner": .string(user)]]],
      ],
      "response": [
        "cursor": .string(cursor), "has_more": .bool(hasMore), "rows": .array(rows), "tombstones": .array(tombstones),
        "signal": .null,
      ],
    ]
  }

  static func upsert(_ pk: String, _ columns: Value = [:]) -> Value {
    ["kind": "server", "op": "upsert", "table": "notes", "pk": .string(pk), "columns": columns]
  }

  static func push(_ id: String, _ pk: String, _ columns: Value, verdict: String?) -> Value {
    let request: Value = [
      "client_id": "c", "schema_version": 1, "last_mutation_id": .null,
      "batch": [
        "atomic": false,
        "mutations": [
          ["mutation_id": .string(id), "table": "notes", "pk": .string(pk), "op": "update", "columns": columns]
        ],
      ],
    ]
    guard let verdict else { return ["kind": "fault", "fault": "drop-ack", "target": "push", "request": request] }
    var answer: [String: Value] = ["mutation_id": .string(id), "verdict": .string(verdict)]
    if verdict == "rejected" {
      answer["reason"] = "CONSTRAINT"
      answer["server_row"] = .null
    }
    return ["kind": "rpc", "rpc": "push", "request": request, "response": ["verdicts": [.object(answer)]]]
  }

  @Test("without a page that closes nothing was before the steps")
  func nothingBefore() throws {
    #expect(StartState(try Self.transcript([])).high == 0)
    let open = StartState(try Self.transcript([Self.pull("0:7", [Self.row("a", 7)], hasMore: true)]))
    #expect(open.high == 0 && open.rows.isEmpty && open.reapHorizon == 0)
  }

  @Test("what the steps did is taken from the high of the first closing cursor")
  func counting() throws {
    let own: Value = ["owner": .string(Self.user)]
    let start = StartState(
      try Self.transcript([
        Self.upsert("x", own), Self.push("m", "a", ["body": "b"], verdict: nil),
        Self.push("m", "a", ["body": "b"], verdict: "applied"), Self.push("n", "b", ["body": "b"], verdict: "rejected"),
        ["kind": "server", "op": "delete", "table": "notes", "pk": "x"],
        Self.pull("10", [Self.row("b", 4), Self.row("a", 9)]), Self.upsert("y", own),
        Self.pull("11", [Self.row("y", 11)]),
      ]))
    // Three changes: the upsert, the mutation that came twice, the deletion.
    #expect(start.high == 7)
    #expect(start.rows.map(\.pk) == ["b"])
    #expect(start.reapHorizon == 7)
  }

  @Test("a write that moves a row of the start state counts twice")
  func moves() throws {
    let start = StartState(
      try Self.transcript([
        Self.pull("0:5", [Self.row("a", 5)], hasMore: true), Self.upsert("a", ["owner": "somebody else"]),
        Self.pull("8", [Self.row("b", 6)]),
      ]))
    #expect(start.high == 6)
    #expect(start.rows.map(\.number) == [5, 6])
    #expect(start.reapHorizon == 4)
  }

  @Test(
    "tombstones of the history belong to the value that was asked for, and the horizon is the highest number not shown")
  func tombstones() throws {
    let gone: Value = ["table": "notes", "pk": "z", "seq": "3", "deleted_at": "2025-12-31T00:00:00.000Z"]
    let start = StartState(
      try Self.transcript([Self.pull("4", [Self.row("a", 1), Self.row("b", 4)], tombstones: [gone])]))
    #expect(start.high == 4)
    #expect(start.tombstones.map(\.bucket) == [Self.user])
    #expect(start.tombstones.map(\.number) == [3])
    #expect(start.reapHorizon == 2)
    let full = StartState(
      try Self.transcript([Self.pull("2", [Self.row("a", 1), Self.row("b", 2)], tombstones: [])]))
    #expect(full.reapHorizon == 0)
  }
}
