import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Testing

/// The Swift code about client and server in Docs, compiled against what everybody may use, and run.
struct SyncExamples {
  // example
  func serve(from path: String) async throws -> SyncServer {
    let storage = try await EmbeddedServerStorage.open(at: path)
    return try await SyncServer(
      ServerConfiguration(tables: ["todos": ServerTable(bucketColumn: "user_id")]), storage: storage)
  }
  // end

  // example
  func plan(in path: String, as token: String, over remote: any Remote) async throws -> [Row] {
    let client = try await SyncClient.open(
      SyncConfiguration(
        storePath: path, tables: ["todos": TableConfiguration(bucket: .byOwner("user_id"))], remote: remote))
    let stop = client.on { event in print(event.name) }
    try await client.setAccessToken(token)
    try await client.from("todos").insert(["title": "works on a plane"])  // shows at once, and is queued
    try await client.sync()  // pushes, and pulls what is new
    let rows = try await client.from("todos").select("title", "user_id").rows()
    stop()
    try await client.close()
    return rows
  }
  // end

  // example
  func finish(_ title: String, in path: String, at url: String, as token: String) async throws -> [String] {
    let remote = try HTTPRemote(RemoteConfiguration(url: url, publishableKey: "my-app"))
    let client = try await SyncClient.open(
      SyncConfiguration(
        storePath: path, tables: ["todos": TableConfiguration(bucket: .byOwner("user_id"))], remote: remote,
        accessToken: token))
    // Filters stand behind what is to be done, and nothing is done before execute(). It answers the keys of the rows.
    let keys = try await client.from("todos").update(["done": true]).eq("title", .string(title)).execute()
    try await client.sync()
    try await client.close()
    return keys
  }
  // end

  // example
  func add(_ picture: String, to room: String, of owner: String, with configuration: SyncConfiguration) async throws {
    var configuration = configuration
    configuration.tables["rooms"] = TableConfiguration(
      bucket: .byOwner("owner"), attachments: ["photo": .init(storageBucket: "photos", ownerColumn: "owner")])
    let client = try await SyncClient.open(configuration)  // with an attachmentRoot and a transfer
    try await client.from("rooms").insert(["id": .string(room), "owner": .string(owner)])  // both are UUIDs
    let file = try await client.fromFile(table: "rooms", column: "photo", pk: room, sourcePath: picture)
    try await client.sync()  // pushes the row, then sends the file
    if let status = try await client.getStatus(file.reference) { print(status.state, status.errorCode ?? "") }
    // Here already. A device that pulled the row fetches the file now.
    if let path = try await client.resolveDownload(file.reference) { print(path) }
    try await client.from("rooms").delete().eq("id", .string(room)).execute()
    try await client.sync()
    try await client.vacuum()  // deletes what nobody names any more: there, and here
    try await client.close()
  }
  // end

  @Test func `a client and a server in one process`() async throws {
    let directory = TemporaryDirectory()
    let server = try await serve(from: directory.path + "/server")
    let remote = LoopbackRemote(server) { _ in Caller(userID: "ann") }
    // {"alg":"none"} . {"sub":"ann"} . nothing
    let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x"
    let rows = try await plan(in: directory.path + "/client", as: token, over: remote)
    #expect(rows == [["title": "works on a plane", "user_id": "ann"]])
    #expect(try await server.notes().history != nil)
    let again = try await plan(in: directory.path + "/other", as: token, over: remote)
    #expect(again.count == 2)
    try await server.close()
  }

  @Test func `a server over HTTP`() async throws {
    let directory = TemporaryDirectory()
    let server = try await serve(from: directory.path + "/server")
    let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x"
    let path = directory.path + "/client"
    _ = try await plan(in: path, as: token, over: LoopbackRemote(server) { _ in Caller(userID: "ann") })
    try await server.close()
    // Nobody is at the other end any more; the write is queued all the same.
    await #expect(throws: SyncError.self) {
      _ = try await finish("works on a plane", in: path, at: "http://127.0.0.1:1", as: token)
    }
  }

  /// A storage in memory.
  private final class MemoryStorage: TransferPort {
    let objects = TestLock<[String: [UInt8]]>([:])

    func upload(
      _ bytes: [UInt8], as object: TransferObject, _ context: TransferContext
    ) async throws(TransferFailure) { objects.withLock { $0[object.reference] = bytes } }

    func openSession(
      for object: TransferObject, byteCount: Int64, _ context: TransferContext
    ) async throws(TransferFailure) -> String { throw TransferFailure(.unreachable) }

    func offset(ofSession url: String, _ context: TransferContext) async throws(TransferFailure) -> Int64 { 0 }

    func append(
      _ bytes: [UInt8], at offset: Int64, toSession url: String, _ context: TransferContext
    ) async throws(TransferFailure) -> Int64 { 0 }

    func confirm(
      _ object: TransferObject, byteCount: Int64, sha256: String?, _ context: TransferContext
    ) async throws(TransferFailure) {}

    func sha256(of object: TransferObject, _ context: TransferContext) async throws(TransferFailure) -> String? { nil }

    func download(
      _ object: TransferObject, to path: String, _ context: TransferContext
    ) async throws(TransferFailure) { throw TransferFailure(.unreachable) }

    func delete(_ object: TransferObject, _ context: TransferContext) async throws(TransferFailure) {
      objects.withLock { $0[object.reference] = nil }
    }
  }

  @Test func `a file goes to the storage and is deleted there`() async throws {
    let directory = TemporaryDirectory()
    let storage = try await EmbeddedServerStorage.open(at: directory.path + "/server")
    let server = try await SyncServer(
      ServerConfiguration(tables: ["rooms": ServerTable(bucketColumn: "owner")]), storage: storage)
    let owner = "0a000000-0000-4000-8000-00000000000a"
    let files = MemoryStorage()
    let configuration = SyncConfiguration(
      storePath: directory.path + "/client", tables: [:],
      remote: LoopbackRemote(server) { _ in Caller(userID: owner) },
      // {"sub": the owner}
      accessToken: "e30.eyJzdWIiOiIwYTAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMGEifQ.x",
      attachmentRoot: directory.path + "/files", transfer: files)
    try await add("/etc/hostname", to: "0b000000-0000-4000-8000-00000000000b", of: owner, with: configuration)
    #expect(files.objects.withLock { $0.isEmpty })
    try await server.close()
  }
}
