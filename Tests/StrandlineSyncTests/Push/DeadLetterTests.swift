import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct DeadLetterTests {
  private static let permanent = RemoteFailure.refused(TransportCode(rawValue: "23505"), "unique")

  /// Refuses slices that hold the culprit, and what is larger than the server takes.
  private final class PickyRemote: Remote {
    let scripted = ScriptedRemote()
    let culprit: String?
    let entryCountMax: Int

    init(culprit: String? = nil, entryCountMax: Int = 1000) {
      self.culprit = culprit
      self.entryCountMax = entryCountMax
    }

    func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer>
    {
      try await scripted.pull(request, context)
    }

    func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer>
    {
      let answer = try await scripted.push(request, context)
      if request.mutations.count > entryCountMax { throw .refused(.batchTooLarge, "at most \(entryCountMax)") }
      if request.mutations.contains(where: { $0.id == culprit }) { throw permanent }
      return answer
    }

    var sizes: [Int] { scripted.pushRequests.map(\.mutations.count) }
  }

  private func picky(_ remote: PickyRemote, writes: Int) async throws -> TestClient {
    let test = try await TestClient.open { $0.remote = remote }
    for number in 1...writes { try await test.insert("p\(number)", ["n": 1], id: "m\(number)") }
    return test
  }

  @Test func `a write that is refused for good five times is given up, and the run succeeds`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["title": "old"], table: "todos", pk: "p1", seq: "1")
    try await test.update("p1", ["title": "new"], id: "m1")
    test.remote.answerAlways(push: .failure(Self.permanent))
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    #expect(try await test.client.outboxDepth() == 1)
    try await test.client.sync()
    #expect(try await test.columns("p1") == ["title": "old"])
    #expect(try await test.client.outboxDepth() == 0)
    let letters = try await test.client.deadLetters()
    #expect(letters.map(\.mutationID) == ["m1"] && letters[0].reason == "PERMANENT_TRANSPORT")
    #expect(try await test.client.rejections().map(\.kind) == [.deadLetter])
    let names = await test.eventNames()
    let place = try #require(names.firstIndex(of: "DEAD_LETTER"))
    #expect(names[place + 1] == "LOCAL_CHANGED")
    // Each run pulled all the same.
    #expect(test.remote.pullRequests.count == 5)
  }

  @Test func `the culprit at the head of three is found alone, and the others go together`() async throws {
    let remote = PickyRemote(culprit: "m1")
    let test = try await picky(remote, writes: 3)
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(remote.sizes == [3, 1, 1, 1, 1, 1, 2])
    #expect(try await test.client.deadLetters().map(\.mutationID) == ["m1"])
    #expect(try await test.shadows() == ["todos/p1"])
  }

  @Test func `a culprit that is not the head is found in its turn`() async throws {
    let remote = PickyRemote(culprit: "m2")
    let test = try await picky(remote, writes: 3)
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(remote.sizes == [3, 1, 2, 1, 1, 1, 1, 1, 1])
    #expect(try await test.client.deadLetters().map(\.mutationID) == ["m2"])
    #expect(try await test.client.outboxDepth() == 0)
  }

  @Test func `what the server takes is found by halves, and kept until the queue is empty`() async throws {
    let remote = PickyRemote(entryCountMax: 2)
    let test = try await picky(remote, writes: 5)
    try await test.client.sync()
    #expect(remote.sizes == [5, 2, 2, 1])
    for number in 6...8 { try await test.insert("p\(number)") }
    try await test.client.sync()
    #expect(remote.sizes.suffix(4) == [3, 1, 1, 1])
  }

  @Test func `a body that is too large counts as too many mutations`() async throws {
    let test = try await TestClient.open()
    for number in 1...4 { try await test.insert("p\(number)") }
    test.remote.script(pushes: [.failure(.refused(nil, "", status: 413)), .applied, .applied])
    try await test.client.sync()
    #expect(test.remote.pushRequests.map(\.mutations.count) == [4, 2, 2])
  }

  @Test func `a batch that is too large is given up at once, whole, for the server's words`() async throws {
    let test = try await TestClient.open()
    try await test.client.write { tx in
      for n in 1...3 { try tx.insert(["n": .int(Int64(n))], into: "todos", pk: "p\(n)") }
    }
    test.remote.script(pushes: [.failure(.refused(.batchTooLarge, "at most 2"))])
    try await test.client.sync()
    let letters = try await test.client.deadLetters()
    #expect(letters.map(\.pk) == ["p1", "p2", "p3"])
    #expect(letters.allSatisfy { $0.reason == "at most 2" && $0.batchID == letters[0].batchID })
    var dropped: [String] = []
    for case .deadLetter(let id, let reason) in await test.events() {
      dropped.append(id)
      #expect(reason == "at most 2")
    }
    #expect(dropped == letters.map(\.mutationID))
    #expect(try await test.client.liveRows().isEmpty)
  }

  @Test func `an atomic batch is given up whole at its fifth refusal`() async throws {
    let test = try await TestClient.open()
    try await test.client.write { tx in for _ in 1...501 { try tx.insert([:], into: "todos") } }
    test.remote.answerAlways(push: .failure(Self.permanent))
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    let before = await test.eventNames().count
    try await test.client.sync()
    #expect(try await test.client.deadLetters().count == 501)
    // One commit: all that it raises, and once that rows changed. The other is the pull's.
    let names = await test.eventNames().dropFirst(before)
    #expect(Array(names) == Array(repeating: "DEAD_LETTER", count: 501) + ["LOCAL_CHANGED", "LOCAL_CHANGED"])
    #expect(test.remote.pushRequests.map(\.mutations.count) == Array(repeating: 501, count: 5))
  }

  @Test func `a success ends the count`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "m1")
    for round in 0..<2 {
      test.remote.script(pushes: Array(repeating: .failure(Self.permanent), count: 4))
      for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
      if round == 0 {
        try await test.client.sync()
        try await test.insert("p2", id: "m2")
      }
    }
    #expect(try await test.client.deadLetters().isEmpty)
    #expect(try await test.client.outboxDepth() == 1)
  }

  @Test func `faults that may pass and wrong answers are never counted`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "m1")
    test.remote.answerAlways(push: .failure(ScriptedRemote.offline))
    for _ in 1...20 { #expect(await code { try await test.client.sync() } == .remote) }
    #expect(test.remote.pullRequests.isEmpty)
    test.remote.answerAlways(push: .answer(PushAnswer(verdicts: [])))
    for _ in 1...6 { #expect(await code { try await test.client.sync() } == .verdictBijection) }
    #expect(test.remote.pullRequests.count == 6)
    for code in ["42501", "PGRST301", "PGRST106", "KZP03", "AUTH_SESSION_MISSING", "XX000"] {
      test.remote.script(pushes: [.failure(.refused(TransportCode(rawValue: code)))])
      #expect(await StrandlineSyncTests.code { try await test.client.sync() } == .remote)
    }
    #expect(try await test.client.deadLetters().isEmpty)
    #expect(try await test.client.outboxDepth() == 1)
  }

  @Test func `a single push never gives up a write`() async throws {
    let test = try await TestClient.open()
    for number in 1...3 { try await test.insert("p\(number)") }
    test.remote.answerAlways(push: .failure(Self.permanent))
    for _ in 1...10 { #expect(await code { try await test.client.pushOnce() } == .permanentTransport) }
    #expect(test.remote.pushRequests.allSatisfy { $0.mutations.count == 3 })
    #expect(try await test.client.deadLetters().isEmpty)
  }

  @Test func `an unbatched head in front of a batch is alone at once`() async throws {
    let remote = PickyRemote(culprit: "m1")
    let test = try await TestClient.open { $0.remote = remote }
    try await test.insert("p1", id: "m1")
    try await test.client.write { tx in for _ in 1...2 { try tx.insert([:], into: "todos") } }
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(remote.sizes == [1, 1, 1, 1, 1, 2])
  }

  @Test func `what is queued behind a write that is given up is laid over what is left`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["n": 0], table: "todos", pk: "p1", seq: "1")
    try await test.update(
      "p1", ["title": "bad"], transforms: ["n": ["op": "increment", "by": 5]], id: "m1", batch: "b")
    try await test.update("p1", transforms: ["n": ["op": "increment", "by": 1]], id: "m2")
    test.remote.script(
      pushes: Array(repeating: .failure(Self.permanent), count: 5) + [.failure(ScriptedRemote.offline)])
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(try await test.columns("p1") == ["n": 1])
    // Its pre-image is the new base.
    test.remote.script(pushes: Array(repeating: .failure(Self.permanent), count: 5))
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(try await test.columns("p1") == ["n": 0])
  }

  // MARK: What becomes of letters

  @Test func `a letter can be queued again, under its id, and forgotten`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["title": "a"], id: "m1")
    test.remote.script(pushes: Array(repeating: .failure(Self.permanent), count: 5))
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(try await test.client.requeueDeadLetter("m2") == false)
    #expect(try await test.client.requeueDeadLetter("m1"))
    #expect(try await test.columns("p1") == ["title": "a"])
    #expect(try await test.shadows().isEmpty)
    #expect(try await test.client.deadLetters().isEmpty)
    #expect(await test.eventNames().suffix(2) == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
    test.remote.script(pushes: Array(repeating: .failure(Self.permanent), count: 5))
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(try await test.client.dropDeadLetter("m1"))
    #expect(try await test.client.dropDeadLetter("m1") == false)
    #expect(try await test.client.deadLetters().isEmpty)
  }

  @Test func `a letter that the server had applied after all gives way to what was pulled before it is queued again`()
    async throws
  {
    let test = try await TestClient.open()
    try await test.client.seedRow(["title": "server"], table: "todos", pk: "p1", seq: "1")
    try await test.update("p1", ["title": "mine"], id: "m1")
    test.remote.script(
      pulls: [.answer(.page("3", ["p1": ["title": "theirs"]]))],
      pushes: Array(repeating: .failure(Self.permanent), count: 5) + [.applied])
    for _ in 1...4 { #expect(await code { try await test.client.sync() } == .permanentTransport) }
    try await test.client.sync()
    #expect(try await test.columns("p1") == ["title": "theirs"])
    try await test.client.requeueDeadLetter("m1")
    try await test.client.pushOnce()
    #expect(try await test.columns("p1") == ["title": "mine"])
    test.remote.script(pulls: [.answer(.page("3"))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "theirs"])
  }

  @Test func `letters of one batch are queued again as one batch, or stay`() async throws {
    let test = try await TestClient.open()
    try await test.client.write { tx in for n in 1...2 { try tx.insert([:], into: "todos", pk: "p\(n)") } }
    test.remote.script(pushes: [.failure(.refused(.batchTooLarge))])
    try await test.client.sync()
    let id = try await test.client.deadLetters()[1].mutationID
    try await test.insert("p2", ["title": "in the way"])
    #expect(await code { try await test.client.requeueDeadLetter(id) } == .localConstraint)
    #expect(try await test.client.deadLetters().count == 2)
    #expect(try await test.columns("p1") == nil)
    try await test.delete("p2")
    try await test.client.pushOnce()
    #expect(try await test.client.requeueDeadLetter(id))
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests.last?.isAtomic == true)
    #expect(test.remote.pushRequests.last?.mutations.map(\.pk) == ["p1", "p2"])
  }
}
