import StrandlineServer
import StrandlineTestSupport
import Testing

@Suite("Places in a history") struct HistoryTests {
  private static let all: [(String, [String: Value])] = [("notes", [:])]

  private func anchor(_ test: TestServer) async throws -> HistoryAnchor {
    try #require(await test.server.notes().history.flatMap { HistoryAnchor($0) })
  }

  private func pull(
    _ test: TestServer, _ history: String?, from cursor: String = "1"
  ) async throws -> RemoteAnswer<PullAnswer> {
    let request = PullRequest(
      clientID: nil, schemaVersion: 1, cursor: cursor, limit: nil,
      buckets: [PullRequest.Bucket(table: "notes", params: [:])])
    return try await test.server.pull(request, as: Caller(userID: "ann"), history: history)
  }

  @Test("every answer names the place: zeros before the first number, then its tag")
  func answers() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    let empty = try await anchor(test)
    #expect(empty.number == 0 && empty.tag == 0)
    let request = PushRequest(
      clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: [.insert("m1", "a")])
    let pushed = try await test.server.push(request, as: Caller(userID: "ann"))
    let first = try #require(pushed.notes.history.flatMap { HistoryAnchor($0) })
    #expect(first.history == empty.history && first.number == 1 && first.tag != 0)
    #expect(try await pull(test, nil).notes.history == first.description)
    // A replay draws nothing.
    #expect(try await test.server.push(request, as: Caller(userID: "ann")).notes.history == first.description)
    try await test.own("notes", "b", [:])
    let second = try await anchor(test)
    #expect(second.number == 2 && second.tag != first.tag)
  }

  @Test("a place of our own is taken, any other is lost history, before any page or mutation")
  func comparison() async throws {
    let test = try await TestServer(["notes": ServerTable(), "fixed": ServerTable(isPullOnly: true)])
    for pk in ["a", "b"] { try await test.own("notes", pk, [:]) }
    let here = try await anchor(test)
    var foreign = here
    foreign.history = String(here.history.reversed())
    var ahead = here
    ahead.number = 3
    var forked = here
    forked.tag ^= 1
    var empty = here
    empty.number = 0
    for lost in [foreign, ahead, forked, empty] {
      let page = try await pull(test, lost.description)
      #expect(page.body == PullAnswer(cursor: "1", signal: "RESET_REQUIRED"))
      #expect(page.notes.resetCause == "history" && page.notes.history == here.description)
      let request = PushRequest(
        clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false,
        mutations: [.insert("m1", "c"), .insert("m2", "c", in: "fixed")])
      let push = try await test.server.push(request, as: Caller(userID: "ann"), history: lost.description)
      #expect(push.body == PushAnswer(signal: .resetRequired) && push.notes.resetCause == "history")
    }
    #expect(try await test.highMark == 2)
    empty.tag = 0
    #expect(try await pull(test, empty.description).body.summary == ["b@2"])
    let page = try await pull(test, here.description)
    #expect(page.body.summary == ["b@2"] && page.notes.resetCause == nil)
    #expect(await refusal { try await test.pull(Self.all, history: "rubbish") } == .invalidParameter)
    #expect(await refusal { try await test.push([], history: "") } == .invalidParameter)
  }

  @Test("the schema gate is judged first, and says no cause")
  func gateFirst() async throws {
    let test = try await TestServer(["notes": ServerTable(schemaVersionMin: 5)])
    let foreign = HistoryAnchor(history: String(repeating: "0", count: 32), number: 0, tag: 0)
    let page = try await pull(test, foreign.description)
    #expect(page.body.signal == "RESET_REQUIRED" && page.notes.resetCause == nil)
    #expect(try await test.push([], version: 4, history: foreign.description) == PushAnswer(signal: .resetRequired))
  }

  @Test("where nothing is kept to compare with, a pull begins anew and a push goes on")
  func olderThanKept() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    for pk in ["a", "b"] { try await test.own("notes", pk, [:]) }
    var first = try await anchor(test)
    first.number = 1
    try await test.server.write([
      .upsert(table: "notes", pk: "c", columns: [:]), .upsert(table: "notes", pk: "d", columns: [:]),
    ])
    let oldest = try await { () async throws -> HistoryAnchor in
      var anchor = try await anchor(test)
      anchor.number = 2
      return anchor
    }()
    #expect(try await pull(test, oldest.description).body.signal == "RESET_REQUIRED")
    test.advance(by: .days(31))
    try await test.server.reap()
    #expect(try await pull(test, oldest.description).body.signal == "CHECKPOINT_EXPIRED")
    // A transfer from the start has nothing to begin anew.
    #expect(try await pull(test, oldest.description, from: "0:1").body.signal == nil)
    #expect(try await test.push([.insert("m1", "e")], history: oldest.description).verdicts == [.applied("m1")])
    // The newest place is never forgotten.
    let here = try await anchor(test)
    test.advance(by: .days(31))
    try await test.server.reap()
    #expect(try await pull(test, here.description).body.signal == nil)
  }

  @Test("a number inside a commit was never handed out by this history, and is lost history too")
  func insideCommit() async throws {
    let test = try await TestServer(["notes": ServerTable()])
    func write(_ pks: String...) async throws {
      try await test.server.write(pks.map { .upsert(table: "notes", pk: $0, columns: [:]) })
    }
    func verdict(_ number: Int64) async throws -> RemoteAnswer<PullAnswer> {
      var anchor = try await anchor(test)
      anchor.number = number
      return try await pull(test, anchor.description)
    }
    try await write("a", "b")
    // Where nothing lower is kept it may be older than what is.
    #expect(try await verdict(1).body.signal == "CHECKPOINT_EXPIRED")
    try await write("c", "d", "e")
    for number: Int64 in [3, 4] {
      let page = try await verdict(number)
      #expect(page.body == PullAnswer(cursor: "1", signal: "RESET_REQUIRED") && page.notes.resetCause == "history")
      var anchor = try await anchor(test)
      anchor.number = number
      let request = PushRequest(
        clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: [.insert("m1", "f")])
      let push = try await test.server.push(request, as: Caller(userID: "ann"), history: anchor.description)
      #expect(push.body == PushAnswer(signal: .resetRequired) && push.notes.resetCause == "history")
    }
    test.advance(by: .days(31))
    try await test.server.reap()
    #expect(try await verdict(4).body.signal == "CHECKPOINT_EXPIRED")
    #expect(try await test.highMark == 5)
  }

  @Test("a history keeps its name over a restart, and has another in a copy, and when it is begun anew")
  func names() async throws {
    let first = try await TestServer(["notes": ServerTable()])
    try await first.own("notes", "a", [:])
    let here = try await anchor(first)
    try await first.server.close()
    let disk = first.disk.kill()
    let again = try await TestServer(ServerConfiguration(tables: ["notes": ServerTable()]), disk: disk)
    #expect(try await anchor(again) == here)
    try await again.server.beginNewHistory()
    let renamed = try await anchor(again)
    #expect(renamed.history != here.history && renamed.number == here.number)
    #expect(try await pull(again, here.description).body.signal == "RESET_REQUIRED")
    try await again.server.close()
    let restarted = try await TestServer(ServerConfiguration(tables: ["notes": ServerTable()]), disk: disk.kill())
    #expect(try await anchor(restarted) == renamed)
    let other = try await TestServer(
      ServerConfiguration(tables: ["notes": ServerTable()]), seed: 2)
    #expect(try await anchor(other).history != here.history)
  }

  @Test("a server put back by copying files is found out, also when it has grown past the client")
  func restoredFiles() async throws {
    let first = try await TestServer(["notes": ServerTable()])
    try await first.own("notes", "a", [:])
    let image = first.disk.image
    try await first.own("notes", "b", [:])
    let client = try await anchor(first)
    let restored = try await TestServer(
      ServerConfiguration(tables: ["notes": ServerTable()]), disk: SimulatedDisk(image), seed: 9)
    #expect(try await pull(restored, client.description).notes.resetCause == "history")
    for pk in ["x", "y", "z"] { try await restored.own("notes", pk, [:]) }
    #expect(try await pull(restored, client.description).notes.resetCause == "history")
  }

  @Test("recovery is forbidden for the whole server or by table")
  func recovery() async throws {
    let test = try await TestServer(["notes": ServerTable(forbidsRecovery: true), "free": ServerTable()])
    func isForbidden(_ tables: [String]) async throws -> Bool {
      let request = PullRequest(
        clientID: nil, schemaVersion: 1, cursor: "0", limit: nil,
        buckets: tables.map { PullRequest.Bucket(table: $0, params: [:]) })
      return try await test.server.pull(request, as: Caller(userID: "ann")).notes.isRecoveryForbidden
    }
    #expect(try await isForbidden(["notes", "free"]))
    #expect(try await !isForbidden(["free", "unknown"]))
  }
}
