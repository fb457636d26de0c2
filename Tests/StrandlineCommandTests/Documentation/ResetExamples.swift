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
        for lost in report.dropped {
          let was = try before.query(lost.table, QueryPlan(filters: [.column("id", .equals, .string(lost.pk))])).rows
          print("\(lost.table)/\(lost.pk): \(lost.reason); it was \(was)")
        }
      })
    configuration.errorHandler = { error, session in print(session.storePath, error) }
    let client = try await SyncClient.open(configuration)
    // An action that an earlier process left was performed just now, in front of anybody who listens.
    if let report = client.resetAtOpen { print("begun anew; the state before: \(report.keptCopy.path ?? "not kept")") }
    return client
  }
  // end

  // example
  func decide(_ configuration: SyncConfiguration) async throws -> SyncClient {
    var configuration = configuration
    configuration.clientReset = .manual(handler: { error, session in
      // Called with what sync() throws. Keep the token where a button finds it.
      guard let info = (error as? SyncError)?.resetInfo, let token = info.token else { return }
      print(session.storePath, info.reason, token.text, info.keptCopyPath ?? "no copy")
    })
    return try await SyncClient.open(configuration)
  }

  /// Somebody has decided to begin anew.
  func begin(_ client: SyncClient?, _ token: ResetToken, at path: String) async throws {
    if let client {
      try await client.performResetAction(token)
    } else {
      try await SyncClient.performResetAction(token, at: path)
    }
  }
  // end

  // example
  func rescue(_ copy: KeptCopy, into client: SyncClient, _ tables: [String: TableConfiguration]) async throws {
    for lost in try await copy.view(tables).pendingMutations() {
      guard let key = tables[lost.table]?.key else { continue }
      do {
        try await client.apply(
          lost.operation, to: lost.table, pk: lost.pk, columns: lost.columns, transforms: lost.transforms)
      } catch let error as SyncError where error.catalogueCode == .localConstraint && lost.operation == .insert {
        // There is such a row: another device's, or this one's own whose answer was lost. What was written goes over it.
        let columns = lost.columns.filter { !key.contains($0.key) }
        try await client.apply(.update, to: lost.table, pk: lost.pk, columns: columns)
      }
    }
  }
  // end

  // example
  func tryResets(in directory: String) async throws {
    let storage = try await EmbeddedServerStorage.open(at: directory + "/server")
    let server = try await SyncServer(
      ServerConfiguration(tables: ["todos": ServerTable(bucketColumn: "owner")]), storage: storage)
    // A real application judges the token here.
    let remote = LoopbackRemote(server) { token in token.isEmpty ? nil : Caller(userID: "ann") }
    let client = try await open(
      directory + "/client", ["todos": TableConfiguration(bucket: .byOwner("owner"))], remote)
    // {"alg":"none"} . {"sub":"ann"} . nothing
    try await client.setAccessToken("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x")
    try await client.from("todos").insert(["id": "t1", "title": "synced"])
    try await client.sync()
    try await client.from("todos").insert(["id": "t2", "title": "not synced"])
    try await server.beginNewHistory()
    try await client.sync()
    print(try await client.resetHistory().last?.entries.kept ?? 0)
    try await client.close()
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
    // Another device has made a row of the same key meanwhile.
    try await client.from("todos").insert(["id": "t2", "note": "another's"])
    let copy = try #require(try await client.keptCopies().last)
    for _ in 1...2 { try await rescue(copy, into: client, tables) }
    try await client.sync()
    #expect(try await client.query("todos", QueryPlan()).rows.count == 2)
    let rows = try await client.from("todos").select().eq("id", "t2").rows()
    #expect(rows.map { $0["title"] } == ["not synced"] && rows.map { $0["note"] } == ["another's"])
    #expect(try await client.resetHistory().last?.entries.discarded == 1)
    try await client.close()
  }

  @Test func `a server that begins anew resets its clients, and a token begins anew by hand`() async throws {
    let directory = TemporaryDirectory()
    try await tryResets(in: directory.path)
    let storage = try await EmbeddedServerStorage.open(at: directory.path + "/other")
    let server = try await SyncServer(ServerConfiguration(tables: ["todos": ServerTable()]), storage: storage)
    let remote = LoopbackRemote(server) { _ in Caller(userID: "ann") }
    let path = directory.path + "/manual"
    let client = try await decide(
      SyncConfiguration(storePath: path, tables: ["todos": TableConfiguration()], remote: remote))
    try await client.setAccessToken("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x")
    try await client.from("todos").insert(["id": "t1"])
    try await client.sync()
    try await server.beginNewHistory()
    let error = await #expect(throws: SyncError.self) { try await client.sync() }
    let token = try #require(error?.resetInfo?.token)
    try await client.close()
    try await begin(nil, token, at: path)
    await #expect(throws: SyncError.self) { try await begin(nil, token, at: path) }
  }
}
