@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Rows and scalar fields, and keys of rows in the place of links.
struct ResetCaseRowsTests {
  static let cases: [ResetCase] = {
    var cases: [ResetCase] = []
    func add(_ row: ResetCase) { cases.append(row) }
    add(ResetCase(23, value: 3, [.set("r", ["v": 4])], 6, 4))
    add(ResetCase(25, ["a": ["v": 1]], [.insert("b", ["v": 2])], ["a": ["v": 9]], ["a": ["v": 9], "b": ["v": 2]]))
    add(ResetCase(26, ["r": ["v": 3]], [.delete("r")], ["r": ["v": 6]], [:]))
    add(
      ResetCase(
        29, ["r": ["v": 3]], [.set("r", ["v": 4])], ["r": nil, "2": ["v": 42]], ["2": ["v": 42]],
        dropped: [.deletedOnServer]))
    add(
      ResetCase(
        31, ["r": ["v": 3]], [.insert("s", ["v": 1])], ["r": ["v": 6]], ["r": ["v": 6], "s": ["v": 1]]))
    // Gone here and changed there: it comes back where the delete is discarded.
    add(ResetCase(32, ["r": ["v": 3]], [.delete("r")], ["r": ["v": 6]], [:], modes: [.discard, .forbidden]))
    let one = Dictionary(uniqueKeysWithValues: (1...3).map { ("\($0)", [:] as [String: Value]) })
    let here = (4...8).map { ResetCase.Step.insert("\($0)", [:]) }
    let there = Dictionary(
      uniqueKeysWithValues: (Array(1...3) + Array(10...14)).map { ("\($0)", [:] as [String: Value]?) })
    let both = Dictionary(
      uniqueKeysWithValues: (Array(1...8) + Array(10...14)).map { ("\($0)", [:] as [String: Value]) })
    add(ResetCase(34, one, here, there, both, modes: [.recover, .recoverOrDiscard]))
    add(ResetCase(35, one, here, there, [:], modes: [.discard, .forbidden]))
    add(
      ResetCase(
        37, ["1": ["v": 1], "2": ["v": 2], "3": ["v": 3]],
        [.set("1", ["v": 11]), .set("2", ["v": 12]), .set("3", ["v": 13])],
        ["1": ["v": 0], "2": ["v": 0], "3": ["v": 0]], ["1": ["v": 11], "2": ["v": 12], "3": ["v": 13]]))
    add(
      ResetCase(
        38, ["1": ["v": 1], "2": ["v": 2], "3": ["v": 3]],
        [.set("1", ["v": 9]), .add("2", "v", 10), .set("3", ["v": 13])],
        ["1": nil, "2": nil, "3": ["v": 3]], ["3": ["v": 13]], dropped: [.deletedOnServer, .deletedOnServer]))
    add(ResetCase(40, value: 3, [], 3, 3))
    // Deleted, created again and set: a tombstone wins over all three, and a row that is merely missing does not.
    add(
      ResetCase(
        43, reading: "with a tombstone", ["r": ["v": 3]], [.delete("r"), .insert("r", [:]), .set("r", ["v": 7])],
        ["r": nil],
        [:], dropped: [.deletedOnServer, .deletedOnServer]))
    add(
      ResetCase(
        43, reading: "without a tombstone", ["r": ["v": 3]], [.delete("r"), .insert("r", [:]), .set("r", ["v": 7])],
        [:],
        ["r": ["v": 7]]))
    add(ResetCase(44, ["123": ["v": 1], "456": ["v": 2]], [], ["123": ["v": 1]], ["123": ["v": 1]]))
    add(
      ResetCase(
        46, ["a": ["v": 1]], [.insert("b", ["v": 2]), .set("a", ["w": 3])], ["a": ["v": 5], "c": ["v": 1]],
        ["a": ["v": 5, "w": 3], "b": ["v": 2], "c": ["v": 1]]))
    // A key in the place of a link stays what it was, also where its row went.
    add(
      ResetCase(
        49, ["a": ["to": "1"], "1": [:], "2": [:]], [.set("a", ["to": "2"])],
        ["a": ["to": "1"], "1": [:], "2": nil], ["a": ["to": "2"], "1": [:]]))
    return cases
  }()

  @Test(arguments: ResetCase.runs(of: cases))
  func `rows end as the rules say`(_ run: ResetCaseRun) async throws { try await run.check() }

  @Test func `case 28: it works the same where nobody listens`() async throws {
    let server = SmallServer()
    server.put("r", ["v": 3])
    var configuration = SyncConfiguration(tables: ResetTest.tables, remote: server)
    configuration.clientReset = .discardUnsyncedChanges()
    let client = try await SyncClient.open(configuration)
    try await client.sync()
    try await client.apply(.update, to: "todos", pk: "r", columns: ["v": 4])
    server.restore(SmallServer.Content())
    server.put("r", ["v": 6])
    try await client.sync()
    #expect(try await client.storedColumns(table: "todos", pk: "r") == ["v": 6])
    try await client.close()
  }

  @Test(arguments: ["discard", "recover", "recover-or-discard"])
  func `case 41: a client that was never written runs no reset, and leaves no marker and no copy`(_ word: String)
    async throws
  {
    let callCount = Lock(0)
    let directory = TemporaryDirectory()
    let mode = try ClientResetMode(
      try #require(ClientResetMode.Name(rawValue: word)), before: { _ in callCount.withLock { $0 += 1 } },
      after: { _, _, _ in callCount.withLock { $0 += 1 } })
    let test = try await ResetTest.open(mode, at: "\(directory.path)/store")
    // The empty server's history is known here, and no row of it.
    try await test.client.sync()
    test.server.restore()
    test.server.put("a", ["v": 1])
    try await test.client.sync()
    #expect(try await test.rows() == ["a": ["v": 1]])
    #expect(callCount.withLock { $0 } == 0)
    let (record, reports) = (try test.client.read { try $0.resetRecord() }, try await test.reports())
    #expect(record == nil && reports.isEmpty)
    #expect(try test.client.store.stagingNames().isEmpty)
    #expect(try await test.client.keptCopies().isEmpty)
    try await test.client.close()
  }

  @Test func `case 47: three clients with writes of their own discard them and converge`() async throws {
    let server = SmallServer()
    server.put("s", ["v": 1])
    let backup = server.now.content
    var clients: [ResetTest] = []
    for number in 0..<3 {
      clients.append(
        try await ResetTest.open(.discardUnsyncedChanges(), server: server, ids: CountingIDs(from: number * 10_000)))
    }
    for (number, test) in clients.enumerated() {
      try await test.client.sync()
      try await test.insert("synced\(number)", ["v": 1])
      try await test.client.sync()
      try await test.insert("own\(number)", ["v": 1])
      try await test.update("s", ["v": .int(Int64(10 + number))])
    }
    server.restore(backup)
    for test in clients { try await test.client.sync() }
    for test in clients {
      #expect(try await test.rows() == ["s": ["v": 1]])
      #expect(try await test.reports().count == 1)
      #expect(try await test.depth() == 0)
      try await test.client.close()
    }
  }
}
