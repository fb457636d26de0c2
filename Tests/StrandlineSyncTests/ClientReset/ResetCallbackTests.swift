@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ResetCallbackTests {
  private struct Oops: Error, CustomStringConvertible { var description: String { "oops-x" } }

  /// What callbacks saw.
  private final class Notes: Sendable {
    private let lines = Lock<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  private static func titles(_ view: ClientView) throws -> String {
    try view.query("todos", QueryPlan()).rows.map { row in
      if case .string(let title)? = row["title"] { title } else { "-" }
    }.joined(separator: ",")
  }

  @Test func `before sees the state as it is, after the state that was replaced and the new one`() async throws {
    let notes = Notes()
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(
        before: { view in notes.add("before \(try Self.titles(view)) \(try view.pendingMutations().map(\.mutationID))")
        },
        after: { view, client, report in
          let rows = try await client.query("todos", QueryPlan()).rows.count
          notes.add("after \(try Self.titles(view)) \(rows) \(report.entries.kept) \(try await client.outboxDepth())")
        }))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.client.sync()
    #expect(notes.all == ["before mine,b [\"m1\"]", "after mine,b 2 1 1"])
    let report = try #require(try await test.reports().last)
    #expect(report.beforeCallback == .returned && report.afterCallback == .returned && report.afterCallCount == 1)
    #expect(test.errors.all.isEmpty)
    try await test.client.close()
  }

  @Test func `what before writes is recovered, and what after writes is an ordinary write`() async throws {
    let box = Lock<SyncClient?>(nil)
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(
        before: { _ in
          try await box.withLock { $0 }?.apply(.insert, to: "notes", pk: "b", columns: ["x": 1])
        },
        after: { view, client, _ in
          _ = try view.query("notes", QueryPlan()).rows
          try await client.apply(.insert, to: "notes", pk: "a", columns: ["x": 2])
        }))
    box.withLock { $0 = test.client }
    try await test.loseHistory()
    try await test.client.sync()
    #expect(test.server.columns("b", in: "notes") == ["x": 1] && test.server.columns("a", in: "notes") == ["x": 2])
    box.withLock { $0 = nil }
    try await test.client.close()
  }

  @Test func `a throw in before changes nothing, carries the text and the origin, and is told once`() async throws {
    let test = try await ResetTest.open(.recoverUnsyncedChanges(before: { _ in throw Oops() }))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let before = try await test.rows()
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.resetInfo?.reason == .beforeCallbackFailed)
    #expect(error?.message.contains("oops-x") == true && error?.originalError is Oops)
    #expect(error?.message.contains("the server") == true)
    #expect(try await test.rows() == before)
    #expect(try await test.depth() == 1)
    #expect(try await test.isBlocked())
    #expect((await test.eventNames()).filter { $0 == "RESET_REQUIRED" }.count == 1)
    #expect(test.errors.reset.count == 1)
    // Not again in this open; reads and writes go on.
    let count = test.server.now.pullCount
    try await test.client.sync()
    #expect(test.server.now.pullCount == count)
    try await test.client.close()
  }

  @Test func `before that does not return within its limit ends the attempt`() async throws {
    let door = Door()
    let test = try await ResetTest.open(.recoverUnsyncedChanges(before: { _ in await door.pass() })) {
      $0.callbackLimit = .milliseconds(20)
    }
    try await test.loseHistory()
    #expect(await resetReason { try await test.client.sync() } == .beforeCallbackFailed)
    door.open()
    try await test.client.close()
  }

  @Test func `a throw in after leaves the reset as it is, and uploads go on`() async throws {
    let test = try await ResetTest.open(.recoverUnsyncedChanges(after: { _, _, _ in throw Oops() }))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.client.sync()
    #expect(test.server.columns("a")?["title"] == "mine")
    #expect(try await test.reports().last?.afterCallback == .threw("oops-x"))
    await test.settle()
    #expect(test.errors.all.count == 1 && "\(test.errors.all[0])".contains("oops-x"))
    #expect((test.errors.all[0] as? SyncError)?.code == .resetCallbackFailed)
    #expect(try await !test.isBlocked())
    try await test.client.close()
  }

  @Test func `after that passes its limit is let go`() async throws {
    let door = Door()
    let test = try await ResetTest.open(.recoverUnsyncedChanges(after: { _, _, _ in await door.pass() })) {
      $0.callbackLimit = .milliseconds(20)
    }
    try await test.loseHistory()
    try await test.client.sync()
    #expect(try await test.reports().last?.afterCallback == .timedOut)
    door.open()
    try await test.client.close()
  }

  @Test func `calls that would wait for the reset are refused inside a callback`() async throws {
    let notes = Notes()
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(after: { _, client, _ in
        notes.add("\(await code { try await client.sync() } == .localUnsupported)")
        notes.add("\(await code { try await client.pullOnce() } == .localUnsupported)")
        notes.add("\(await code { try await client.pushOnce() } == .localUnsupported)")
        notes.add("\(await code { try await client.reset() } == .localUnsupported)")
        notes.add("\(await code { try await client.startClientReset() } == .localUnsupported)")
        notes.add("\(await code { _ = try await client.previewReset(.recoverUnsyncedChanges()) } == .localUnsupported)")
        notes.add("\(await code { try await client.seedCheckpoint("1") } == .localUnsupported)")
        notes.add("\(await code { try await client.session.waitForUpload() } == .localUnsupported)")
        notes.add("\(await code { try await client.session.waitForDownload() } == .localUnsupported)")
        try await client.setBucket([:])
      }))
    try await test.loseHistory()
    try await test.client.sync()
    #expect(notes.all == Array(repeating: "true", count: 9))
    try await test.client.close()
  }

  @Test func `after is called before anything is uploaded, and with no copy left behind`() async throws {
    let directory = TemporaryDirectory()
    let server = SmallServer()
    let notes = Notes()
    let test = try await ResetTest.open(
      .recoverUnsyncedChanges(after: { _, _, report in
        notes.add("\(server.now.pushedIDs.count) \(report.keptCopy.path != nil)")
      }), server: server, at: "\(directory.path)/store", change: { $0.keptCopies = KeptCopyPolicy(.never) })
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"])
    try await test.client.sync()
    #expect(notes.all == ["0 true"])
    #expect(try await test.client.keptCopies().isEmpty)
    try await test.client.close()
  }

  @Test func `a mode without callbacks needs none`() async throws {
    let test = try await ResetTest.open(.discardUnsyncedChanges())
    try await test.loseHistory()
    try await test.client.sync()
    let report = try #require(try await test.reports().last)
    #expect(report.beforeCallback == .none && report.afterCallback == .none)
    try await test.client.close()
  }
}
