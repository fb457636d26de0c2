import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct AttachmentDownloadTests {
  private static let bytes = Array("abc".utf8)
  private let reference = AttachmentWorld.reference("f")

  /// A client that a pull has told of a file.
  private func pulled(hash: String? = AttachmentWorld.abc, isSignedIn: Bool = true) async throws -> AttachmentWorld {
    let world = try await AttachmentWorld.open(isSignedIn: isSignedIn, hasRow: false)
    world.transfer.put(Self.bytes, at: reference, hash: hash)
    world.test.remote.script(
      pulls: [
        .answer(
          .page(
            "5", [AttachmentWorld.pk: ["owner": .string(AttachmentWorld.owner), "photo": .string(reference)]]))
      ])
    try await world.client.sync()
    return world
  }

  @Test func `a pull registers what its rows name, and fetches nothing`() async throws {
    let world = try await pulled()
    let file = try await world.file(reference)
    #expect(file.direction == .download && file.state == .queued && file.bucket == "photos")
    #expect(file.owner == AttachmentWorld.owner && file.column == "photo")
    #expect(world.transfer.calls.isEmpty)
    #expect(try await world.client.attachmentPending(.download) == 1)
  }

  @Test func `a live file is left alone, an orphan keeps its hash, and an evicted one all it knows`() async throws {
    let known: [String: Value] = [
      "sha256": "h", "size": 7, "content_type": "image/png", "local_path": "/files/a", "attempts": 3,
      "error": "e", "error_code": "TRANSFER",
    ]
    for state in ["synced", "failed", "orphaned", "evicted"] {
      let world = try await AttachmentWorld.open(hasRow: false)
      try await world.put(reference, known.merging(["state": .string(state)]) { _, new in new })
      world.test.remote.script(
        pulls: [.answer(.page("5", [AttachmentWorld.pk: ["photo": .string(reference)]]))])
      try await world.client.pullOnce()
      let file = try await world.file(reference)
      #expect(file.sha256 == "h")
      switch state {
      case "orphaned":
        #expect(file.state == .queued && file.direction == .download && file.attempts == 0 && file.error == nil)
        #expect(file.localPath == nil && file.size == nil && file.contentType == nil)
      case "evicted":
        #expect(file.state == .queued && file.direction == .download && file.attempts == 0 && file.error == nil)
        #expect(file.localPath == "/files/a" && file.size == 7 && file.contentType == "image/png")
      default: #expect(file.state.rawValue == state && file.direction == .upload && file.attempts == 3)
      }
    }
  }

  @Test func `a download is checked and kept under its hash`() async throws {
    let world = try await pulled()
    let path = try await world.client.resolveDownload(reference)
    #expect(path == "\(world.root)/downloads/\(AttachmentWorld.abc)")
    #expect(path.flatMap { DirectoryProbe.bytes(of: $0) } == Self.bytes)
    let file = try await world.file(reference)
    #expect(file.state == .synced && file.localPath == path && file.size == 3 && file.attempts == 1)
    world.transfer.forgetCalls()
    #expect(try await world.client.resolveDownload(reference) == path)
    #expect(world.transfer.calls.isEmpty)
    #expect(try await world.client.strandedFiles().isEmpty)
  }

  @Test func `a file that is here is answered on a blocked client and without a session`() async throws {
    let world = try await AttachmentWorld.open(isSignedIn: false, hasTransfer: false)
    let source = world.source()
    for state in ["queued", "failed", "orphaned", "evicted", "uploading"] {
      try await world.put(reference, ["state": .string(state), "local_path": .string(source)])
      #expect(try await world.client.resolveDownload(reference) == source)
    }
  }

  @Test func `what cannot be fetched is nil`() async throws {
    let world = try await pulled()
    #expect(try await world.client.resolveDownload("nobody") == nil)
    for state in ["orphaned", "evicted", "downloading", "uploading"] {
      try await world.put(reference, ["state": .string(state), "direction": "download"])
      #expect(try await world.client.resolveDownload(reference) == nil)
    }
    try await world.put(reference, ["direction": "download", "in_flight": true])
    #expect(try await world.client.resolveDownload(reference) == nil)
    try await world.put(reference, ["direction": "upload"])
    #expect(try await world.client.resolveDownload(reference) == nil)
    try await world.put(reference, ["direction": "download"])
    try await world.client.setAccessToken(nil)
    #expect(try await world.client.resolveDownload(reference) == nil)
    try await world.client.setAccessToken(token("0c000000-0000-4000-8000-00000000000c"))
    #expect(try await world.client.resolveDownload(reference) == nil)
    #expect(world.transfer.calls.isEmpty)
    let portless = try await AttachmentWorld.open(hasTransfer: false)
    try await portless.put(reference, ["direction": "download"])
    #expect(try await portless.client.resolveDownload(reference) == nil)
  }

  @Test func `a fetch needs a directory`() async throws {
    let test = try await TestClient.open { $0.transfer = ScriptedTransfer() }
    try await test.client.setAccessToken(token(AttachmentWorld.owner))
    try await test.client.attachmentPut(["reference": "r1", "direction": "download"])
    #expect(await code { _ = try await test.client.resolveDownload("r1") } == .attachmentPortsMissing)
    #expect(try await test.client.getStatus("r1")?.state == .queued)
  }

  @Test(arguments: ["download", "upload"])
  func `a synced file whose bytes are gone is fetched again`(direction: String) async throws {
    let world = try await pulled()
    try await world.put(
      reference,
      ["state": "synced", "direction": .string(direction), "local_path": "/nowhere/at/all", "attempts": 5])
    #expect(try await world.client.resolveDownload(reference) == "\(world.root)/downloads/\(AttachmentWorld.abc)")
    let file = try await world.file(reference)
    #expect(file.direction == .download && file.state == .synced && file.attempts == 1)
  }

  @Test(arguments: ["../../../etc/f.jpg", "/etc/f.jpg", "a/../../f.jpg"])
  func `where a file lands is not for its reference to say`(reference: String) async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    world.transfer.put(Self.bytes, at: reference, hash: AttachmentWorld.abc)
    world.test.remote.script(
      pulls: [.answer(.page("5", [AttachmentWorld.pk: ["photo": .string(reference)]]))])
    try await world.client.sync()
    #expect(
      try await world.client.resolveDownload(reference) == "\(world.root)/downloads/\(AttachmentWorld.abc)")
    #expect(try await world.client.strandedFiles().isEmpty)
  }

  @Test(arguments: ["no hash", nil]) func `without a hash nothing is fetched`(hash: String?) async throws {
    let world = try await pulled(hash: hash)
    #expect(try await world.client.resolveDownload(reference) == nil)
    #expect(world.transfer.calls == ["hash"])
    #expect(try await world.client.getStatus(reference)?.errorCode == "ATTACHMENT_UNVERIFIED")
    #expect(try await world.state(reference) == .failed)
    // The row's own will do.
    try await world.client.attachmentPatch(reference, ["sha256": .string(AttachmentWorld.abc)])
    #expect(try await world.client.resolveDownload(reference) != nil)
  }

  @Test func `bytes with another hash are not kept`() async throws {
    let world = try await pulled(hash: String(repeating: "0", count: 64))
    #expect(try await world.client.resolveDownload(reference) == nil)
    let file = try await world.file(reference)
    #expect(file.state == .failed && file.errorCode == "ATTACHMENT_HASH_MISMATCH" && file.localPath == nil)
    #expect(try await world.client.strandedFiles().isEmpty)
  }

  @Test func `an object that is not there yet is queued again and charged`() async throws {
    let world = try await pulled()
    world.transfer.end(.download, .refused(status: 404))
    #expect(try await world.client.resolveDownload(reference) == nil)
    let file = try await world.file(reference)
    #expect(file.state == .queued && file.errorCode == "ATTACHMENT_NOT_YET_AVAILABLE" && file.attempts == 1)
    #expect(try await world.client.resolveDownload(reference) != nil)
  }

  @Test func `a download that is cancelled gives its claim back`() async throws {
    for outcome in [TransferFailure.Kind.unreachable, nil] {
      let world = try await pulled()
      let door = Door()
      world.transfer.hold(.download, at: door)
      world.transfer.end(.download, outcome)
      let call = Task { try await world.client.resolveDownload(reference) }
      await door.reached()
      call.cancel()
      door.open()
      await #expect(throws: CancellationError.self) { _ = try await call.value }
      let file = try await world.file(reference)
      #expect(file.state == .queued && !file.isInFlight && file.attempts == 0 && file.error == nil)
      #expect(try await world.client.resolveDownload(reference) != nil)
    }
  }

  @Test func `a directory that cannot be made releases the claim`() async throws {
    let world = try await pulled()
    DirectoryProbe.remove("\(world.root)/incoming")
    DirectoryProbe.write([], to: "\(world.root)/incoming")
    #expect(try await world.client.resolveDownload(reference) == nil)
    let file = try await world.file(reference)
    #expect(file.state == .failed && !file.isInFlight && file.errorCode == "STORE")
  }
}
