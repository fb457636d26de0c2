import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct VerdictTests {
  /// A client with the server's row p1.
  private func client(_ row: [String: Value] = ["title": "server", "likes": 0]) async throws -> TestClient {
    let test = try await TestClient.open()
    try await test.client.seedRow(row, table: "todos", pk: "p1", seq: "1")
    return test
  }

  private func push(_ test: TestClient, _ verdicts: PushAnswer.Verdict...) async throws {
    test.remote.script(pushes: [.answer(PushAnswer(verdicts: verdicts))])
    try await test.client.pushOnce()
  }

  @Test func `the request carries exactly what the writes named`() async throws {
    let test = try await TestClient.open()
    try await test.client.apply(
      .insert, to: "todos", pk: "p1", columns: ["title": "a"], mutationID: "m1", precondition: ["v": 1])
    try await test.update("p1", transforms: ["likes": ["op": "increment", "by": 1]], id: "m2")
    try await test.delete("p1", id: "m3")
    try await test.client.pushOnce()
    let id = try await test.client.inspect().clientID ?? ""
    let first: Value = [
      "client_id": .string(id), "schema_version": 1, "last_mutation_id": .null,
      "batch": [
        "atomic": false,
        "mutations": [
          [
            "mutation_id": "m1", "table": "todos", "pk": "p1", "op": "insert", "columns": ["title": "a"],
            "precondition": ["v": 1],
          ],
          [
            "mutation_id": "m2", "table": "todos", "pk": "p1", "op": "update", "columns": [:],
            "transforms": ["likes": ["op": "increment", "by": 1]],
          ],
          ["mutation_id": "m3", "table": "todos", "pk": "p1", "op": "delete", "columns": [:]],
        ],
      ],
    ]
    #expect(test.remote.pushRequests[0].json == first)
    try await test.insert("p2", id: "m4")
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[1].lastMutationID == "m3")
  }

  @Test func `an empty queue makes no request`() async throws {
    let test = try await TestClient.open()
    try await test.client.pushOnce()
    #expect(test.remote.requestCount == 0)
  }

  @Test func `a rejected insert without a row goes and leaves a shadow, which a later pull clears`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p2", ["title": "mine"], id: "m1")
    try await push(test, .rejected("m1", .rowDenied, serverRow: nil))
    #expect(try await test.columns("p2") == nil)
    #expect(try await test.shadows() == ["todos/p2"])
    let journal = try await test.client.rejections()
    #expect(journal.map(\.kind) == [.rejected] && journal[0].reason == "RLS_DENIED")
    #expect(journal[0].changedColumns == ["title"] && journal[0].serverRow == nil && journal[0].serverRowJSON == "")
    #expect(
      await test.eventNames() == ["LOCAL_CHANGED", "QUEUE_DEPTH", "MUTATION_REJECTED", "LOCAL_CHANGED"])
    test.remote.script(pulls: [.answer(.page("5", ["p2": ["title": "peer"]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p2") == ["title": "peer"])
    #expect(try await test.shadows().isEmpty)
  }

  @Test func `a rejected write with a row makes it exactly that row`() async throws {
    let test = try await client()
    try await test.update("p1", ["title": "mine", "extra": 1], id: "m1")
    try await push(test, .rejected("m1", .superseded, serverRow: ["title": "theirs"]))
    #expect(try await test.columns("p1") == ["title": "theirs"])
    let journal = try await test.client.rejections()
    #expect(journal.map(\.kind) == [.superseded])
    #expect(journal[0].changedColumns == ["extra", "title"])
    #expect(journal[0].serverRowJSON == "{\"title\":\"theirs\"}")
  }

  @Test func `a rejected delete brings the server's row back`() async throws {
    let test = try await client()
    try await test.delete("p1", id: "m1")
    try await push(test, .rejected("m1", .precondition, serverRow: ["title": "kept"]))
    #expect(try await test.columns("p1") == ["title": "kept"])
    #expect(try await test.shadows().isEmpty)
    #expect(try await test.client.rejections()[0].changedColumns.isEmpty)
  }

  @Test func `a write applied behind one that reset its row is laid back over it`() async throws {
    let test = try await client()
    try await test.update("p1", ["title": "one"], id: "m1")
    try await test.update("p1", ["done": true], id: "m2")
    try await push(test, .rejected("m1", .constraint, serverRow: ["title": "server", "likes": 3]), .applied("m2"))
    #expect(try await test.columns("p1") == ["title": "server", "likes": 3, "done": true])
  }

  @Test func `a write applied in front of one that resets its row is not laid again`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["likes": 0], id: "m1")
    try await test.update("p1", transforms: ["likes": ["op": "increment", "by": 1]], id: "m2")
    try await push(test, .applied("m1"), .applied("m2", serverRow: ["likes": 1]))
    #expect(try await test.columns("p1") == ["likes": 1])
    #expect(try await test.client.liveRows()[0].seq == "0")
  }

  @Test func `a write that lands during a push is laid over the rows that the push brought`() async throws {
    let test = try await client()
    try await test.update("p1", ["title": "one"], id: "m1")
    let door = Door()
    test.remote.script(pushes: [
      .held(door, PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: ["title": "server", "likes": 7])]))
    ])
    async let pushed: Void = test.client.pushOnce()
    await door.reached()
    try await test.update("p1", transforms: ["likes": ["op": "increment", "by": 2]], id: "m2")
    door.open()
    try await pushed
    #expect(try await test.columns("p1") == ["title": "server", "likes": 9])
    #expect(try await test.client.outboxDepth() == 1)
  }

  @Test func `five offline writes with mixed verdicts end as the server says`() async throws {
    let test = try await client()
    try await test.insert("p2", ["title": "a"], id: "m1")
    try await test.insert("p3", ["title": "b"], id: "m2")
    try await test.update("p2", ["title": "c"], id: "m3")
    try await test.update("p3", ["title": "d"], id: "m4")
    try await test.update("p1", ["title": "e"], id: "m5")
    try await push(
      test, .applied("m1"), .applied("m2"), .rejected("m3", .rowDenied, serverRow: nil), .applied("m4"),
      .rejected("m5", .columnDenied, serverRow: ["title": "server"]))
    #expect(try await test.columns("p2") == nil)
    #expect(try await test.columns("p3") == ["title": "d"])
    #expect(try await test.columns("p1") == ["title": "server"])
    #expect(try await test.shadows() == ["todos/p2"])
    #expect(try await test.client.rejections().map(\.mutationID) == ["m5", "m3"])
    #expect(try await test.client.inspect().lastMutationID == "m4")
    #expect(
      await test.eventNames().filter { $0 != "LOCAL_CHANGED" }
        == Array(repeating: "QUEUE_DEPTH", count: 5) + Array(repeating: "MUTATION_REJECTED", count: 2))
  }

  @Test func `an insert over a shadow that is applied shows the row and keeps the shadow`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedShadow(table: "todos", pk: "p1", seq: "4")
    try await test.insert("p1", ["title": "a"], id: "m1")
    try await push(test, .applied("m1"))
    #expect(try await test.columns("p1") == ["title": "a"])
    #expect(try await test.shadows() == ["todos/p1"])
  }

  @Test func `a delete of an absent row, applied and rejected`() async throws {
    let test = try await TestClient.open()
    try await test.delete("p1", id: "m1")
    try await push(test, .applied("m1"))
    #expect(try await test.shadows() == ["todos/p1"])
    try await test.delete("p2", id: "m2")
    try await push(test, .rejected("m2", .precondition, serverRow: ["title": "there"]))
    #expect(try await test.columns("p2") == ["title": "there"])
  }

  @Test func `after a lost answer the same mutation goes out again`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "m1")
    test.remote.script(pushes: [.failure(ScriptedRemote.offline), .applied])
    #expect(await code { try await test.client.pushOnce() } == .remote)
    #expect(try await test.client.outboxDepth() == 1)
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests.map { $0.mutations.map(\.id) } == [["m1"], ["m1"]])
    #expect(try await test.client.outboxDepth() == 0)
  }

  // MARK: Old verdicts

  /// The server applied m1 long ago, and others have written since; the answer was lost, and the row was pulled before m1 went out again.
  private func clientOfLostAnswer(
    _ write: (TestClient) async throws -> Void, pulled: PullAnswer
  ) async throws -> TestClient {
    let test = try await client()
    try await write(test)
    test.remote.script(pulls: [.answer(pulled)], pushes: [.failure(ScriptedRemote.offline), .applied])
    #expect(await code { try await test.client.pushOnce() } == .remote)
    try await test.client.pullOnce()
    return test
  }

  @Test func `a write shows after an old verdict until a pull tells that it was overwritten`() async throws {
    let test = try await clientOfLostAnswer(
      { try await $0.update("p1", ["title": "mine"], id: "m1") },
      pulled: .page("3", ["p1": ["title": "theirs", "likes": 1]]))
    #expect(try await test.columns("p1") == ["title": "mine", "likes": 1])
    try await test.client.pushOnce()
    #expect(try await test.columns("p1") == ["title": "mine", "likes": 1])
    try await test.update("p1", ["likes": 2], id: "m2")
    test.remote.script(pulls: [.answer(.page("4"))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "theirs", "likes": 2])
    try await push(test, .rejected("m2", .constraint, serverRow: ["title": "theirs", "likes": 1]))
    test.remote.script(pulls: [.answer(.page("4"))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "theirs", "likes": 1])
  }

  @Test func `a write stays after a verdict where the next pull brings it`() async throws {
    let test = try await clientOfLostAnswer(
      { try await $0.update("p1", ["title": "mine"], id: "m1") }, pulled: .page("3", ["p1": ["title": "theirs"]]))
    try await test.client.pushOnce()
    test.remote.script(pulls: [.answer(.page("4", ["p1": ["title": "mine", "likes": 7]])), .answer(.page("5"))])
    for _ in 1...2 {
      try await test.client.pullOnce()
      #expect(try await test.columns("p1") == ["title": "mine", "likes": 7])
    }
  }

  @Test func `a delete, applied long ago, gives way to the row that came after it`() async throws {
    let test = try await clientOfLostAnswer(
      { try await $0.delete("p1", id: "m1") }, pulled: .page("3", ["p1": ["title": "again"]]))
    try await test.client.pushOnce()
    #expect(try await test.columns("p1") == nil)
    test.remote.script(pulls: [.answer(.page("3"))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "again"])
    #expect(try await test.shadows().isEmpty)
  }

  @Test func `a delete that a pull brings back keeps the server's tombstone`() async throws {
    let test = try await clientOfLostAnswer(
      { try await $0.delete("p1", id: "m1") }, pulled: .page("3", gone: ["p1"]))
    try await test.client.pushOnce()
    test.remote.script(pulls: [.answer(.page("3"))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == nil)
    #expect(try await test.shadows() == ["todos/p1"])
  }

  @Test func `a write that had not been sent when its row was pulled stays as it is`() async throws {
    let test = try await client()
    try await test.update("p1", ["title": "mine"], id: "m1")
    test.remote.script(
      pulls: [.answer(.page("3", ["p1": ["title": "theirs"]])), .answer(.page("3"))], pushes: [.applied])
    try await test.client.pullOnce()
    try await test.client.pushOnce()
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "mine"])
  }

  @Test func `an operation that there is not refuses push and overlay, and stays`() async throws {
    let test = try await client()
    try await test.insert("p2", id: "m1")
    try await test.update("p1", ["title": "x"], id: "m2")
    var row = try #require(try await test.client.stateRows(of: "strandline.outbox").last)
    row["op"] = "merge"
    try await test.client.plant(row, in: "strandline.outbox")
    #expect(await code { try await test.client.pushOnce() } == .unknownOperation)
    test.remote.script(pulls: [.answer(.page("2", ["p1": ["title": "new"]]))])
    #expect(await code { try await test.client.pullOnce() } == .unknownOperation)
    #expect(try await test.client.outboxDepth() == 2)
    #expect(try await test.client.checkpoint().cursor == "0")
  }

  // MARK: Guards

  private struct Wrong: Sendable {
    var name: String
    var answer: PushAnswer
    var code: SyncErrorCode
    var isBatch = false
  }

  private static func answer(_ change: (inout PushAnswer) -> Void) -> PushAnswer {
    var answer = PushAnswer(verdicts: [])
    answer.verdicts = nil
    change(&answer)
    return answer
  }

  private static func abort(
    outcome: String = "aborted", reason: String = "CONSTRAINT", offender: String = "m1"
  ) -> PushAnswer {
    PushAnswer(
      abort: PushAnswer.Abort(outcome: outcome, offenderMutationID: offender, reason: reason, serverRow: nil))
  }

  private static let wrong: [Wrong] = [
    Wrong(name: "no arm", answer: answer { _ in }, code: .malformedPushResponse),
    Wrong(name: "abort of no batch", answer: abort(), code: .malformedPushResponse),
    Wrong(name: "abort of no batch, unknown outcome", answer: abort(outcome: "x"), code: .malformedPushResponse),
    Wrong(name: "outcome", answer: abort(outcome: "applied", reason: "?"), code: .malformedPushResponse, isBatch: true),
    Wrong(name: "reason", answer: abort(reason: "?", offender: "m9"), code: .unknownVerdictReason, isBatch: true),
    Wrong(name: "offender", answer: abort(offender: "m9"), code: .unknownBatchOffender, isBatch: true),
    Wrong(name: "signal", answer: answer { $0.signal = "HELLO" }, code: .unknownSignal),
    Wrong(name: "pull's signal", answer: answer { $0.signal = "CHECKPOINT_EXPIRED" }, code: .unknownSignal),
    Wrong(
      name: "signal before verdicts",
      answer: answer {
        $0.signal = ""
        $0.verdicts = [.applied("m1"), .applied("m2")]
      }, code: .unknownSignal),
    Wrong(name: "missing", answer: PushAnswer(verdicts: [.applied("m1")]), code: .verdictBijection),
    Wrong(
      name: "extra", answer: PushAnswer(verdicts: [.applied("m1"), .applied("m2"), .applied("m3")]),
      code: .verdictBijection),
    Wrong(name: "duplicate", answer: PushAnswer(verdicts: [.applied("m1"), .applied("m1")]), code: .verdictBijection),
    Wrong(name: "swapped", answer: PushAnswer(verdicts: [.applied("m2"), .applied("m1")]), code: .verdictBijection),
    Wrong(
      name: "id before kind",
      answer: PushAnswer(verdicts: [.init(mutationID: "m9", kind: "merged"), .applied("m2")]), code: .verdictBijection),
    Wrong(
      name: "kind", answer: PushAnswer(verdicts: [.applied("m1"), .init(mutationID: "m2", kind: "merged")]),
      code: .unknownVerdictReason),
    Wrong(
      name: "a reason as kind",
      answer: PushAnswer(verdicts: [
        .applied("m1"), .init(mutationID: "m2", kind: "superseded", reason: "SUPERSEDED"),
      ]),
      code: .unknownVerdictReason),
    Wrong(
      name: "verdict's reason",
      answer: PushAnswer(verdicts: [.init(mutationID: "m1", kind: "rejected", reason: "BAD"), .applied("m2")]),
      code: .unknownVerdictReason),
    Wrong(
      name: "no reason", answer: PushAnswer(verdicts: [.init(mutationID: "m1", kind: "rejected"), .applied("m2")]),
      code: .unknownVerdictReason),
    Wrong(
      name: "hidden column",
      answer: PushAnswer(verdicts: [.applied("m1", serverRow: ["\u{1}seq": "9"]), .applied("m2")]), code: .json),
  ]

  @Test func `an answer that no server may give changes nothing`() async throws {
    for wrong in Self.wrong {
      let test = try await client()
      let batch = wrong.isBatch ? "b" : nil
      try await test.update("p1", ["title": "one"], id: "m1", batch: batch)
      try await test.update("p1", ["title": "two"], id: "m2", batch: batch)
      let before = try await test.client.liveRows()
      let events = await test.eventNames()
      test.remote.script(pushes: [.answer(wrong.answer)])
      #expect(await code { try await test.client.pushOnce() } == wrong.code, "\(wrong.name)")
      #expect(try await test.client.liveRows() == before)
      #expect(try await test.client.outboxDepth() == 2)
      #expect(try await test.client.rejections().isEmpty)
      #expect(try await test.client.inspect().lastMutationID == nil)
      #expect(await test.eventNames() == events)
    }
  }

  @Test func `an insert that a pulled row came before, and that is rejected with a row, ends as that row`() async throws
  {
    let test = try await TestClient.open()
    try await test.insert("p2", ["title": "mine", "own": 1], id: "m1")
    test.remote.script(
      pulls: [.answer(.page("5", ["p2": ["title": "peer"]]))],
      pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .rowDenied, serverRow: ["title": "server"])]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p2") == ["title": "mine", "own": 1])
    try await test.client.pushOnce()
    #expect(try await test.columns("p2") == ["title": "server"])
    #expect(try await test.client.outboxDepth() == 0)
  }
}
