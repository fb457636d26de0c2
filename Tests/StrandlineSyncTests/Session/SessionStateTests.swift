import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct SessionStateTests {
  private typealias State = SyncSession.State

  // MARK: The decision

  private func state(
    closed: Bool = false, poisoned: Bool = false, block: SoftBlockReason? = nil,
    _ change: (inout SessionMemory) -> Void = { _ in }
  ) -> SyncSession.State {
    var session = SessionMemory()
    session.access.set("t")
    change(&session)
    return session.state(isClosed: closed, isPoisoned: poisoned, block: block)
  }

  @Test func `each state comes from what it comes from`() {
    #expect(state() == .active)
    #expect(state { $0.access.set(nil) } == .waitingForToken)
    #expect(state { $0.phase = .downloading } == .resetting(.downloading))
    #expect(state(block: .resetRequired) == .blocked(.resetRequired))
    #expect(state(block: .identityChanged) == .blocked(.identityChanged))
    #expect(state { $0.isPaused = true } == .paused)
    #expect(state { $0.isClosing = true } == .closed)
    let closing = state { session in
      session.isClosing = true
      session.isRunning = true
    }
    #expect(closing == .closing)
    #expect(state(closed: true) == .closed)
    #expect(state(poisoned: true) == .closed)
  }

  @Test func `what stops more goes before what stops less`() {
    let all: (inout SessionMemory) -> Void = { session in
      session.access.set(nil)
      session.phase = .switching
      session.isPaused = true
    }
    #expect(state(poisoned: true, block: .resetRequired, all) == .closed)
    #expect(state(block: .resetRequired, all) == .paused)
    #expect(state(block: .resetRequired) { $0.phase = .switching } == .resetting(.switching))
    #expect(state(block: .resetRequired) { $0.access.set(nil) } == .blocked(.resetRequired))
  }

  // MARK: The token

  /// Whether the user has to sign in behind one more refusal.
  private func refuse(_ access: inout SessionAccess) -> Bool {
    access.requested()
    return access.refused()
  }

  @Test func `a token is given up at the second refusal in a row`() {
    var access = SessionAccess()
    access.set("a")
    var ends = [refuse(&access)]
    access.answered()
    ends.append(refuse(&access))
    #expect(ends == [false, false] && access.isSignedIn)
    access.set("b")
    #expect(refuse(&access))
    #expect(!access.isSignedIn)
    access.set("b")
    #expect(access.isGivenUp)
    access.set("c")
    #expect(access.isSignedIn)
    #expect(!refuse(&access))
  }

  @Test func `a refusal of a token that is gone says nothing about the new one`() {
    var access = SessionAccess()
    access.set("a")
    #expect(!refuse(&access))
    access.requested()
    access.set("b")
    let isOver = access.refused()
    #expect(!isOver && access.isSignedIn)
  }

  // MARK: The client

  @Test func `the state follows the client, and a stream shows each`() async throws {
    let test = try await TestClient.open()
    var states = test.client.session.states.makeAsyncIterator()
    #expect(await states.next() == .waitingForToken)
    try await test.client.setAccessToken(token("u1"))
    #expect(await states.next() == .active)
    test.client.session.pause()
    #expect(await states.next() == .paused)
    test.client.session.pause()
    test.client.session.resume()
    #expect(await states.next() == .active)
    test.client.setPhase(.downloading)
    test.client.setPhase(nil)
    #expect(await states.next() == .resetting(.downloading))
    #expect(await states.next() == .active)
    try await test.client.setAccessToken(token("u2"))
    #expect(await states.next() == .blocked(.identityChanged))
    try await test.client.setAccessToken(token("u1"))
    try await test.client.resumeAsOwner()
    #expect(await states.next() == .active)
    test.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
    try await test.client.sync()
    #expect(await states.next() == .blocked(.resetRequired))
    try await test.client.reset()
    #expect(await states.next() == .active)
    await test.client.dispose()
    #expect(await states.next() == .closed)
    #expect(await states.next() == nil)
    #expect(test.client.session.state == .closed)
    var late = test.client.session.states.makeAsyncIterator()
    #expect(await late.next() == .closed)
    #expect(await late.next() == nil)
  }

  @Test func `closing waits for the run that is under way, and no other begins`() async throws {
    let test = try await TestClient.open()
    let door = Door()
    test.remote.script(pulls: [.held(door, .page("5", ["p1": [:]]))])
    let run = Task { try await test.client.sync() }
    await door.reached()
    let queued = Task { try await test.client.sync() }
    let closing = Task { await test.client.dispose() }
    while test.client.session.state != .closing { await Task.yield() }
    #expect(await code { try await test.client.sync() } == .engineUnavailable)
    #expect(try await test.client.checkpoint().cursor == "0")
    door.open()
    try await run.value
    await closing.value
    #expect(await code { try await queued.value } == .engineUnavailable)
    #expect(test.client.session.state == .closed)
  }

  @Test func `a pause makes no request, and ends a run behind the answer that is out`() async throws {
    let world = try await AttachmentWorld.open()
    let (test, client) = (world.test, world.client)
    client.session.pause()
    _ = try await world.add()
    try await client.sync()
    try await client.pullOnce()
    try await client.pushOnce()
    #expect(test.remote.requestCount == 0 && world.transfer.calls.isEmpty)
    #expect(try await client.outboxDepth() == 1)
    client.session.resume()
    let door = Door()
    test.remote.script(pushes: [.held(door, nil)])
    let run = Task { try await client.sync() }
    await door.reached()
    client.session.pause()
    door.open()
    try await run.value
    #expect(test.remote.requestCount == 1 && world.transfer.calls.isEmpty)
    #expect(try await client.outboxDepth() == 0)
    client.session.resume()
    try await client.sync()
    #expect(!world.transfer.calls.isEmpty)
  }

  @Test func `rows and bytes are counted`() async throws {
    let test = try await TestClient.open()
    var updates = test.client.session.progressUpdates.makeAsyncIterator()
    #expect(await updates.next() == SyncProgress())
    try await test.insert("p1")
    try await test.insert("p2")
    var notes = AnswerNotes()
    notes.sentByteCount = 10
    notes.receivedByteCount = 300
    let applied = PushAnswer(verdicts: try await test.client.inspect().head.map { .applied($0.mutationID) })
    test.remote.script(
      pulls: [.answer(.page("5", ["p1": [:]], gone: ["p2", "p3"]), notes)], pushes: [.answer(applied, notes)])
    try await test.client.sync()
    let progress = test.client.session.progress
    #expect(progress.uploadedRowCount == 2 && progress.uploadedByteCount == 10)
    #expect(progress.downloadedRowCount == 3 && progress.downloadedByteCount == 300)
    #expect(await updates.next() == progress)
  }
}
