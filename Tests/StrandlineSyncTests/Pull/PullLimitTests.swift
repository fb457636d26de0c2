import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Servers that never come to an end, and answers that are too large.
struct PullLimitTests {
  private static let tooLarge = RemoteFailure(.answerTooLarge(byteCountMax: 100))

  private func message(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func `a pull that the server never ends stops after its most pages, and goes on there in the next run`()
    async throws
  {
    #expect(SyncClient.pageCountMax == 100_000)
    let test = try await TestClient.open()
    test.remote.script(pulls: (1...6).map { .answer(.page("0:\($0)", more: true, ["p\($0)": ["n": 1]])) })
    do {
      try await test.client.pullAll(pageCountMax: 5)
      Issue.record("the pull has ended")
    } catch let error as SyncError {
      #expect(error.catalogueCode == .remote && error.isTransient && !error.isFatal)
    }
    #expect(test.remote.pullRequests.count == 5)
    #expect(try await test.client.stagedNames().map(\.pk).sorted() == ["p1", "p2", "p3", "p4", "p5"])
    #expect(try await test.client.checkpoint().cursor == "0")
    #expect(await test.eventNames().isEmpty)
    try await test.client.sync()
    #expect(test.remote.pullRequests[5].cursor == "0:5")
    #expect(try await test.client.liveRows().count == 6)
  }

  @Test func `a page that leads to where it was asked from ends the run before long, with what is staged kept`()
    async throws
  {
    let test = try await TestClient.open()
    test.remote.script(pulls: [.answer(.page("0:1", more: true, ["p1": ["n": 1]]))])
    test.remote.answerAlways(pull: .answer(.page("0:1", more: true)))
    do {
      try await test.client.sync()
      Issue.record("the pull has ended")
    } catch let error as SyncError {
      #expect(error.catalogueCode == .remote && error.code == .clientSessionError && !error.isFatal)
    }
    #expect(test.remote.pullRequests.count == 17)
    #expect(try await test.client.stagedNames().map(\.pk) == ["p1"])
    test.remote.script(pulls: [.answer(.page("2"))])
    try await test.client.sync()
    #expect(test.remote.pullRequests.last?.cursor == "0:1")
    #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
  }

  @Test
  func `an expired checkpoint that expires again from the start ends the run before long, with the restart armed`()
    async throws
  {
    let test = try await TestClient.open()
    test.remote.script(pulls: [.answer(.page("5", ["p1": ["n": 1]]))])
    try await test.client.sync()
    test.remote.answerAlways(pull: .answer(.signal("CHECKPOINT_EXPIRED")))
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(test.remote.pullRequests.count == 18)
    #expect(test.remote.pullRequests.map(\.cursor).suffix(16).allSatisfy { $0 == "0" })
    #expect(try await test.client.checkpoint().cursor == "5")
    #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
    test.remote.script(pulls: [.answer(.page("9", ["p2": ["n": 2]]))])
    try await test.client.sync()
    #expect(try await test.client.liveRows().map(\.pk) == ["p2"])
  }

  @Test func `pages and expired checkpoints in turn end too`() async throws {
    let test = try await TestClient.open()
    test.remote.script(
      pulls: (1...40).flatMap { [.answer(.page("0:\($0)", more: true)), .answer(.signal("CHECKPOINT_EXPIRED"))] })
    #expect(await code { try await test.client.sync() } == .remote)
    #expect(test.remote.pullRequests.count < 40)
  }

  @Test func `a page whose answer is too large is asked for again in halves, and what is staged stays`() async throws {
    let test = try await TestClient.open()
    test.remote.script(pulls: [
      .answer(.page("0:1", more: true, ["p1": ["n": 1]])), .failure(Self.tooLarge), .failure(Self.tooLarge),
      .answer(.page("0:2", more: true, ["p2": ["n": 2]])), .answer(.page("3", ["p3": ["n": 3]])),
    ])
    try await test.client.sync()
    #expect(test.remote.pullRequests.map(\.limit) == [nil, nil, 250, 125, 125])
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "0:1", "0:1", "0:1", "0:2"])
    #expect(try await test.client.liveRows().map(\.pk) == ["p1", "p2", "p3"])
    try await test.client.sync()
    #expect(test.remote.pullRequests.last?.limit == nil)
  }

  @Test func `a single page halves the next one, and one row that is too large is told with the way out`() async throws
  {
    let test = try await TestClient.open { $0.pageLimit = 3 }
    test.remote.answerAlways(pull: .failure(Self.tooLarge))
    #expect(await code { try await test.client.pullOnce() } == .remote)
    let told = await message { try await test.client.sync() }
    #expect(told?.contains("larger than the 100 bytes that are taken; raise answerByteCountMax") == true)
    #expect(test.remote.pullRequests.map(\.limit) == [3, 1])
  }
}
