internal import StrandlineServer
internal import StrandlineSync

/// The server of the `sync` benches: one table for all, on a store in a directory, and over HTTP on loopback.
enum BenchServer {
  static let user = "bench"
  static let secret = Array("a secret of the benches, 32 bytes".utf8)
  /// Of ``user``, signed with ``secret``, until 2100.
  static let token =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJiZW5jaCIsImV4cCI6NDEwMjQ0NDgwMH0.cfh2kSxw_bC2thRGTaE4DK_gVFp5WzYo3dqn_ECOvTs"
  static let pageRowCount = 5000

  static func open(_ path: String) async throws -> SyncServer {
    var configuration = ServerConfiguration(tables: [SyncRows.table: ServerTable()])
    configuration.limits.pullScanCountMax = pageRowCount
    return try await SyncServer(configuration, storage: try await EmbeddedServerStorage.open(at: path))
  }

  /// A server's store with all rows.
  static func loaded(_ site: Site) throws -> String {
    let count = site.rowCount
    let directory = try site.shared("sync-server") { directory in
      try waitFor {
        let server = try await open("\(directory)/store")
        for start in stride(from: 0, to: count, by: 5000) {
          let rows = SyncRows.entries(Array(start..<min(start + 5000, count)), version: 0, from: 1)
          try await server.write(rows.map { .upsert(table: $0.table, pk: $0.pk, columns: $0.row) })
        }
        try await server.close()
      }
    }
    return "\(directory)/store"
  }

  static func serve(_ server: SyncServer) throws -> HTTPServer {
    guard let address = SocketAddress("127.0.0.1:0") else { throw BenchmarkError.failed("no loopback address") }
    var configuration = HTTPServerConfiguration(address: address)
    configuration.limits.connectionCountPerAddressMax = configuration.limits.connectionCountMax
    configuration.limits.callCountPerUserMax = configuration.limits.callCountMax
    return try HTTPServer(configuration, serving: server, keys: TokenKeys(try TokenKeySet(secret: secret)))
  }

  static func remote(_ http: HTTPServer, offersBinary: Bool) throws -> HTTPRemote {
    var configuration = RemoteConfiguration(url: "http://127.0.0.1:\(http.address.port)", publishableKey: "bench")
    configuration.offersBinary = offersBinary
    return try HTTPRemote(configuration)
  }
}
