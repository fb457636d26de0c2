import StrandlineProtocol

@testable @_spi(Scenario) import StrandlineSync

/// What has to be left behind a reset, line for line; everything else that a store held is gone.
struct ResetMatrix: Sendable {
  private let before: [String: Value]

  /// - Parameter client: in front of the reset.
  init(_ client: SyncClient) async throws { before = try await ResetTests.meta(client) }

  /// The lines that do not hold.
  func deviations(of client: SyncClient) async throws -> [String] {
    var deviations: [String] = []
    func expect(_ holds: Bool, _ line: String) { if !holds { deviations.append(line) } }
    for table in ResetTests.stateTables where table != StateTable.meta {
      expect(try await client.stateRows(of: table).isEmpty, "\(table) holds something")
    }
    expect(try await client.liveRows().isEmpty, "there are rows")
    let meta = try await ResetTests.meta(client)
    var kept: Set<String> = ["cursor", "client_id", "incarnation"]
    if before["origin_hlc"] != nil { kept.insert("origin_hlc") }
    expect(Set(meta.keys) == kept, "kept are \(meta.keys.sorted())")
    expect(meta["cursor"] == "0", "the cursor is \(meta["cursor"] ?? .null)")
    expect(meta["client_id"] != before["client_id"], "the client has its old id")
    expect(meta["client_id"].flatMap(\.wireText).flatMap { UUIDBytes($0) } != nil, "the client's id is none")
    expect(meta["incarnation"] == before["incarnation"], "the store is another one")
    expect(meta["origin_hlc"] == before["origin_hlc"], "stamps do not go on")
    let seen = try await client.inspect()
    expect(seen.depth == 0 && seen.lastMutationID == nil && seen.cursor == "0", "the client tells \(seen)")
    expect(try await client.checkpoint().softBlockReason == nil, "the client is blocked")
    return deviations
  }
}
