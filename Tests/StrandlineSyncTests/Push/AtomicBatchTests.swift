import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct AtomicBatchTests {
  private func abort(_ test: TestClient, _ offender: String, _ row: [String: Value]?) async throws {
    test.remote.script(pushes: [
      .answer(
        PushAnswer(
          abort: PushAnswer.Abort(
            outcome: "aborted", offenderMutationID: offender, reason: "CONSTRAINT", serverRow: row)))
    ])
    try await test.client.pushOnce()
  }

  /// p1 is the server's; the batch updates it and inserts two more.
  private func client() async throws -> TestClient {
    let test = try await TestClient.open()
    try await test.client.seedRow(["title": "seed"], table: "todos", pk: "p1", seq: "1")
    try await test.update("p1", ["title": "mine"], id: "m1", batch: "b")
    try await test.client.apply(.insert, to: "todos", pk: "p2", mutationID: "m2", batchID: "b", hlc: nil)
    try await test.client.apply(
      .insert, to: "todos", pk: "p3", columns: ["title": "z"], mutationID: "m3", batchID: "b", hlc: nil)
    return test
  }

  @Test func `an offender in the middle without a row goes, and so do its siblings`() async throws {
    let test = try await TestClient.open()
    for (pk, id) in [("p1", "m1"), ("p2", "m2"), ("p3", "m3")] {
      try await test.client.apply(.insert, to: "todos", pk: pk, mutationID: id, batchID: "b", hlc: nil)
    }
    try await abort(test, "m2", nil)
    #expect(try await test.client.liveRows().isEmpty)
    #expect(try await test.shadows() == ["todos/p1", "todos/p2", "todos/p3"])
  }

  @Test func `an offender at the tail with a row becomes it, and the others what they were`() async throws {
    let test = try await client()
    try await abort(test, "m3", ["title": "theirs"])
    #expect(try await test.columns("p1") == ["title": "seed"])
    #expect(try await test.columns("p2") == nil)
    #expect(try await test.columns("p3") == ["title": "theirs"])
    #expect(try await test.shadows() == ["todos/p2"])
    let journal = try await test.client.rejections()
    #expect(journal.map(\.mutationID) == ["m3"] && journal[0].kind == .batchAborted)
    #expect(journal[0].changedColumns == ["title"] && journal[0].serverRow == ["title": "theirs"])
    #expect(try await test.client.outboxDepth() == 0)
    #expect(try await test.client.inspect().lastMutationID == nil)
    #expect(await test.eventNames().suffix(2) == ["BATCH_ABORTED", "LOCAL_CHANGED"])
  }

  @Test func `two updates of one row with the second as offender end in front of the first`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["title": "seed"], table: "todos", pk: "p1", seq: "1")
    try await test.update("p1", ["title": "one"], id: "m1", batch: "b")
    try await test.update("p1", ["title": "two"], id: "m2", batch: "b")
    try await abort(test, "m2", nil)
    #expect(try await test.columns("p1") == ["title": "seed"])
    #expect(try await test.shadows().isEmpty)
  }

  @Test func `a delete in an aborted batch is undone without a trace`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["title": "seed"], table: "todos", pk: "p1", seq: "1")
    try await test.client.apply(.delete, to: "todos", pk: "p1", mutationID: "m1", batchID: "b", hlc: nil)
    try await test.client.apply(.insert, to: "todos", pk: "p2", mutationID: "m2", batchID: "b", hlc: nil)
    try await abort(test, "m2", nil)
    #expect(try await test.columns("p1") == ["title": "seed"])
    #expect(try await test.shadows() == ["todos/p2"])
  }

  @Test func `what is queued behind an aborted batch stays, and is laid over what is left`() async throws {
    let test = try await client()
    try await test.update("p1", ["done": true], id: "m4")
    try await abort(test, "m1", ["title": "theirs"])
    #expect(try await test.columns("p1") == ["title": "theirs", "done": true])
    #expect(try await test.client.outboxDepth() == 1)
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests.last?.mutations.map(\.id) == ["m4"])
  }

  @Test func `an abort behind a pull brings back what the pull brought, not an older value`() async throws {
    let test = try await client()
    test.remote.script(pulls: [.answer(.page("7", ["p1": ["title": "newer", "x": 1]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "mine", "x": 1])
    try await abort(test, "m2", nil)
    #expect(try await test.columns("p1") == ["title": "newer", "x": 1])
  }

  @Test func `verdicts are a good answer to a batch too`() async throws {
    let test = try await client()
    test.remote.script(pushes: [
      .answer(
        PushAnswer(verdicts: [.applied("m1"), .rejected("m2", .constraint, serverRow: nil), .applied("m3")]))
    ])
    try await test.client.pushOnce()
    #expect(try await test.client.outboxDepth() == 0)
    #expect(try await test.shadows() == ["todos/p2"])
  }

  @Test func `slices: what is in no batch, and each batch whole`() async throws {
    let test = try await TestClient.open()
    try await test.insert("a", id: "m1")
    for (pk, batch) in [("b", "x"), ("c", "x"), ("d", "y")] {
      try await test.client.apply(.insert, to: "todos", pk: pk, mutationID: "m-\(pk)", batchID: batch, hlc: nil)
    }
    try await test.insert("e", id: "m2")
    try await test.client.sync()
    #expect(test.remote.pushRequests.map(\.isAtomic) == [false, true, true, false])
    #expect(test.remote.pushRequests.map { $0.mutations.map(\.pk) } == [["a"], ["b", "c"], ["d"], ["e"]])
  }

  @Test func `a batch is never cut, and what is in none is cut at 500`() async throws {
    let test = try await TestClient.open()
    try await test.client.write { tx in for _ in 0..<501 { try tx.insert([:], into: "todos") } }
    for number in 0..<501 { try await test.insert("p\(number)") }
    try await test.client.sync()
    #expect(test.remote.pushRequests.map(\.mutations.count) == [501, 500, 1])
  }
}
