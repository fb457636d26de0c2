@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Differences of schemas: to this client a schema is its configured tables and their keys. Numbers are those of Docs/ClientReset.md, "Cases".
struct ResetCaseSchemaTests {
  @Test(arguments: ["discard", "recover", "recover-or-discard"])
  func `case 212: a table that the server does not know, and of which there are rows, fails in every mode by its name`(
    _ word: String
  ) async throws {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode(word))
    try await test.loseHistory()
    test.server.change { $0.unknownTables = ["todos"] }
    let before = try await test.rows()
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    await test.settle()
    #expect(test.errors.all.count == 1 && "\(test.errors.all)".contains("todos"))
    #expect(try await test.rows() == before)
    #expect(calls.before == 0 && calls.after == 0)
    #expect(try test.client.store.stagingNames().isEmpty)
    try await test.client.close()
  }

  @Test(arguments: ["discard", "recover"])
  func `case 217: columns and rows that the server alone knows come with the reset`(_ word: String) async throws {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode(word))
    try await test.loseHistory()
    test.server.put("a", ["id": "a", "title": "restored", "embedded": ["name": "x", "list": [["y": 1]]]])
    test.server.put("new", ["id": "new", "embedded": ["name": "z"]])
    try await test.client.sync()
    #expect(try await test.columns("a")?["embedded"] == ["name": "x", "list": [["y": 1]]])
    #expect(try await test.columns("new") == ["id": "new", "embedded": ["name": "z"]])
    #expect(calls.before == 1 && calls.after == 1)
    try await test.client.close()
  }

  @Test func `case 223: what cannot be recovered is discarded in the same attempt, with one call of each callback`()
    async throws
  {
    let calls = CallCounts()
    let directory = TemporaryDirectory()
    let test = try await ResetTest.open(try calls.mode("recover-or-discard"), at: "\(directory.path)/store")
    try await test.loseHistory()
    try await test.insert("own", ["x": 1], id: "m1")
    try await test.spoilQueue()
    try await test.client.sync()
    #expect(
      try await test.rows() == ["a": ["id": "a", "title": "restored", "n": 10], "c": ["id": "c", "title": "c"]])
    let report = try #require(try await test.reports().last)
    #expect(!report.didRecover && report.fallbacks.map(\.reason) == [.recoveryImpossible])
    #expect(calls.before == 1 && calls.after == 1)
    // What was discarded is in the copy.
    let copy = try #require(try await test.client.keptCopies().last)
    let store = try await copy.open()
    #expect(try store.view().query("todos").count() == 3)
    try await store.close()
    try await test.client.close()
  }

  @Test(arguments: ["discard", "recover", "recover-or-discard"])
  func `case 226: a key that is made otherwise fails, with no call of a callback`(_ word: String) async throws {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode(word))
    try await test.loseHistory()
    test.server.put("z", ["id": 7])
    #expect(await resetReason { try await test.client.sync() } == .freshCopyUnfit)
    #expect(calls.before == 0 && calls.after == 0)
    #expect(try await test.rows().keys.sorted() == ["a", "b"])
    // Who waits hears of it.
    let client = test.client
    let wait = Task { try await client.session.waitForDownload() }
    while client.withMemory({ $0.session.waits.waits.isEmpty }) { await Task.yield() }
    try await client.sync()
    #expect(await resetReason { try await wait.value } == .freshCopyUnfit)
    try await test.client.close()
  }

  @Test func `case 227: a column that the server refuses is a rejected write behind the reset`() async throws {
    let calls = CallCounts()
    let test = try await ResetTest.open(try calls.mode("recover"))
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.insert("d", ["colour": "red"], id: "m3")
    test.server.change { $0.refusedColumns = ["colour"] }
    try await test.client.sync()
    #expect(calls.before == 1 && calls.after == 1)
    await test.settle()
    let names = test.log.names
    let (reset, rejected) = (names.firstIndex(of: "DID_RESET"), names.firstIndex(of: "MUTATION_REJECTED"))
    #expect(try #require(reset) < (try #require(rejected)))
    #expect(test.errors.all.compactMap { ($0 as? SyncError)?.code } == [.writeRejected])
    #expect(try await test.columns("d") == nil)
    #expect(try await test.columns("a")?["title"] == "mine")
    try await test.client.close()
  }
}
