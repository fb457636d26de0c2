import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Testing

/// The Swift code about client resets in Docs, compiled against what everybody may use, and run.
struct ResetExamples {
  // example
  func open(_ path: String, _ tables: [String: TableConfiguration], _ remote: any Remote) async throws -> SyncClient {
    var configuration = SyncConfiguration(storePath: path, tables: tables, remote: remote)
    configuration.clientReset = .recoverUnsyncedChanges(
      before: { view in
        // The state as it is. Throw here, and nothing has changed.
        print("about to reset; not synced yet: \(try view.outboxDepth())")
      },
      after: { before, client, report in
        // What was replaced, the live client, and what happened. Nothing has been uploaded yet.
        for lost in report.dropped { print("\(lost.table)/\(lost.pk): \(lost.reason)") }
      })
    configuration.errorHandler = { error, session in print(session.storePath, error) }
    return try await SyncClient.open(configuration)
  }
  // end

  // example
  func rescue(into client: SyncClient, _ tables: [String: TableConfiguration]) async throws {
    guard let copy = try await client.keptCopies().last else { return }
    let before = try await copy.view(tables)
    for mutation in try before.pendingMutations() where mutation.operation == .insert {
      try await client.apply(.insert, to: mutation.table, pk: mutation.pk, columns: mutation.columns)
    }
  }
  // end

  @Test func `a reset is forced, and what it dropped is written again`() async throws {
    let directory = TemporaryDirectory()
    let storage = try await EmbeddedServerStorage.open(at: directory.path + "/server")
    let server = try await SyncServer(ServerConfiguration(tables: ["todos": ServerTable()]), storage: storage)
    let tables = ["todos": TableConfiguration()]
    let remote = LoopbackRemote(server) { _ in Caller(userID: "ann") }
    let client = try await open(directory.path + "/client", tables, remote)
    // {"alg":"none"} . {"sub":"ann"} . nothing
    try await client.setAccessToken("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x")
    try await client.from("todos").insert(["id": "t1", "title": "synced"])
    try await client.sync()
    try await client.from("todos").insert(["id": "t2", "title": "not synced"])
    #expect(try await client.previewReset(.recoverUnsyncedChanges()).entries.kept == 1)
    try await client.startClientReset(.discardUnsyncedChanges())
    #expect(try await client.query("todos", QueryPlan()).rows.count == 1)
    try await rescue(into: client, tables)
    try await client.sync()
    #expect(try await client.query("todos", QueryPlan()).rows.count == 2)
    #expect(try await client.resetHistory().last?.entries.discarded == 1)
    try await client.close()
  }
}
