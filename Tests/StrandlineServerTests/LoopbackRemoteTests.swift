import StrandlineServer
import Testing

@Suite("Server in the same process") struct LoopbackRemoteTests {
  @Test("tokens become callers, refusals failures with their notes")
  func calls() async throws {
    let test = try await TestServer(["notes": ServerTable(bucketColumn: "owner")])
    let remote = LoopbackRemote(test.server) { token in token == "good" ? Caller(userID: "ann") : nil }
    let push = PushRequest(
      clientID: "c", schemaVersion: 1, lastMutationID: nil, isAtomic: false,
      mutations: [.insert("m1", "a", ["owner": "ann"])])
    let history = try await test.server.notes().history
    for (token, code) in [(nil, TransportCode.sessionMissing), ("bad", .sessionExpired)] as [(String?, TransportCode)] {
      do {
        _ = try await remote.push(push, RemoteContext(accessToken: token))
        Issue.record("it was answered")
      } catch {
        #expect(error.code == code && !error.isPermanent)
      }
    }
    #expect(try await remote.push(push, RemoteContext(accessToken: "good")).body.verdicts == [.applied("m1")])
    let pull = PullRequest(clientID: "c", schemaVersion: 1, cursor: "x", limit: nil, buckets: [])
    do {
      _ = try await remote.pull(pull, RemoteContext(accessToken: "good"))
      Issue.record("it was answered")
    } catch {
      #expect(error.code == .invalidParameter && error.isPermanent)
      #expect(error.notes.history != nil && error.notes.history != history)
    }
    let context = RemoteContext(accessToken: "good", history: "\(String(repeating: "0", count: 32));9;0000000000000000")
    let page = try await remote.pull(
      PullRequest(
        clientID: "c", schemaVersion: 1, cursor: "0", limit: nil,
        buckets: [PullRequest.Bucket(table: "notes", params: ["owner": "ann"])]), context)
    #expect(page.notes.resetCause == "history")
  }

  @Test("who waits is told the mark at once and each time it rises, and when the server is closed")
  func highMarks() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    try await test.own("notes", "a", [:])
    var marks = test.server.highMarks().makeAsyncIterator()
    #expect(await marks.next() == 1)
    _ = try await test.push([.insert("m1", "b"), .insert("m2", "c")])
    #expect(await marks.next() == 3)
    // Neither a replay nor a rejection wakes anybody, and what was not taken in time is one.
    _ = try await test.push([.insert("m1", "b"), .delete("m3", "none")])
    try await test.own("notes", "d", [:])
    try await test.own("notes", "e", [:])
    #expect(await marks.next() == 5)
    try await test.server.close()
    #expect(await marks.next() == nil)
    var late = test.server.highMarks().makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test("a closed server answers an error without a code, which a client may try again")
  func closed() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    try await test.server.close()
    do {
      _ = try await test.push([.insert("m1", "b")])
      Issue.record("it was answered")
    } catch { #expect(error.code == nil) }
  }
}
