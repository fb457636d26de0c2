import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// How much one push carries.
struct SliceSizeTests {
  private static let tooLarge = RemoteFailure(.answerTooLarge(byteCountMax: 100))

  @Test func `a slice ends by bytes as well, and what is larger by itself goes alone`() async throws {
    let test = try await TestClient.open()
    let large = Value.string(String(repeating: "y", count: 1_000_000))
    try await test.insert("huge", ["v": .string(String(repeating: "y", count: 5_000_000))])
    for number in 1...9 { try await test.insert("p\(number)", ["v": large]) }
    try await test.client.sync()
    #expect(test.remote.pushRequests.map(\.mutations.count) == [1, 4, 4, 1])
    #expect(test.remote.pushRequests.dropFirst().allSatisfy { $0.body.count < 8 << 20 })
  }

  @Test func `the size of a slice is that of its JSON, escapes too`() async throws {
    let test = try await TestClient.open()
    let zeros = Value.string(String(repeating: "\u{1}", count: 300_000))
    for number in 1...8 { try await test.insert("p\(number)", ["v": zeros]) }
    try await test.client.sync()
    #expect(test.remote.pushRequests.allSatisfy { $0.body.count <= 4 << 20 })
    #expect(test.remote.pushRequests.map(\.mutations.count) == [2, 2, 2, 2])
  }

  @Test func `a batch is sent whole, whatever its bytes`() async throws {
    let test = try await TestClient.open()
    let large = Value.string(String(repeating: "y", count: 1_000_000))
    try await test.client.write { transaction in
      for number in 1...6 { try transaction.insert(["v": large], into: "todos", pk: "p\(number)") }
    }
    try await test.client.sync()
    #expect(test.remote.pushRequests.map(\.mutations.count) == [6])
  }

  @Test func `an answer that is too large halves the slice, and nothing is given up`() async throws {
    let test = try await TestClient.open()
    try await test.client.seedRow(["n": 0], table: "todos", pk: "p", seq: "1")
    for number in 1...6 {
      try await test.update("p", transforms: ["n": ["op": "increment", "by": 1]], id: "m\(number)")
    }
    test.remote.script(pushes: [.failure(Self.tooLarge), .failure(Self.tooLarge)])
    try await test.client.sync()
    #expect(test.remote.pushRequests.map { $0.mutations.map(\.id) }.first?.count == 6)
    #expect(test.remote.pushRequests.map(\.mutations.count) == [6, 3, 1, 1, 1, 1, 1, 1])
    #expect(try await test.client.deadLetters().isEmpty)
    #expect(try await test.columns("p") == ["n": 6])
  }

  @Test func `one write whose answer is too large is told, however often, and stays queued`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p", ["n": 1], id: "m1")
    test.remote.answerAlways(push: .failure(Self.tooLarge))
    for _ in 1...7 {
      do {
        try await test.client.sync()
        Issue.record("the push went through")
      } catch let error as SyncError {
        #expect(error.catalogueCode == .remote && error.code == .limitExceeded)
        #expect(error.message.contains("raise answerByteCountMax") && error.message.contains("mutation m1"))
      }
    }
    #expect(try await test.client.outboxDepth() == 1)
  }
}
