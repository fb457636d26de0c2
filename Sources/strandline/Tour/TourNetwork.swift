import StrandlineServer
import StrandlineSync

/// The server and the devices of the chapters on sync: on loopback, over HTTP, their stores in the tour's directory.
struct TourNetwork: Sendable {
  static let table = "entries"
  static let key = ["package", "version"]
  private static let secret = Array("a secret of the tour, good for a few seconds".utf8)

  let directory: String

  /// A server at work.
  struct Server: Sendable {
    fileprivate var http: HTTPServer
    fileprivate var sync: SyncServer

    var url: String { "http://\(http.address)" }

    func stop() async throws {
      await http.stop()
      try await sync.close()
    }
  }

  /// - Parameter beginsNewHistory: as a server does that was put back from a backup.
  func serve(beginsNewHistory: Bool = false) async throws -> Server {
    let storage = try await EmbeddedServerStorage.open(at: "\(directory)/server")
    if beginsNewHistory { try await storage.beginNewHistory() }
    let table = ServerTable(bucketColumn: "owner", keyColumns: Self.key, keepsJournal: true)
    let server = try await SyncServer(ServerConfiguration(tables: [Self.table: table]), storage: storage)
    guard let address = SocketAddress("127.0.0.1:0") else { throw Failure(.ioFailure, "no loopback address") }
    let keys = TokenKeys(try TokenKeySet(secret: Self.secret))
    return Server(
      http: try HTTPServer(HTTPServerConfiguration(address: address), serving: server, keys: keys), sync: server)
  }

  /// Opens the store of a device, which is made where there is none.
  ///
  /// - Parameter url: nil: there is no network.
  func open(
    _ device: String, of user: String, at url: String?, clientReset: ClientResetMode = .recoverUnsyncedChanges()
  ) async throws -> SyncClient {
    // Nobody listens on the port of `discard`.
    var remote = RemoteConfiguration(url: url ?? "http://127.0.0.1:9", publishableKey: "tour")
    remote.deadlines.connect = .seconds(600)
    remote.deadlines.request = .seconds(600)
    let expires = MachineClock().milliseconds() / 1000 + 3600
    let token = try DevelopmentTokenSigner(secret: Self.secret).token(for: user, expires: expires)
    return try await SyncClient.open(
      SyncConfiguration(
        storePath: "\(directory)/\(device)",
        tables: [Self.table: TableConfiguration(bucket: .byOwner("owner"), key: Self.key)],
        remote: try HTTPRemote(remote), accessToken: token, clientReset: clientReset, log: { _ in }))
  }

  /// All rows of a device, in the order of their keys.
  func rows(of client: SyncClient) async throws -> [Row] { try await client.from(Self.table).select().rows() }
}
