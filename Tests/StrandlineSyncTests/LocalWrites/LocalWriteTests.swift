import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct LocalWriteTests {
  @Test func `an insert is readable, queued and told`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["title": "milk", "done": false, "owner": "u1"])
    #expect(try await test.columns("p1") == ["title": "milk", "done": false, "owner": "u1"])
    #expect(try await test.client.outboxDepth() == 1)
    #expect(await test.eventNames() == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
    try await test.client.pushOnce()
    #expect(try await test.client.outboxDepth() == 0)
    #expect(try await test.columns("p1") != nil)
    #expect(await test.eventNames() == ["LOCAL_CHANGED", "QUEUE_DEPTH", "LOCAL_CHANGED"])
    var changes = LocalChangesModel()
    for case .localChanged(let some) in await test.events() { changes.take(some) }
    #expect(changes.keys == ["todos/p1"])
    #expect(await test.events()[1] == .queueDepth(1))
  }

  private struct LocalChangesModel {
    var keys: Set<String> = []
    mutating func take(_ changes: LocalChanges) {
      for (table, rows) in changes.tables {
        if case .keys(let pks) = rows { for pk in pks { keys.insert("\(table)/\(pk)") } }
      }
    }
  }

  @Test func `a write to a table that is not configured is refused`() async throws {
    let test = try await TestClient.open()
    #expect(await code { try await test.insert("p1", in: "strangers") } == .unknownTable)
    #expect(try await test.client.outboxDepth() == 0)
  }

  @Test func `an empty table or key is refused before anything else`() async throws {
    let test = try await TestClient.open()
    #expect(await code { try await test.client.apply(.insert, to: "", pk: "p1") } == .localUnsupported)
    #expect(await code { try await test.client.apply(.insert, to: "strangers", pk: "") } == .localUnsupported)
  }

  @Test func `an insert over a live row is refused and changes nothing`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["title": "first"])
    #expect(await code { try await test.insert("p1", ["title": "second"]) } == .localConstraint)
    #expect(try await test.columns("p1") == ["title": "first"])
    #expect(try await test.client.outboxDepth() == 1)
    #expect(await test.eventNames() == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
  }

  @Test func `a mutation id is queued once`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", id: "m1")
    #expect(await code { try await test.insert("p2", id: "m1") } == .localConstraint)
    #expect(try await test.columns("p2") == nil)
    #expect(try await test.client.outboxDepth() == 1)
    #expect(await code { try await test.insert("p2", id: "") } == .localUnsupported)
    #expect(await code { try await test.insert("p2", id: String(repeating: "m", count: 257)) } == .localUnsupported)
  }

  @Test func `an update merges, and makes the row where there is none`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["title": "a", "done": false])
    try await test.update("p1", ["done": true, "note": .null])
    #expect(try await test.columns("p1") == ["title": "a", "done": true, "note": .null])
    try await test.update("p2", ["title": "b"], transforms: ["likes": ["op": "increment", "by": 2]])
    #expect(try await test.columns("p2") == ["title": "b", "likes": 2])
    #expect(try await test.client.outboxDepth() == 3)
  }

  @Test func `a delete leaves a shadow, also of an absent row`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["title": "a"])
    try await test.delete("p1")
    try await test.delete("p2")
    #expect(try await test.columns("p1") == nil)
    #expect(try await test.shadows() == ["todos/p1", "todos/p2"])
    #expect(try await test.client.shadows().allSatisfy { $0.seq == "0" && $0.deletedAt == nil })
    #expect(try await test.client.outboxDepth() == 3)
    try await test.insert("p1", ["title": "again"])
    #expect(try await test.columns("p1") == ["title": "again"])
    #expect(try await test.shadows() == ["todos/p1", "todos/p2"])
  }

  @Test func `a delete sends no columns`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["title": "a"])
    try await test.client.apply(.delete, to: "todos", pk: "p1", columns: ["title": "x"], mutationID: "m2")
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[0].mutations[1].columns == [:])
  }

  @Test func `a pull-only table refuses every write and can be read`() async throws {
    let test = try await TestClient.open([
      "todos": TableConfiguration(), "news": TableConfiguration(syncMode: .pullOnly),
    ])
    for operation in MutationOperation.allCases {
      #expect(await code { try await test.client.apply(operation, to: "news", pk: "p1") } == .localUnsupported)
    }
    #expect(
      await code { try await test.client.applyWhere(.delete, in: "news", filters: [.column("a", .equals, 1)]) }
        == .localUnsupported)
    #expect(try await test.client.from("news").select().rows().isEmpty)
    try await test.insert("p1")
    #expect(try await test.client.outboxDepth() == 1)
  }

  @Test func `columns that begin with U+0001 or are nameless are refused`() async throws {
    let test = try await TestClient.open()
    for column in ["\u{1}seq", "", String(repeating: "c", count: 300)] {
      #expect(await code { try await test.insert("p1", [column: 1]) } == .localUnsupported)
    }
    #expect(
      await code { _ = try await test.client.query("todos", QueryPlan(columns: ["\u{1}pk"])) } == .localUnsupported)
  }

  @Test func `what JSON has no form for is kept as it travels`() async throws {
    let test = try await TestClient.open()
    let uuid = UUIDBytes(high: 1, low: 2)
    try await test.insert(
      "p1", ["id2": .uuid(uuid), "at": .timestamp(0), "raw": .bytes([1, 2]), "nan": .double(.nan)])
    #expect(
      try await test.columns("p1") == [
        "id2": .string(uuid.description), "at": "1970-01-01T00:00:00.000Z", "raw": "AQI=", "nan": "NaN",
      ])
  }

  // MARK: Local-only columns

  @Test func `local-only columns stay here, and an update of them alone queues nothing`() async throws {
    let test = try await TestClient.open { $0.localOnlyColumns = ["draft"] }
    try await test.insert("p1", ["title": "a", "draft": "x"])
    try await test.update("p1", ["draft": "y"])
    #expect(await test.eventNames() == ["LOCAL_CHANGED", "QUEUE_DEPTH", "LOCAL_CHANGED"])
    #expect(try await test.client.outboxDepth() == 1)
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[0].mutations.map(\.columns) == [["title": "a"]])
    test.remote.script(pulls: [.answer(.page("1", ["p1": ["title": "b"]]))])
    try await test.client.pullOnce()
    #expect(try await test.columns("p1") == ["title": "b", "draft": "y"])
    try await test.update("p1", ["title": "c"], id: "m9")
    test.remote.script(pushes: [
      .answer(PushAnswer(verdicts: [.rejected("m9", .constraint, serverRow: ["title": "b"])]))
    ])
    try await test.client.pushOnce()
    #expect(try await test.columns("p1") == ["title": "b", "draft": "y"])
  }

  // MARK: Several rows in one commit

  @Test func `a write of several rows is one commit and one atomic batch`() async throws {
    let test = try await TestClient.open()
    let key = try await test.client.write { tx in
      let key = try tx.insert(["title": "a"], into: "todos")
      try tx.update(key, in: "todos", set: ["done": true], transforms: ["n": .increment(WholeNumber("3") ?? .zero)])
      #expect(try tx.row(key, in: "todos") == ["id": .string(key), "title": "a", "done": true, "n": 3])
      return key
    }
    #expect(await test.events().dropFirst() == [.queueDepth(2)])
    try await test.client.pushOnce()
    let request = test.remote.pushRequests[0]
    #expect(request.isAtomic && request.mutations.map(\.pk) == [key, key])
    #expect(try await test.client.outboxDepth() == 0)
  }

  @Test func `a write of several rows in which one is refused leaves nothing, also when the error is caught`()
    async throws
  {
    let test = try await TestClient.open()
    let thrown = await code {
      try await test.client.write { tx in
        try tx.insert(["title": "a"], into: "todos", pk: "p1")
        _ = try? tx.insert(["title": "b"], into: "todos", pk: "p1")
      }
    }
    #expect(thrown == .localConstraint)
    #expect(try await test.columns("p1") == nil)
    #expect(try await test.client.outboxDepth() == 0)
    #expect(await test.eventNames().isEmpty)
  }

  /// Arrays inside one another.
  private static func nested(_ depth: Int) -> Value { (0..<depth).reduce(.int(1)) { value, _ in .array([value]) } }

  @Test func `a value that no push can carry is refused where it is written`() async throws {
    let test = try await TestClient.open { $0.localOnlyColumns = ["draft"] }
    try await test.insert("p", ["v": Self.nested(59)])
    let request = { try await test.client.pushOnce() }
    try await request()
    // What is taken here is a message that can be read.
    #expect(throws: Never.self) { try PushRequest(body: test.remote.pushRequests[0].body) }
    for depth in [60, 63] {
      #expect(await code { try await test.update("p", ["v": Self.nested(depth)]) } == .localUnsupported)
      #expect(await code { try await test.insert("q", ["v": ["a": Self.nested(depth - 1)]]) } == .localUnsupported)
      #expect(
        await code {
          try await test.client.apply(.delete, to: "todos", pk: "p", precondition: ["v": Self.nested(depth)])
        } == .localUnsupported)
      #expect(
        await code {
          try await test.update("p", transforms: ["t": ["op": "arrayUnion", "values": Self.nested(depth - 1)]])
        } == .localUnsupported)
    }
    #expect(try await test.client.outboxDepth() == 0)
    #expect(try await test.columns("p") == ["v": Self.nested(59)])
    // It never travels.
    try await test.update("p", ["draft": Self.nested(60)])
  }
}
