@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct AttachmentStatusTests {
  private final class Watch: Sendable {
    private let seen = Lock<[AttachmentStatus]>([])
    func add(_ status: AttachmentStatus) { seen.withLock { $0.append(status) } }
    var states: [AttachmentState] { seen.withLock { $0.map(\.state) } }
  }

  /// Behind everything that was told so far.
  private func states(_ watch: Watch, _ world: AttachmentWorld) async -> [AttachmentState] {
    _ = await world.test.events()
    return watch.states
  }

  @Test func `a watcher is told at once, behind each step and behind each sync`() async throws {
    let world = try await AttachmentWorld.open()
    let watch = Watch()
    let end = world.client.watch("r1") { watch.add($0) }
    #expect(await states(watch, world) == [.missing])
    try await world.put("r1")
    #expect(await states(watch, world) == [.missing, .queued])
    try await world.client.attachmentCancel("r1")
    #expect(await states(watch, world) == [.missing, .queued, .failed])
    try await world.client.sync()
    #expect(await states(watch, world).last == .queued)
    let count = watch.states.count
    try await world.client.sync()
    #expect(await states(watch, world).count == count + 1)
    try await world.put("r2")
    #expect(await states(watch, world).count == count + 1)
    end()
    end()
    try await world.client.sync()
    #expect(await states(watch, world).count == count + 1)
  }

  @Test func `a watcher outlives a reset`() async throws {
    let world = try await AttachmentWorld.open()
    let watch = Watch()
    try await world.put("r1")
    _ = world.client.watch("r1") { watch.add($0) }
    #expect(await states(watch, world) == [.queued])
    try await world.client.reset()
    try await world.client.sync()
    #expect(await states(watch, world).last == .missing)
  }

  @Test func `a retry clears what there was, and a cancel leaves a candidate`() async throws {
    let world = try await AttachmentWorld.open()
    try await world.put(
      "r1", ["state": "failed", "permanent": true, "attempts": 5, "error": "e", "error_code": "TRANSFER"])
    #expect(try await world.client.attachmentPending(.upload) == 0)
    #expect(try await world.client.attachmentRetry("r1"))
    var file = try await world.file("r1")
    #expect(file.state == .queued && !file.isPermanent && file.attempts == 0 && file.error == nil)
    #expect(file.errorCode == nil)
    #expect(try await world.client.attachmentCancel("r1"))
    file = try await world.file("r1")
    #expect(file.state == .failed && !file.isPermanent && file.attempts == 0)
    #expect(try await world.client.attachmentPending(.upload) == 1)
    #expect(try await !world.client.attachmentRetry("nobody"))
    #expect(try await !world.client.attachmentCancel("nobody"))
    #expect(try await world.client.attachmentRemove("nobody") == nil)
  }

  @Test func `a file that is put anew is a fresh job`() async throws {
    let world = try await AttachmentWorld.open()
    try await world.put("r1", ["state": "failed", "attempts": 5, "error": "e", "session_url": "s"])
    try await world.put("r1")
    let file = try await world.file("r1")
    #expect(file.state == .queued && file.attempts == 0 && file.error == nil && file.sessionURL == nil)
  }

  @Test(arguments: ["lost", "missing", ""])
  func `a stored state that there is not is said`(word: String) async throws {
    let world = try await AttachmentWorld.open()
    try await world.put("r1")
    #expect(await code { try await world.client.attachmentPatch("r1", ["state": .string(word)]) } == .store)
    #expect(try await world.state("r1") == .queued)
    try await world.client.plant(["reference": "r2", "state": .string(word)], in: StateTable.attachments)
    #expect(await code { _ = try await world.client.getStatus("r2") } == .store)
  }

  @Test func `a row of an older version has defaults`() async throws {
    let world = try await AttachmentWorld.open()
    try await world.client.plant(["reference": "r1"], in: StateTable.attachments)
    let file = try await world.file("r1")
    #expect(file.state == .queued && file.direction == .upload && !file.isInFlight && file.errorCode == nil)
  }

  @Test func `a claim that is settled late changes nothing`() {
    var file = AttachmentRow(
      reference: "r", uploadID: "u1", name: RowName(table: "t", pk: "p"), column: "c", bucket: "b", owner: "o",
      direction: .upload, state: .queued)
    #expect(file.claim(attemptCountMax: 1) == .given)
    let job = file
    #expect(file.isHeld(by: job))
    #expect(file.claim(attemptCountMax: 1) == .refused)
    file.uploadID = "u2"
    #expect(!file.isHeld(by: job))
    file = job
    file.fail(.transfer, "no")
    #expect(!file.isHeld(by: job))
    #expect(file.claim(attemptCountMax: 1) == .spent)
    #expect(file.state == .failed && file.isPermanent && file.attempts == 1)
  }
}
