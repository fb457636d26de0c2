internal import StrandlineSync

/// Clients and their stores, made once for all benches of an invocation.
struct SyncStage: Sendable {
  let site: Site

  static func open(
    _ path: String, remote: any Remote = PreparedRemote(), syncs: Bool = true, token: String? = nil,
    pageLimit: Int? = nil, change: (inout SyncConfiguration) -> Void = { _ in }
  ) async throws -> SyncClient {
    var configuration = SyncConfiguration(
      storePath: path, tables: [SyncRows.table: TableConfiguration()], remote: remote, accessToken: token,
      pageLimit: pageLimit)
    configuration.storeOptions.cacheByteCountMax = EngineSettings().cacheByteCount
    configuration.storeOptions.durability = syncs ? .synced : .buffered
    change(&configuration)
    return try await SyncClient.open(configuration)
  }

  /// A client's store with all rows, compacted, and so many updates of different rows in its outbox.
  func loaded(pendingCount: Int) throws -> String {
    let count = site.rowCount
    let directory = try site.shared("sync-\(pendingCount)") { directory in
      let path = "\(directory)/store"
      try waitFor {
        let entries = SyncRows.entries(Array(0..<count), version: 0, from: 1)
        let pages = syncPages(entries, rowsPerPage: 10_000, closesEach: true)
        let client = try await Self.open(path, remote: PreparedRemote(pages), syncs: false)
        for _ in pages { try await client.pullOnce() }
        let pending = RowOrder.shuffled(count, seed: 7).prefix(pendingCount)
        for place in pending {
          try await client.apply(.update, to: SyncRows.table, pk: entries[place].pk, columns: ["status": 9])
        }
        try await client.close()
      }
    }
    return "\(directory)/store"
  }

  /// Inserts, each a mutation of its own.
  static func queue(_ entries: some Sequence<PullAnswer.RowEntry>, on client: SyncClient) async throws {
    for entry in entries { try await client.apply(.insert, to: SyncRows.table, pk: entry.pk, columns: entry.row) }
  }
}
