import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct OwnerTests {
  private static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(bucket: .byOwner("owner")), "shared": TableConfiguration(),
  ]

  @Test func `the subject of a token is read, and of nothing else`() {
    #expect(TokenSubject.read(token("u1")) == "u1")
    func compact(_ middle: String) -> String { "e30.\(middle).c2ln" }
    #expect(TokenSubject.read(compact("eyJzdWIiOiJ1MSJ9")) == "u1")
    #expect(TokenSubject.read(compact("eyJzdWIiOiJ1MTIifQ==")) == "u12")
    #expect(TokenSubject.read(compact("eyJzdWIiOiJ-fiJ9")) == "~~")
    let none = [
      "", "e30", "e30.eyJzdWIiOiJ1MSJ9", "e30.eyJzdWIiOiJ1MSJ9.c2ln.x",
      compact("eyJzdWIiOjF9"),  // {"sub":1}
      compact("eyJzdWIiOiIifQ"),  // {"sub":""}
      compact("e30"),  // {}
      compact("W10"),  // []
      compact("eyJzdWIiOiJ+fiJ9"),  // {"sub":"~~"} in the other alphabet
      compact("eyJzdWIiOiJ+fiJ9+"), compact("a"), compact("__"), compact("eyJzdWIiOiJ1MSJ9/"), compact(""),
    ]
    for token in none { #expect(TokenSubject.read(token) == nil, "\(token)") }
  }

  @Test func `the first user becomes the owner, and fills the owner's bucket and inserts`() async throws {
    let test = try await TestClient.open(Self.tables)
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
    try await test.insert("before", ["a": 1])
    try await test.client.setAccessToken("no token")
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
    try await test.client.setAccessToken(token("u1"))
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.last?.buckets.map(\.params) == [[:], ["owner": "u1"]])
    #expect(test.remote.contexts.last?.accessToken == token("u1"))
    try await test.insert("filled", ["a": 1])
    try await test.insert("given", ["owner": .null])
    try await test.update("late", ["a": 2])
    #expect(try await test.columns("before") == ["a": 1])
    #expect(try await test.columns("filled") == ["a": 1, "owner": "u1"])
    #expect(try await test.columns("given") == ["owner": .null])
    #expect(try await test.columns("late") == ["a": 2])
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[0].mutations[1].columns == ["a": 1, "owner": "u1"])
  }

  @Test func `a token of another user blocks once, and nothing else changes`() async throws {
    let test = try await TestClient.open(Self.tables)
    try await test.client.setAccessToken(token("u1"))
    try await test.insert("p1")
    try await test.client.setAccessToken(token("u2"))
    try await test.client.setAccessToken(token("u3"))
    try await test.client.sync()
    #expect(test.remote.requestCount == 0)
    #expect(try await test.client.outboxDepth() == 1)
    #expect(try await test.client.rejections().isEmpty)
    #expect(try await test.client.deadLetters().isEmpty)
    #expect(try await test.client.checkpoint().softBlockReason == .identityChanged)
    #expect(await test.events().filter { $0 == .resetRequired(.identityChanged) }.count == 1)
    // The owner's own token does not lift the block by itself.
    try await test.client.setAccessToken(token("u1"))
    try await test.client.sync()
    #expect(test.remote.requestCount == 0)
  }

  @Test func `the owner can go on after another user's token, and nothing is lost`() async throws {
    let test = try await TestClient.open(Self.tables)
    try await test.client.setAccessToken(token("u1"))
    try await test.insert("p1")
    #expect(try await test.client.resumeAsOwner() == false)
    try await test.client.setAccessToken(token("u2"))
    #expect(try await test.client.resumeAsOwner() == false)
    try await test.client.setAccessToken(nil)
    #expect(try await test.client.resumeAsOwner() == false)
    try await test.client.setAccessToken(token("u1"))
    #expect(try await test.client.resumeAsOwner())
    try await test.client.sync()
    #expect(test.remote.pushRequests[0].mutations.map(\.pk) == ["p1"])
  }

  @Test func `signing out and in again blocks nothing`() async throws {
    let test = try await TestClient.open(Self.tables)
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setAccessToken(nil)
    try await test.client.setAccessToken(token("u1"))
    try await test.client.sync()
    #expect(test.remote.pullRequests.count == 1)
  }

  @Test func `another user's token over a required reset changes the reason and tells again`() async throws {
    let test = try await TestClient.open(Self.tables)
    try await test.client.setAccessToken(token("u1"))
    test.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
    try await test.client.pullOnce()
    try await test.client.setAccessToken(token("u2"))
    #expect(try await test.client.checkpoint().softBlockReason == .identityChanged)
    #expect(await test.eventNames() == ["RESET_REQUIRED", "RESET_REQUIRED"])
  }

  @Test func `a store of nobody's takes an owner while it is blocked`() async throws {
    let test = try await TestClient.open(["todos": TableConfiguration()])
    test.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
    try await test.client.pullOnce()
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setAccessToken(token("u2"))
    #expect(try await test.client.checkpoint().softBlockReason == .identityChanged)
  }

  @Test func `owner, block and identity live through a restart`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let id = "AB0C9D2E-52D7-4C0B-8A44-7B1D90E2C6F5"
    var test = try await TestClient.open(Self.tables, at: path) {
      $0.clientID = id
      $0.accessToken = token("u1")
    }
    try await test.client.pullOnce()
    #expect(test.remote.contexts.map(\.accessToken) == [token("u1")])
    #expect(test.remote.pullRequests[0].buckets.last?.params == ["owner": "u1"])
    try await test.client.close()
    test = try await TestClient.open(Self.tables, at: path) { $0.clientID = "00000000-0000-4000-8000-00000000ffff" }
    // The owner's bucket is filled before anybody signs in.
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests[0].clientID == id.lowercased())
    #expect(test.remote.pullRequests[0].buckets.last?.params == ["owner": "u1"])
    #expect(test.remote.contexts[0].accessToken == nil)
    try await test.client.setAccessToken(token("u2"))
    try await test.client.close()
    test = try await TestClient.open(Self.tables, at: path)
    try await test.client.sync()
    #expect(test.remote.requestCount == 0)
    #expect(try await test.client.checkpoint().softBlockReason == .identityChanged)
    try await test.client.close()
  }

  @Test func `what an app sets on the owner's bucket holds until the next open`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    var test = try await TestClient.open(Self.tables, at: path) { $0.accessToken = token("u1") }
    try await test.client.setBucket(["owner": "guest"])
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests[0].buckets.last?.params == ["owner": "guest"])
    try await test.client.close()
    test = try await TestClient.open(Self.tables, at: path)
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests[0].buckets.last?.params == ["owner": "u1"])
    #expect(test.remote.pullRequests[0].cursor == "0")
    try await test.client.reset()
    #expect(await code { try await test.client.pullOnce() } == .bucketUnset)
    try await test.client.close()
  }

  @Test func `an answer that comes to a client blocked meanwhile is left`() async throws {
    for isPush in [true, false] {
      let test = try await TestClient.open(Self.tables)
      try await test.client.setAccessToken(token("u1"))
      try await test.insert("p1", id: "m1")
      let door = Door()
      test.remote.script(pulls: [.held(door, .page("5", ["p2": [:]]))], pushes: [.held(door, nil)])
      async let run: Void = isPush ? test.client.pushOnce() : test.client.pullOnce()
      await door.reached()
      try await test.client.setAccessToken(token("u2"))
      door.open()
      try await run
      #expect(try await test.client.outboxDepth() == 1)
      #expect(try await test.client.checkpoint().cursor == "0")
      #expect(try await test.client.liveRows().map(\.pk) == ["p1"])
    }
  }

  @Test func `a copied store is another device`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let tables = ["todos": TableConfiguration(conflictMode: .hlc)]
    let test = try await TestClient.open(tables, at: path)
    try await test.insert("p1", id: "m1")
    let id = try await test.client.inspect().clientID
    let node = try await test.client.stateRows(of: StateTable.outbox)[0]["hlc"].flatMap {
      HybridTimestamp($0.wireText ?? "")?.node
    }
    try await test.client.store.backup(to: "\(directory.path)/copy")
    try await test.client.close()
    let copy = try await TestClient.open(tables, at: "\(directory.path)/copy", ids: CountingIDs()) {
      $0.ids = RandomIDs()
    }
    try await copy.insert("p2", id: "m2")
    try await copy.client.pushOnce()
    let request = copy.remote.pushRequests[0]
    #expect(request.clientID != id && request.clientID.flatMap { UUIDBytes($0) } != nil)
    #expect(request.mutations.map(\.id) == ["m1", "m2"])
    let nodes = request.mutations.compactMap { $0.hlc.flatMap { HybridTimestamp($0)?.node } }
    #expect(nodes.count == 2 && nodes[0] == node && nodes[1] != node)
    let copyID = request.clientID
    try await copy.client.close()
    // And stays it.
    let again = try await TestClient.open(tables, at: "\(directory.path)/copy")
    #expect(try await again.client.inspect().clientID == copyID)
    try await again.client.close()
  }
}
