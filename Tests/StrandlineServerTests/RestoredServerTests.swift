@_spi(Engine) import StrandlineLog
import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Testing

/// Clients of a server whose files were put back, in several modes.
struct RestoredServerTests {
  /// The server of the day.
  private final class Front: Remote {
    private let server: Lock<SyncServer>
    init(_ server: SyncServer) { self.server = Lock(server) }
    func put(_ server: SyncServer) { self.server.withLock { $0 = server } }

    private var remote: LoopbackRemote { LoopbackRemote(server.withLock { $0 }) { _ in Caller(userID: "ann") } }

    func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer>
    {
      try await remote.pull(request, context)
    }
    func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer>
    {
      try await remote.push(request, context)
    }
  }

  private static func open(_ mode: ClientResetMode, _ front: Front) async throws -> SyncClient {
    var configuration = SyncConfiguration(tables: ["todos": TableConfiguration()], remote: front)
    configuration.clientReset = mode
    configuration.storeOptions.compactsInBackground = false
    let client = try await SyncClient.open(configuration)
    // {"alg":"none"} . {"sub":"ann"} . nothing
    try await client.setAccessToken("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x")
    return client
  }

  private static func titles(_ client: SyncClient) async throws -> [String: String] {
    var titles: [String: String] = [:]
    for row in try await client.query("todos", QueryPlan()).rows {
      if case .string(let id)? = row["id"], case .string(let title)? = row["title"] { titles[id] = title }
    }
    return titles
  }

  @Test(arguments: [true, false])
  func `a server put back by copying files is found out, also once it has grown past its clients`(_ grows: Bool)
    async throws
  {
    let tables = ["todos": ServerTable()]
    let first = try await TestServer(tables)
    let front = Front(first.server)
    let recovering = try await Self.open(.recoverUnsyncedChanges(), front)
    let discarding = try await Self.open(.discardUnsyncedChanges(), front)
    try await recovering.apply(.insert, to: "todos", pk: "old", columns: ["id": "old", "title": "backed up"])
    try await recovering.sync()
    let backup = first.disk.image
    try await recovering.apply(.insert, to: "todos", pk: "lost", columns: ["id": "lost", "title": "after the backup"])
    try await recovering.sync()
    try await discarding.sync()
    #expect(try await Self.titles(discarding) == ["old": "backed up", "lost": "after the backup"])
    // Neither of these reaches the server that is lost.
    try await recovering.apply(.update, to: "todos", pk: "old", columns: ["title": "mine"])
    try await recovering.apply(.update, to: "todos", pk: "lost", columns: ["title": "mine too"])
    try await recovering.apply(.insert, to: "todos", pk: "new", columns: ["id": "new", "title": "offline"])
    try await discarding.apply(.insert, to: "todos", pk: "dropped", columns: ["id": "dropped", "title": "offline"])
    let second = try await TestServer(
      first.configuration, disk: SimulatedDisk(backup), clock: first.clock, seed: 2)
    if grows {
      for number in 0..<6 {
        try await second.own("todos", "s\(number)", ["id": .string("s\(number)"), "title": "since"])
      }
    }
    front.put(second.server)
    // First the one that uploads nothing.
    try await discarding.sync()
    try await recovering.sync()
    try await discarding.sync()
    var expected = ["old": "mine", "new": "offline"]
    if grows { for number in 0..<6 { expected["s\(number)"] = "since" } }
    #expect(try await Self.titles(recovering) == expected)
    #expect(try await Self.titles(discarding) == expected)
    let recovered = try #require(try await recovering.resetHistory().last)
    #expect(recovered.demand.kind == .history && recovered.didRecover)
    #expect(recovered.entries.kept == 2 && recovered.dropped.map(\.reason) == [.missingOnServer])
    #expect(recovered.rowsByTable["todos"]?.removed == 1)
    let discarded = try #require(try await discarding.resetHistory().last)
    #expect(discarded.entries.discarded == 1 && !discarded.didRecover)
    #expect(try await recovering.deadLetters().count == 1)
    try await recovering.close()
    try await discarding.close()
  }
}
