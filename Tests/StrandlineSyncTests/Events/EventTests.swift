@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct EventTests {
  @Test func `a callback may subscribe, unsubscribe and call the client, and the order stays`() async throws {
    let test = try await TestClient.open()
    let seen = Lock<[String]>([])
    let stops = Lock<[@Sendable () -> Void]>([])
    let (asked, answer) = AsyncStream.makeStream(of: Int.self)
    let first = test.client.on { event in
      guard case .queueDepth(let depth) = event else { return }
      seen.withLock { $0.append("first \(depth)") }
      stops.withLock { $0.append(test.client.on { _ in }) }
      stops.withLock { $0.last }?()
      Task { answer.yield(try await test.client.outboxDepth()) }
    }
    test.client.on { event in if case .queueDepth(let depth) = event { seen.withLock { $0.append("second \(depth)") } }
    }
    try await test.insert("p1")
    try await test.insert("p2")
    _ = await test.events()
    #expect(seen.withLock { $0 } == ["first 1", "second 1", "first 2", "second 2"])
    var answers = 0
    for await _ in asked {
      answers += 1
      if answers == 2 { break }
    }
    first()
    first()
    try await test.insert("p3")
    _ = await test.events()
    #expect(seen.withLock { $0 }.last == "second 3")
  }

  @Test func `events of commits made at once come in the order of the commits`() async throws {
    let test = try await TestClient.open()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<60 { group.addTask { try? await test.insert("p\(number)") } }
    }
    let events = await test.events()
    let depths = events.compactMap { if case .queueDepth(let depth) = $0 { depth } else { nil } }
    #expect(depths == Array(1...60))
    #expect(events.enumerated().allSatisfy { ($0.offset % 2 == 0) == ($0.element.name == "LOCAL_CHANGED") })
  }

  @Test func `the stream of events is in the order of the callbacks, and ends with the client`() async throws {
    let test = try await TestClient.open()
    let stream = test.client.events
    try await test.insert("p1")
    try await test.client.sync()
    let told = await test.events()
    try await test.client.close()
    var streamed: [SyncEvent] = []
    for await event in stream { streamed.append(event) }
    #expect(streamed == told && told.count == 4)
    for await _ in test.client.events { Issue.record("a closed client has no events") }
  }

  @Test func `events are delivered where the configuration says`() async throws {
    let jobs = Lock<[@Sendable () -> Void]>([])
    let test = try await TestClient.open { $0.deliverOn = { job in jobs.withLock { $0.append(job) } } }
    try await test.insert("p1")
    #expect(test.log.events.isEmpty)
    #expect(jobs.withLock { $0.count } == 1)
    for job in jobs.withLock({ $0 }) { job() }
    #expect(test.log.names == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
  }

  @Test func `more rows than are named one by one are named by their tables`() {
    var changes = LocalChanges()
    for number in 0..<LocalChanges.rowCountMax { changes.insert(RowName(table: "a", pk: "\(number)")) }
    guard case .keys(let keys)? = changes.tables["a"] else {
      Issue.record("so many are named")
      return
    }
    #expect(keys.count == LocalChanges.rowCountMax)
    changes.insert(RowName(table: "a", pk: "1"))
    changes.insert(RowName(table: "b", pk: "1"))
    #expect(changes.tables == ["a": .any, "b": .any])
    changes.insert(RowName(table: "c", pk: "1"))
    #expect(changes.tables["c"] == .any)
  }

  // MARK: The gate

  @Test func `runs go one after the other in the order in which they were asked for, and local calls do not wait`()
    async throws
  {
    let test = try await TestClient.open()
    let door = Door()
    test.remote.script(pulls: [.held(door, .page("5"))])
    async let synced: Void = test.client.sync()
    await door.reached()
    async let seeded: Void = test.client.seedCheckpoint("99")
    try await test.insert("p1")
    try await test.client.setAccessToken(token("u1"))
    #expect(try await test.client.checkpoint().cursor == "0")
    #expect(try await test.client.from("todos").select().count() == 1)
    #expect(try await test.client.rejections().isEmpty)
    door.open()
    try await synced
    try await seeded
    #expect(try await test.client.checkpoint().cursor == "99")
  }

  @Test func `a run that is cancelled ends as cancelled, and the next one goes on`() async throws {
    let test = try await TestClient.open()
    let door = Door()
    test.remote.script(
      pulls: [.answer(.page("0:1", more: true, ["p1": [:]])), .heldFailure(door, ScriptedRemote.offline)])
    let run = Task { try await test.client.sync() }
    await door.reached()
    run.cancel()
    door.open()
    await #expect(throws: CancellationError.self) { try await run.value }
    test.remote.script(pulls: [.answer(.page("2", ["p2": [:]]))])
    try await test.client.sync()
    #expect(try await test.client.liveRows().map(\.pk) == ["p1", "p2"])
    try await test.insert("p3")
    let second = Door()
    test.remote.script(pushes: [.heldFailure(second, ScriptedRemote.offline)])
    let push = Task { try await test.client.pushOnce() }
    await second.reached()
    push.cancel()
    second.open()
    await #expect(throws: CancellationError.self) { try await push.value }
    try await test.client.pushOnce()
    #expect(try await test.client.outboxDepth() == 0)
  }

  @Test func `closing waits for a run, and every later call says so`() async throws {
    let test = try await TestClient.open()
    let door = Door()
    test.remote.script(pulls: [.held(door, .page("5"))])
    async let synced: Void = test.client.sync()
    await door.reached()
    async let closed: Void = test.client.dispose()
    async let waiting = code { try await test.client.pullOnce() }
    door.open()
    try await synced
    await closed
    _ = await waiting
    await test.client.dispose()
    try await test.client.close()
    let client = test.client
    #expect(await code { try await client.sync() } == .engineUnavailable)
    #expect(await code { try await client.pullOnce() } == .engineUnavailable)
    #expect(await code { try await client.pushOnce() } == .engineUnavailable)
    #expect(await code { try await test.insert("p1") } == .engineUnavailable)
    #expect(await code { _ = try await client.outboxDepth() } == .engineUnavailable)
    #expect(await code { try await client.setAccessToken(nil) } == .engineUnavailable)
    #expect(await code { try await client.setBucket([:]) } == .engineUnavailable)
    #expect(await code { _ = try await client.query("todos", QueryPlan()) } == .engineUnavailable)
    #expect(await code { _ = try await client.write { _ in } } == .engineUnavailable)
    #expect(await code { _ = try client.from("todos") } == .unknownTable)
  }

  @Test func `what ended a subscription ends no later one, of this client or of the next (case 205)`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let test = try await TestClient.open(at: path)
    let old = test.client.on { _ in }
    old()
    let seen = Lock<[String]>([])
    test.client.on { event in seen.withLock { $0.append(event.name) } }
    old()
    try await test.insert("p1")
    _ = await test.events()
    #expect(seen.withLock { $0 } == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
    let last = test.client.on { _ in }
    try await test.client.close()
    let again = try await TestClient.open(at: path)
    for stop in [old, last] { stop() }
    try await again.insert("p2")
    #expect(await again.eventNames() == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
    try await again.client.close()
  }
}
