import StrandlineServer
import StrandlineTestSupport
import Testing

@Suite("Server configuration") struct ServerConfigurationTests {
  static let refused: [(String, @Sendable (inout ServerConfiguration) -> Void)] = [
    ("no key", { $0.tables["notes"]?.keyColumns = [] }),
    ("a key column twice", { $0.tables["notes"]?.keyColumns = ["a", "a"] }),
    ("a key column without a name", { $0.tables["notes"]?.keyColumns = [""] }),
    ("too few key types", { $0.tables["notes"]?.keyTypes = [] }),
    ("a bucket column without a name", { $0.tables["notes"]?.bucketColumn = "" }),
    ("a table without a name", { $0.tables[""] = ServerTable() }),
    ("a name that is too long", { $0.tables[String(repeating: "x", count: 97)] = ServerTable() }),
    ("a negative retention", { $0.tombstoneRetention = .seconds(-1) }),
    ("a negative retention of a table", { $0.tables["notes"]?.tombstoneRetention = .seconds(-1) }),
    ("no entry a page", { $0.limits.pageEntryCount = 0 }),
    ("no candidate a page", { $0.limits.pullScanCountMax = 0 }),
    ("no bucket entry", { $0.limits.bucketEntryCountMax = 0 }),
    ("no mutation", { $0.limits.mutationCountMax = 0 }),
    ("rows that are too large", { $0.limits.rowByteCountMax = 9 << 20 }),
  ]

  @Test("a table keeps the bucket column and key that its rows were stored by")
  func changedTables() async throws {
    let disk = SimulatedDisk()
    func open(_ table: ServerTable) async throws {
      let test = try await TestServer(ServerConfiguration(tables: ["notes": table, "new": ServerTable()]), disk: disk)
      try await test.server.close()
    }
    try await open(ServerTable(bucketColumn: "owner"))
    await #expect(throws: ServerConfigurationError.self) { try await open(ServerTable(bucketColumn: "team")) }
  }

  @Test("what contradicts itself is refused when the server is made", arguments: refused)
  func refusals(_ name: String, _ change: @Sendable (inout ServerConfiguration) -> Void) async throws {
    var configuration = ServerConfiguration(tables: ["notes": ServerTable()])
    change(&configuration)
    let refused = configuration
    await #expect(throws: ServerConfigurationError.self, "\(name)") { _ = try await TestServer(refused) }
  }
}
