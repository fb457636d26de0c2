import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import StrandlineTestSupport
import Testing

struct BucketTests {
  private static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(bucket: .byColumn("team")), "notes": TableConfiguration(bucket: .byColumn("team")),
    "rooms": TableConfiguration(bucket: .byColumn("site")), "shared": TableConfiguration(),
  ]
  private static let one: [String: TableConfiguration] = ["todos": TableConfiguration(bucket: .byColumn("team"))]

  private func params(_ request: PullRequest?) -> [String: [String: Value]] {
    Dictionary(uniqueKeysWithValues: (request?.buckets ?? []).map { ($0.table, $0.params) })
  }

  @Test func `a value that is unset makes no request`() async throws {
    let test = try await TestClient.open(Self.tables)
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
    try await test.client.setBucket(["team": "a"])
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
    try await test.client.setBucket(["site": "s"])
    try await test.client.pullOnce()
    #expect(
      params(test.remote.pullRequests.first)
        == ["todos": ["team": "a"], "notes": ["team": "a"], "rooms": ["site": "s"], "shared": [:]])
    try await test.client.setBucket(["team": ""])
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
  }

  @Test func `a column that is no table's bucket refuses the whole call`() async throws {
    let test = try await TestClient.open(Self.one)
    try await test.client.setBucket(["team": "a"])
    let thrown = await #expect(throws: SyncError.self) {
      try await test.client.setBucket(["team": "b", "owner": "x"])
    }
    #expect(thrown?.catalogueCode == .bucketUnset && thrown?.message.contains("owner") == true)
    #expect(thrown?.message.contains("team") == true)
    try await test.client.pullOnce()
    #expect(params(test.remote.pullRequests.first) == ["todos": ["team": "a"]])
  }

  @Test func `another value begins anew, drops what is staged, and keeps what is queued`() async throws {
    let test = try await TestClient.open(Self.one)
    try await test.client.setBucket(["team": "a"])
    test.remote.script(pulls: [
      .answer(.page("5", ["p1": ["team": "a"]])), .answer(.page("5:6", more: true, ["p2": ["team": "a"]])),
      .answer(.page("9", ["p3": ["team": "b"]])),
    ])
    try await test.client.pullOnce()
    try await test.client.pullOnce()
    try await test.insert("mine", ["team": "a"])
    try await test.client.setBucket(["team": "b"])
    #expect(try await test.client.stagedNames().isEmpty)
    #expect(try await test.client.checkpoint().cursor == "5")
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "5", "0"])
    #expect(params(test.remote.pullRequests.last) == ["todos": ["team": "b"]])
    #expect(try await test.client.liveRows().map(\.pk) == ["mine", "p3"])
    #expect(try await test.shadows().isEmpty)
    #expect(try await test.client.outboxDepth() == 1)
  }

  @Test func `a first value, the same value and none arm nothing`() async throws {
    let test = try await TestClient.open(Self.one)
    test.remote.script(pulls: [.answer(.page("5"))])
    try await test.client.setBucket(["team": "a"])
    try await test.client.pullOnce()
    for value in ["a", "", "a"] { try await test.client.setBucket(["team": value]) }
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "5"])
    // Behind an empty value it is compared with the recorded one.
    try await test.client.setBucket(["team": ""])
    try await test.client.setBucket(["team": "b"])
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.last?.cursor == "0")
  }

  @Test func `the first pull of a new scope may fail, and the restart stays armed`() async throws {
    let test = try await TestClient.open(Self.one)
    try await test.client.setBucket(["team": "a"])
    test.remote.script(pulls: [
      .answer(.page("5", ["old": [:]])), .failure(ScriptedRemote.offline), .answer(.page("9", ["new": [:]])),
    ])
    try await test.client.pullOnce()
    try await test.client.setBucket(["team": "b"])
    #expect(await code { try await test.client.pullOnce() } == .remote)
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "0", "0"])
    #expect(try await test.client.liveRows().map(\.pk) == ["new"])
  }

  @Test func `an answer to a scope that was replaced meanwhile is left, and the run pulls the new one`() async throws {
    for fails in [false, true] {
      let test = try await TestClient.open(Self.one)
      try await test.client.setBucket(["team": "a"])
      let door = Door()
      test.remote.script(pulls: [
        fails ? .heldFailure(door, ScriptedRemote.offline) : .held(door, .page("5", ["a": [:]])),
        .answer(.page("9", ["b": [:]])),
      ])
      async let synced: Void = test.client.sync()
      await door.reached()
      try await test.client.setBucket(["team": "b"])
      door.open()
      try await synced
      #expect(test.remote.pullRequests.map(\.cursor) == ["0", "0"])
      #expect(params(test.remote.pullRequests.last) == ["todos": ["team": "b"]])
      #expect(try await test.client.liveRows().map(\.pk) == ["b"])
      #expect(try await test.client.checkpoint().cursor == "9")
    }
  }

  @Test func `a page of a scope that was replaced meanwhile is not staged, and its failure is told`() async throws {
    let test = try await TestClient.open(Self.one)
    try await test.client.setBucket(["team": "a"])
    let door = Door()
    test.remote.script(pulls: [.held(door, .page("0:5", more: true, ["a": [:]]))])
    async let pulled: Void = test.client.pullOnce()
    await door.reached()
    try await test.client.setBucket(["team": "b"])
    door.open()
    try await pulled
    #expect(try await test.client.stagedNames().isEmpty)
    let second = Door()
    test.remote.script(pulls: [.heldFailure(second, ScriptedRemote.offline)])
    async let failing = code { try await test.client.pullOnce() }
    await second.reached()
    try await test.client.setBucket(["team": "c"])
    second.open()
    #expect(await failing == .remote)
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.last?.cursor == "0")
  }

  @Test func `a configured value counts as set at open, against what the store has kept`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    func open(_ team: String) async throws -> TestClient {
      try await TestClient.open(
        ["todos": TableConfiguration(bucket: .byColumn("team"), bucketValue: team)], at: path)
    }
    var test = try await open("a")
    test.remote.script(pulls: [.answer(.page("5"))])
    try await test.client.pullOnce()
    try await test.client.close()
    test = try await open("b")
    test.remote.script(pulls: [.answer(.page("6"))])
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0"])
    try await test.client.close()
    test = try await open("b")
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["6"])
    try await test.client.close()
    // Values by column are not kept across opens.
    test = try await open("")
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
    try await test.client.close()
  }

  @Test func `a value that outlives a reset is in force from its first use on`() async throws {
    let test = try await TestClient.open(Self.one)
    try await test.client.setBucket(["team": "a"])
    try await test.client.reset()
    test.remote.script(pulls: [.answer(.page("5", ["old": [:]])), .answer(.page("9", ["new": [:]]))])
    try await test.client.pullOnce()
    #expect(params(test.remote.pullRequests.first) == ["todos": ["team": "a"]])
    try await test.client.setBucket(["team": "b"])
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "0"])
    #expect(try await test.client.liveRows().map(\.pk) == ["new"])
  }

  @Test func `behind a reset another value is a first one`() async throws {
    let test = try await TestClient.open(Self.one)
    try await test.client.setBucket(["team": "a"])
    test.remote.script(pulls: [.answer(.page("5"))])
    try await test.client.pullOnce()
    try await test.client.reset()
    try await test.client.seedCheckpoint("3")
    try await test.client.setBucket(["team": "b"])
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.last?.cursor == "3")
  }

  // MARK: Tables

  @Test func `a table that is newly configured is pulled from the start, once`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    func open(_ tables: String...) async throws -> TestClient {
      try await TestClient.open(Dictionary(uniqueKeysWithValues: tables.map { ($0, TableConfiguration()) }), at: path)
    }
    var test = try await open("other")
    test.remote.script(pulls: [.answer(.page("5", ["o": ["n": 1]], table: "other"))])
    try await test.client.sync()
    try await test.client.close()
    test = try await open("other", "todos")
    test.remote.script(pulls: [.failure(ScriptedRemote.offline)])
    // A failure keeps it armed.
    #expect(await code { try await test.client.sync() } == .remote)
    try await test.client.close()
    let script = ScriptedRemote(pulls: [
      .answer(.page("0:3", more: true, ["t": ["n": 2]])), .answer(.page("5", ["o": ["n": 1]], table: "other")),
    ])
    test = try await TestClient.open(
      ["other": TableConfiguration(), "todos": TableConfiguration()], remote: script, at: path)
    try await test.client.sync()
    try await test.client.sync()
    #expect(script.pullRequests.map(\.cursor) == ["0", "0:3", "5"])
    #expect(try await test.client.liveRows().map(\.pk) == ["o", "t"])
    try await test.client.close()
    // A table that was left out for a pull is behind, too.
    test = try await open("todos")
    try await test.client.sync()
    #expect(test.remote.pullRequests.map(\.cursor) == ["5"])
    try await test.client.close()
    test = try await open("other", "todos")
    try await test.client.sync()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0"])
    try await test.client.close()
  }

  @Test func `a store that does not know which tables were pulled is left as it is`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    var test = try await TestClient.open(at: path)
    try await test.client.seedCheckpoint("5")
    try await test.client.close()
    test = try await TestClient.open(["todos": TableConfiguration(), "other": TableConfiguration()], at: path)
    try await test.client.sync()
    #expect(test.remote.pullRequests.map(\.cursor) == ["5"])
    try await test.client.close()
  }

  @Test func `a column that is no table's bucket arms nothing behind a closed pull`() async throws {
    let test = try await TestClient.open(Self.one)
    test.remote.script(pulls: [.answer(.page("5"))])
    try await test.client.setBucket(["team": "a"])
    try await test.client.pullOnce()
    #expect(await code { try await test.client.setBucket(["team": "b", "owner": "x"]) } == .bucketUnset)
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "5"])
    #expect(params(test.remote.pullRequests.last) == ["todos": ["team": "a"]])
  }
}
