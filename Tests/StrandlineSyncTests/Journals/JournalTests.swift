import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct JournalTests {
  private func reject(_ test: TestClient, _ pk: String, _ id: String, _ reason: RejectionReason = .constraint)
    async throws
  {
    try await test.insert(pk, ["a": 1], id: id)
    test.remote.script(pushes: [.answer(PushAnswer(verdicts: [.rejected(id, reason, serverRow: nil)]))])
    try await test.client.pushOnce()
  }

  @Test func `rejections come newest first, and dismissing hides`() async throws {
    let test = try await TestClient.open()
    try await reject(test, "p1", "m1")
    test.clock.advance(10)
    try await reject(test, "p2", "m2")
    #expect(try await test.client.rejections().map(\.mutationID) == ["m2", "m1"])
    #expect(try await test.client.dismissRejection("m2"))
    #expect(try await test.client.dismissRejection("m2"))
    #expect(try await test.client.dismissRejection("m9") == false)
    #expect(try await test.client.rejections().map(\.mutationID) == ["m1"])
    #expect(try await test.client.rejections(includeDismissed: true).map(\.isDismissed) == [true, false])
    #expect(await test.eventNames().filter { $0 == "LOCAL_CHANGED" }.count == 4)
  }

  @Test func `an id that is journalled again replaces its entry and shows again`() async throws {
    let test = try await TestClient.open()
    try await reject(test, "p1", "m1")
    try await test.client.dismissRejection("m1")
    try await reject(test, "p2", "m1", .rowDenied)
    let journal = try await test.client.rejections()
    #expect(journal.map(\.reason) == ["RLS_DENIED"] && journal[0].pk == "p2")
  }

  @Test func `overwrites can be dismissed`() async throws {
    let test = try await TestClient.open()
    let conflict = PullAnswer.Conflict(
      table: "todos", pk: "p1", column: "a", loserValue: .null, winnerMutationID: "w", conflictMode: "hlc",
      winnerSeq: nil)
    test.remote.script(pulls: [.answer(.page("2", ["p1": [:]], conflicts: [conflict]))])
    try await test.client.pullOnce()
    let entry = try #require(try await test.client.overwrites().first)
    #expect(try await test.client.dismissOverwrite(entry.id))
    #expect(try await test.client.dismissOverwrite(entry.id + 1) == false)
    #expect(try await test.client.overwrites().isEmpty)
    #expect(try await test.client.overwrites(includeDismissed: true).count == 1)
  }

  @Test func `journals are pruned by age`() async throws {
    let test = try await TestClient.open()
    try await reject(test, "p1", "m1")
    test.clock.advance(60_000)
    try await reject(test, "p2", "m2")
    #expect(try await test.client.pruneJournals(olderThan: .seconds(60)) == 0)
    #expect(try await test.client.pruneJournals(olderThan: .seconds(59)) == 1)
    #expect(try await test.client.rejections().map(\.mutationID) == ["m2"])
  }

  @Test func `entries outside their vocabulary are loud`() async throws {
    let test = try await TestClient.open()
    try await reject(test, "p1", "m1")
    var row = try await test.client.stateRows(of: "strandline.rejections")[0]
    row["kind"] = "LOST"
    try await test.client.plant(row, in: "strandline.rejections")
    #expect(await code { _ = try await test.client.rejections() } == .store)
    row["kind"] = nil
    try await test.client.plant(row, in: "strandline.rejections")
    #expect(await code { _ = try await test.client.rejections() } == .json)
    try await test.client.plant(["key": "soft_block_reason", "value": "tired"], in: "strandline.meta")
    #expect(await code { _ = try await test.client.checkpoint() } == .store)
    #expect(await code { try await test.client.sync() } == .store)
    #expect(test.remote.pullRequests.isEmpty)
  }

  @Test func `an inspection is one coherent look`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "m1")
    try await test.client.pushOnce()
    try await test.insert("p2", id: "m2")
    let seen = try await test.client.inspect()
    #expect(seen.head.map(\.mutationID) == ["m2"] && seen.head[0].operation == "insert")
    #expect(seen.depth == 1 && seen.lastMutationID == "m1" && seen.cursor == "0")
    #expect(seen.clientID.flatMap { UUIDBytes($0) } != nil)
  }

  @Test func `the inspector remembers the newest fifty refusals`() async throws {
    let test = try await TestClient.open()
    let inspector = test.client.inspector()
    #expect(inspector === test.client.inspector())
    for number in 1...60 { try await reject(test, "p\(number)", "m\(number)") }
    _ = await test.events()
    #expect(inspector.verdicts.map(\.mutationID) == (11...60).map { "m\($0)" })
    #expect(inspector.verdicts.allSatisfy { $0.kind == .rejected && $0.reason == "CONSTRAINT" })
    let snapshot = try await inspector.snapshot()
    #expect(snapshot.recentEvents.count == 64 && snapshot.refusals.count == 50)
    let cleared = await withCheckedContinuation { continuation in
      let stop = inspector.subscribe { continuation.resume(returning: true) }
      inspector.clear()
      _ = stop
    }
    #expect(cleared && inspector.verdicts.isEmpty)
  }
}
