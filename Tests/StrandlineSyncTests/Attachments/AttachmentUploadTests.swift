import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct AttachmentUploadTests {
  private static let chunk = SyncClient.attachmentChunkByteCount

  @Test func `a sync sends a small file with one request and confirms it`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    try await world.client.sync()
    #expect(world.transfer.calls == ["upload 3", "confirm 3"])
    #expect(world.transfer.objects[added.reference] == Array("abc".utf8))
    let file = try await world.file(added.reference)
    #expect(file.state == .synced && !file.isInFlight && file.progress == 1 && file.attempts == 1)
    try await world.client.sync()
    #expect(world.transfer.calls.count == 2)
  }

  @Test func `nothing is sent without a session, on a blocked client, or behind a push that failed`() async throws {
    let signedOut = try await AttachmentWorld.open(isSignedIn: false)
    _ = try await signedOut.add()
    try await signedOut.client.sync()
    #expect(signedOut.transfer.calls.isEmpty)
    let blocked = try await AttachmentWorld.open()
    _ = try await blocked.add()
    try await blocked.client.setAccessToken(token("0c000000-0000-4000-8000-00000000000c"))
    try await blocked.client.sync()
    #expect(blocked.transfer.calls.isEmpty)
    let refused = try await AttachmentWorld.open()
    _ = try await refused.add()
    refused.test.remote.script(pushes: [.failure(.refused(.raised))])
    #expect(await code { try await refused.client.sync() } == .permanentTransport)
    #expect(refused.transfer.calls.isEmpty)
  }

  @Test(arguments: [TransferFailure.Kind.refused(status: 401), .noSession])
  func `without a session a file waits uncharged`(kind: TransferFailure.Kind) async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    world.transfer.end(.upload, kind)
    try await world.client.sync()
    let file = try await world.file(added.reference)
    #expect(file.state == .queued && file.attempts == 0 && file.error == nil && file.errorCode == nil)
    #expect(!file.isInFlight)
  }

  @Test func `a failure is charged, said, and tried again`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    world.transfer.end(.upload, .unreachable, .refused(status: 423), .deadline)
    for (attempts, code) in [(1, "TRANSFER"), (2, "TRANSFER"), (3, "ATTACHMENT_TRANSFER_TIMEOUT")] {
      try await world.client.sync()
      let file = try await world.file(added.reference)
      #expect(file.state == .failed && !file.isPermanent && file.attempts == Int64(attempts))
      #expect(file.errorCode == code && file.error != nil)
    }
    try await world.client.sync()
    let file = try await world.file(added.reference)
    #expect(file.state == .synced && file.error == nil && file.errorCode == nil)
  }

  @Test func `a refusal for good is not tried again before a retry`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    world.transfer.end(.upload, .refused(status: 400))
    try await world.client.sync()
    try await world.client.sync()
    #expect(world.transfer.calls == ["upload 3"])
    #expect(try await world.client.getStatus(added.reference)?.isPermanent == true)
    #expect(try await world.client.attachmentRetry(added.reference))
    try await world.client.sync()
    #expect(try await world.state(added.reference) == .synced)
  }

  @Test func `the budget is spent at last`() async throws {
    let world = try await AttachmentWorld.open(attemptCountMax: 2)
    let added = try await world.add()
    world.transfer.end(.upload, .unreachable, .unreachable)
    for _ in 1...4 { try await world.client.sync() }
    #expect(world.transfer.calls.count == 2)
    let file = try await world.file(added.reference)
    #expect(file.state == .failed && file.isPermanent && file.attempts == 2)
  }

  @Test func `a confirmation that fails leaves the file failed`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    world.transfer.end(.confirm, .refused(status: 404))
    try await world.client.sync()
    let file = try await world.file(added.reference)
    #expect(file.state == .failed && !file.isPermanent && file.errorCode == "TRANSFER")
  }

  @Test func `missing bytes are counted each time`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    DirectoryProbe.remove(added.localPath)
    for attempts in 1...2 {
      try await world.client.sync()
      let file = try await world.file(added.reference)
      #expect(file.state == .failed && file.errorCode == "STORE" && file.attempts == Int64(attempts))
    }
    #expect(world.transfer.calls.isEmpty)
  }

  @Test func `a large file goes in pieces and goes on where it was broken off`() async throws {
    let world = try await AttachmentWorld.open()
    let byteCount = 2 * Self.chunk + 5
    let added = try await world.add([UInt8](repeating: 7, count: byteCount))
    world.transfer.end(.append, nil, .unreachable)
    try await world.client.sync()
    #expect(world.transfer.calls == ["open \(byteCount)", "append 0", "append \(Self.chunk)", "offset"])
    var file = try await world.file(added.reference)
    #expect(file.state == .failed && file.chunkOffset == Int64(Self.chunk) && file.sessionURL == "session")
    #expect(file.progress > 0.4 && file.progress < 0.6)
    world.transfer.forgetCalls()
    try await world.client.sync()
    #expect(
      world.transfer.calls == [
        "offset", "append \(Self.chunk)", "append \(2 * Self.chunk)", "confirm \(byteCount)",
      ])
    file = try await world.file(added.reference)
    #expect(file.state == .synced && file.sessionURL == nil && file.chunkOffset == 0 && file.progress == 1)
  }

  @Test func `a session that is lost is dropped`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add([UInt8](repeating: 7, count: Self.chunk + 1))
    world.transfer.end(.append, nil, .sessionLost)
    try await world.client.sync()
    let file = try await world.file(added.reference)
    #expect(file.state == .failed && file.errorCode == "ATTACHMENT_UPLOAD_EXPIRED")
    #expect(file.chunkOffset == 0 && file.sessionURL == nil)
    world.transfer.forgetCalls()
    try await world.client.sync()
    #expect(world.transfer.calls.first == "open \(Self.chunk + 1)")
  }

  @Test(arguments: [Int64(-1), 1 << 40])
  func `a session that has what it cannot have is none`(offset: Int64) async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add([UInt8](repeating: 7, count: Self.chunk + 1))
    world.transfer.end(.append, nil, .deadline)
    try await world.client.sync()
    #expect(try await world.file(added.reference).sessionURL == "session")
    world.transfer.sayOffset(offset)
    try await world.client.sync()
    #expect(try await world.file(added.reference).errorCode == "ATTACHMENT_UPLOAD_EXPIRED")
  }

  @Test(arguments: [nil, Value.null, "", "another"] as [Value?])
  func `a file is sent once its row names it`(named: Value?) async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    let reference = AttachmentWorld.reference("f")
    var columns: [String: Value] = ["owner": .string(AttachmentWorld.owner)]
    columns["photo"] = named
    try await world.client.seedRow(columns, table: "todos", pk: AttachmentWorld.pk, seq: "1")
    try await world.put(reference, ["local_path": .string(world.source())])
    try await world.client.sync()
    let file = try await world.file(reference)
    #expect(world.transfer.calls.isEmpty && file.state == .queued && file.attempts == 0)
    try await world.seed(photo: reference)
    try await world.client.sync()
    #expect(world.transfer.calls == ["upload 3", "confirm 3"])
  }

  @Test func `a claim is held through the confirmation`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    let door = Door()
    world.transfer.hold(.confirm, at: door)
    let run = Task { try await world.client.sync() }
    await door.reached()
    let file = try await world.file(added.reference)
    #expect(file.state == .uploading && file.isInFlight && file.attempts == 1)
    #expect(try await world.client.attachmentPending(.upload) == 0)
    door.open()
    try await run.value
    #expect(try await world.state(added.reference) == .synced)
  }

  @Test func `a file that its row does not name waits uncharged`() async throws {
    let world = try await AttachmentWorld.open()
    try await world.put("r1")
    try await world.put("r2", ["state": "failed", "attempts": 1])
    try await world.client.sync()
    #expect(world.transfer.calls.isEmpty)
    let (first, second) = (try await world.file("r1"), try await world.file("r2"))
    #expect(first.state == .queued && first.attempts == 0)
    #expect(second.state == .queued && second.attempts == 1)
  }

  @Test func `one sync sends 32 files, the oldest first`() async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    let path = world.source()
    for number in 0..<33 {
      let pk = "p\(number)"
      try await world.seed(photo: "r\(number)", pk: pk)
      try await world.put(
        "r\(number)", ["pk": .string(pk), "local_path": .string(path), "created_at": .int(Int64(100 - number))])
    }
    try await world.client.sync()
    #expect(world.transfer.calls.filter { $0.hasPrefix("upload") }.count == 32)
    #expect(try await world.state("r0") == .queued)
    try await world.client.sync()
    #expect(try await world.state("r0") == .synced)
  }

  @Test func `a sync that is cancelled gives the claim back`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    let door = Door()
    world.transfer.hold(.upload, at: door)
    let run = Task { try await world.client.sync() }
    await door.reached()
    run.cancel()
    door.open()
    await #expect(throws: CancellationError.self) { try await run.value }
    let file = try await world.file(added.reference)
    #expect(file.state == .queued && !file.isInFlight && file.attempts == 0)
    try await world.client.sync()
    #expect(try await world.state(added.reference) == .synced)
  }

  @Test func `what a dead process had claimed goes back without a charge`() async throws {
    let world = try await AttachmentWorld.open()
    try await world.put("r1", ["state": "uploading", "in_flight": true, "attempts": 2])
    try await world.put("r2", ["state": "downloading", "direction": "download", "attempts": 1])
    try await world.put("r3", ["state": "failed", "in_flight": true])
    try await world.put("r4", ["state": "orphaned", "in_flight": true])
    try await world.client.sync()
    for (reference, attempts) in [("r1", 2), ("r2", 1), ("r3", 0)] {
      let file = try await world.file(reference)
      #expect(file.state == .queued && !file.isInFlight && file.attempts == Int64(attempts))
    }
    let orphaned = try await world.file("r4")
    #expect(orphaned.state == .orphaned && !orphaned.isInFlight)
  }
}
