import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct AttachmentSettlementTests {
  private let a = AttachmentWorld.reference("a")
  private let b = AttachmentWorld.reference("b")
  private let pk = AttachmentWorld.pk

  /// A client whose row names `a`, which is synced.
  private func named() async throws -> AttachmentWorld {
    let world = try await AttachmentWorld.open(hasRow: false)
    try await world.seed(photo: a)
    try await world.put(a, ["state": "synced", "attempts": 4])
    return world
  }

  private func row(_ reference: String) -> [String: Value] {
    ["owner": .string(AttachmentWorld.owner), "photo": .string(reference)]
  }

  // MARK: Pulls

  @Test func `a pulled tombstone orphans`() async throws {
    let world = try await named()
    world.test.remote.script(pulls: [.answer(.page("5", gone: [pk]))])
    try await world.client.pullOnce()
    let file = try await world.file(a)
    #expect(file.state == .orphaned && file.attempts == 0)
  }

  @Test func `a pulled row with another reference orphans the first and registers the second`() async throws {
    let world = try await named()
    world.test.remote.script(pulls: [.answer(.page("5", [pk: row(b)]))])
    try await world.client.pullOnce()
    #expect(try await world.state(a) == .orphaned)
    #expect(try await world.state(b) == .queued)
  }

  @Test func `a pulled row with the same reference changes nothing`() async throws {
    let world = try await named()
    world.test.remote.script(pulls: [.answer(.page("5", [pk: row(a)]))])
    try await world.client.pullOnce()
    #expect(try await world.state(a) == .synced)
  }

  @Test func `the object of another user is evicted only`() async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    let theirs = "0c000000-0000-4000-8000-00000000000c/\(pk)/a.jpg"
    try await world.seed(photo: theirs)
    try await world.put(theirs, ["state": "synced"])
    world.test.remote.script(pulls: [.answer(.page("5", gone: [pk]))])
    try await world.client.pullOnce()
    #expect(try await world.state(theirs) == .evicted)
  }

  @Test func `a store without an owner evicts only`() async throws {
    let world = try await AttachmentWorld.open(isSignedIn: false, hasRow: false)
    try await world.seed(photo: a)
    try await world.put(a, ["state": "synced"])
    world.test.remote.script(pulls: [.answer(.page("5", gone: [pk]))])
    try await world.client.pullOnce()
    #expect(try await world.state(a) == .evicted)
  }

  @Test func `a row that a new snapshot does not carry evicts only`() async throws {
    let world = try await named()
    world.test.remote.script(pulls: [.answer(.signal("CHECKPOINT_EXPIRED")), .answer(.page("9"))])
    try await world.client.pullOnce()
    try await world.client.pullOnce()
    #expect(try await world.client.liveRows().isEmpty)
    #expect(try await world.state(a) == .evicted)
  }

  @Test func `a row that another scope does not carry evicts only`() async throws {
    var tables = AttachmentWorld.tables
    tables["todos"]?.bucket = .byColumn("team")
    let world = try await AttachmentWorld.open(hasRow: false, tables: tables)
    try await world.client.setBucket(["team": "a"])
    try await world.client.pullOnce()
    try await world.seed(photo: a)
    try await world.put(a, ["state": "synced"])
    try await world.client.setBucket(["team": "b"])
    world.test.remote.script(pulls: [.answer(.page("9"))])
    try await world.client.pullOnce()
    #expect(try await world.client.liveRows().isEmpty)
    #expect(try await world.state(a) == .evicted)
  }

  @Test func `what another row names stays`() async throws {
    let world = try await named()
    try await world.seed(photo: a, pk: "other")
    world.test.remote.script(pulls: [.answer(.page("5", gone: [pk]))])
    try await world.client.pullOnce()
    #expect(try await world.state(a) == .synced)
  }

  @Test func `what a queued write names stays, in its columns and in front of it`() async throws {
    let world = try await named()
    try await world.put(b)
    try await world.test.update(pk, ["photo": .string(b)])
    world.test.remote.script(pulls: [.answer(.page("5", [pk: row(a)]))])
    try await world.client.pullOnce()
    #expect(try await world.state(a) == .synced)
    #expect(try await world.state(b) == .queued)
    // A new base makes the write forget what was in front of it.
    let c = AttachmentWorld.reference("c")
    world.test.remote.script(pulls: [.answer(.page("6", [pk: row(c)]))])
    try await world.client.pullOnce()
    #expect(try await world.state(a) == .orphaned)
    #expect(try await world.state(b) == .queued)
  }

  // MARK: Verdicts

  @Test func `an applied replacement orphans what it replaced`() async throws {
    let world = try await named()
    try await world.put(b)
    try await world.test.update(pk, ["photo": .string(b)])
    #expect(try await world.state(a) == .synced)
    try await world.client.pushOnce()
    #expect(try await world.state(a) == .orphaned)
    #expect(try await world.state(b) == .queued)
  }

  @Test func `an applied delete orphans what the row named`() async throws {
    let world = try await named()
    try await world.test.delete(pk)
    #expect(try await world.state(a) == .synced)
    try await world.client.pushOnce()
    #expect(try await world.state(a) == .orphaned)
  }

  @Test func `an applied write of other columns leaves the file`() async throws {
    let world = try await named()
    try await world.test.update(pk, ["title": "t"])
    try await world.client.pushOnce()
    #expect(try await world.state(a) == .synced)
  }

  @Test func `a rejected write orphans its own new reference`() async throws {
    let world = try await named()
    try await world.put(b)
    try await world.test.update(pk, ["photo": .string(b)], id: "m1")
    world.test.remote.script(
      pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: row(a))]))])
    try await world.client.pushOnce()
    #expect(try await world.state(b) == .orphaned)
    #expect(try await world.state(a) == .synced)
  }

  @Test func `a rejected write without a row evicts what the row named`() async throws {
    let world = try await named()
    try await world.test.update(pk, ["title": "t"], id: "m1")
    world.test.remote.script(pushes: [.answer(PushAnswer(verdicts: [.rejected("m1", .rowDenied, serverRow: nil)]))])
    try await world.client.pushOnce()
    #expect(try await world.state(a) == .evicted)
  }

  // MARK: Batches and dead letters

  @Test func `an aborted batch settles what its members brought`() async throws {
    let world = try await named()
    try await world.put(b)
    try await world.test.update(pk, ["photo": .string(b)], id: "m1", batch: "batch")
    try await world.test.update(pk, ["title": "t"], id: "m2", batch: "batch")
    world.test.remote.script(
      pushes: [
        .answer(
          PushAnswer(
            abort: PushAnswer.Abort(
              outcome: "aborted", offenderMutationID: "m2", reason: "CONSTRAINT", serverRow: row(a))))
      ])
    try await world.client.pushOnce()
    #expect(try await world.test.columns(pk)?["photo"] == .string(a))
    #expect(try await world.state(b) == .orphaned)
    #expect(try await world.state(a) == .synced)
  }

  @Test func `a dead letter evicts what it brought`() async throws {
    let world = try await named()
    try await world.put(b)
    try await world.test.update(pk, ["photo": .string(b)], id: "m1")
    world.test.remote.script(
      pushes: Array(repeating: ScriptedRemote.PushStep.failure(.refused(.raised)), count: 5))
    for _ in 1...4 { #expect(await code { try await world.client.sync() } == .permanentTransport) }
    #expect(try await world.state(b) == .queued)
    try await world.client.sync()
    #expect(try await world.client.deadLetters().count == 1)
    #expect(try await world.state(b) == .evicted)
    #expect(try await world.state(a) == .synced)
  }

  @Test func `the dead letters of a batch evict all that they brought`() async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    let first = "0b000000-0000-4000-8000-000000000001"
    let second = "0b000000-0000-4000-8000-000000000002"
    for (pk, reference) in [(first, a), (second, b)] {
      try await world.put(reference, ["pk": .string(pk)])
      try await world.test.update(pk, ["photo": .string(reference)], id: pk, batch: "batch")
    }
    world.test.remote.script(pushes: Array(repeating: .failure(.refused(.raised)), count: 5))
    for _ in 1...4 { #expect(await code { try await world.client.sync() } == .permanentTransport) }
    try await world.client.sync()
    #expect(try await world.client.deadLetters().count == 2)
    for reference in [a, b] { #expect(try await world.state(reference) == .evicted) }
    #expect(try await world.client.attachmentPending(.upload) == 0)
  }

  @Test func `a reset takes the queue, leaves the files and tells which are stranded`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    #expect(try await world.client.reset() == [added.localPath])
    #expect(try await world.client.getStatus(added.reference) == nil)
    #expect(try await world.client.strandedFiles() == [added.localPath])
  }
}
