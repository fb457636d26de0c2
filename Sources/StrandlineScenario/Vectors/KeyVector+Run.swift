@_spi(Scenario) internal import StrandlineServer
internal import StrandlineSync

extension KeyVector: ScenarioContent {
  var sides: Set<ScenarioSide> { ScenarioKind.keyVector.sides }

  func run(on side: ScenarioSide) async throws(CaseFailure) {
    switch side {
    case .client: try await runClient()
    case .server: try runServer()
    }
  }

  /// The client inserts the row, and queues it under the text.
  private func runClient() async throws(CaseFailure) {
    var queued: String?
    do {
      let client = try await ScenarioClient.open(
        SyncConfiguration(tables: ["rows": TableConfiguration(key: key)], remote: ScriptedRemote()))
      do {
        try await client.from("rows").insert(row)
        queued = try await client.inspect().head.first?.pk
      } catch {
        await client.dispose()
        throw error
      }
      await client.dispose()
    } catch {
      throw CaseFailure("the key of the row", "the insert was refused: \(error)")
    }
    try expect("the key of the row", .string(pk), got: queued.map { .string($0) })
  }

  /// The server derives the text of the row's key, and takes the text as the canonical one of the table.
  private func runServer() throws(CaseFailure) {
    try expect("the key of the row", .string(pk), got: SyncServer.pk(of: row, keyColumns: key).map { .string($0) })
    if ServerTable(keyColumns: key).keyComponents(of: pk) == nil {
      throw CaseFailure("the key", "is not taken as canonical: \(pk)")
    }
  }
}
