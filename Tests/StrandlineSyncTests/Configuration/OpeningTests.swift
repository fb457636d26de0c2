import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct OpeningTests {
  private struct Bad: Sendable {
    var name: String
    var code = SyncErrorCode.configInvalid
    var tables: [String: TableConfiguration] = ["todos": TableConfiguration()]
    var change: @Sendable (inout SyncConfiguration) -> Void = { _ in }
  }

  private static let attachment = TableConfiguration.Attachment(storageBucket: "b", ownerColumn: "owner")

  private static let bad: [Bad] = [
    Bad(name: "client id") { $0.clientID = "device-1" },
    Bad(name: "empty path") { $0.storePath = "" },
    Bad(name: "missing parent") { $0.storePath = "/tmp/strandline-no-such-directory/below/store" },
    Bad(name: "limit 0") { $0.pageLimit = 0 },
    Bad(name: "negative limit") { $0.pageLimit = -1 },
    Bad(name: "schema version") { $0.schemaVersion = 0 },
    Bad(name: "attempts") { $0.attachmentAttemptCountMax = 0 },
    Bad(name: "empty local-only column") { $0.localOnlyColumns = [""] },
    Bad(name: "a name of the client's own", tables: ["strandline.outbox": TableConfiguration()]),
    Bad(name: "nameless table", tables: ["": TableConfiguration()]),
    Bad(name: "empty key", tables: ["t": TableConfiguration(key: [])]),
    Bad(name: "key with an empty name", tables: ["t": TableConfiguration(key: ["id", ""])]),
    Bad(name: "key with a hidden name", tables: ["t": TableConfiguration(key: ["\u{1}pk"])]),
    Bad(name: "key that repeats", tables: ["t": TableConfiguration(key: ["a", "a"])]),
    Bad(name: "owner without a column", tables: ["t": TableConfiguration(bucket: .byOwner(""))]),
    Bad(name: "owner in the key", tables: ["t": TableConfiguration(bucket: .byOwner("id"))]),
    Bad(name: "bucket without a column", tables: ["t": TableConfiguration(bucket: .byColumn(""))]),
    Bad(name: "value without a bucket", tables: ["t": TableConfiguration(bucketValue: "a")]),
    Bad(
      name: "attachment without a storage bucket",
      tables: ["t": TableConfiguration(attachments: ["file": .init(storageBucket: "", ownerColumn: "o")])]),
    Bad(
      name: "attachment without an owner",
      tables: ["t": TableConfiguration(attachments: ["file": .init(storageBucket: "b", ownerColumn: "")])]),
    Bad(
      name: "attachments and another key",
      tables: ["t": TableConfiguration(attachments: ["file": attachment], key: ["no"])]),
    Bad(
      name: "attachments without a root", code: .attachmentPortsMissing,
      tables: ["t": TableConfiguration(attachments: ["file": attachment])]),
    Bad(
      name: "a root that cannot be made", tables: ["t": TableConfiguration(attachments: ["file": attachment])]
    ) { $0.attachmentRoot = "/proc/nowhere/files" },
    Bad(
      name: "two indexes of one name",
      tables: [
        "t": TableConfiguration(indexes: [IndexSchema("i", ["a"]), IndexSchema("i", ["b"])])
      ]),
  ]

  @Test func `configurations that cannot be are refused`() async {
    for bad in Self.bad {
      let thrown = await code { _ = try await TestClient.open(bad.tables, change: bad.change) }
      #expect(thrown == bad.code, "\(bad.name)")
    }
  }

  @Test func `no path and :memory: are stores of the client's own that go with it`() async throws {
    for path in [nil, ":memory:"] {
      let test = try await TestClient.open(at: path)
      let directory = test.client.store.path
      #expect(DirectoryProbe.exists(directory))
      try await test.insert("p1")
      try await test.client.close()
      #expect(!DirectoryProbe.exists(directory))
    }
  }

  @Test func `an attachment root is made`() async throws {
    let directory = TemporaryDirectory()
    let tables = ["t": TableConfiguration(attachments: ["file": Self.attachment])]
    let test = try await TestClient.open(tables) { $0.attachmentRoot = "\(directory.path)/a/b" }
    #expect(DirectoryProbe.exists("\(directory.path)/a/b"))
    try await test.client.close()
  }

  @Test func `a store that holds anything of an application's is refused and stays`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let schema = Schema(tables: [TableSchema("notes", key: [KeyColumn("id", .int)])])
    let store = try await Store.open(at: path, schema: schema)
    try await store.close()
    #expect(await code { _ = try await TestClient.open(at: path) } == .configInvalid)
    let again = try await Store.open(at: path)
    #expect(try again.view().tableNames == ["notes"])
    try await again.close()
    let events = "\(directory.path)/events"
    let other = try await Store.open(at: events)
    try await other.write { tx in _ = try tx.append(["n": 1], type: "Opened", to: "s") }
    try await other.close()
    #expect(await code { _ = try await TestClient.open(at: events) } == .configInvalid)
  }

  @Test func `a store that is in use is busy, and rows live through a restart with other tables`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let first = try await TestClient.open(at: path)
    try await first.insert("p1", ["a": 1], id: "m1")
    #expect(await code { _ = try await TestClient.open(at: path) } == .storeBusy)
    try await first.client.close()
    let other = try await TestClient.open(["news": TableConfiguration()], at: path)
    #expect(await code { _ = try other.client.from("todos") } == .unknownTable)
    // What is queued for a table that is not configured any more is sent, and undone.
    other.remote.script(pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: ["a": 2])]))])
    try await other.client.pushOnce()
    #expect(other.remote.pushRequests[0].mutations.map(\.table) == ["todos"])
    try await other.client.close()
    let again = try await TestClient.open(at: path)
    #expect(try await again.columns("p1") == ["a": 2])
    try await again.client.close()
  }

  @Test func `a damaged store is unavailable`() async throws {
    let directory = TemporaryDirectory()
    #expect(await code { _ = try await TestClient.open(at: "/proc/strandline") } == .configInvalid)
    let path = "\(directory.path)/store"
    let test = try await TestClient.open(at: path)
    try await test.client.close()
    DirectoryProbe.overwrite("\(path)/META")
    #expect(await code { _ = try await TestClient.open(at: path) } == .storeUnavailable)
  }

  @Test func `an error says code and message, and what lies beneath`() async throws {
    let thrown = await #expect(throws: SyncError.self) {
      _ = try await TestClient.open(at: "/tmp/strandline-no-such-directory/store")
    }
    let error = try #require(thrown)
    #expect(error.description == "CONFIG_INVALID: \(error.message)")
    #expect(error.code == .invalidUse && error.originalError != nil)
  }
}
