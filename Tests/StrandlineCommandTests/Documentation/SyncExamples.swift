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
}
