import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct AttachmentVacuumTests {
  private let reference = AttachmentWorld.reference("f")

  /// A client with a file in its directory, and a row of the queue for it.
  private func made(_ state: String, _ cells: [String: Value] = [:], isSignedIn: Bool = true) async throws
    -> (AttachmentWorld, path: String)
  {
    let world = try await AttachmentWorld.open(isSignedIn: isSignedIn)
    let path = "\(world.root)/file"
    DirectoryProbe.write([1], to: path)
    world.transfer.put([1], at: reference, hash: nil)
    let base: [String: Value] = ["state": .string(state), "local_path": .string(path), "sha256": "h"]
    try await world.put(reference, base.merging(cells) { _, new in new })
    return (world, path)
  }

  @Test func `an orphan is deleted there, here, and in the queue`() async throws {
    let (world, path) = try await made("orphaned")
    try await world.client.vacuum()
    #expect(world.transfer.objects.isEmpty)
    #expect(!DirectoryProbe.exists(path))
    #expect(try await world.state(reference) == nil)
  }

  @Test func `an evicted file is deleted here only`() async throws {
    let (world, path) = try await made("evicted")
    try await world.client.vacuum()
    #expect(world.transfer.calls.isEmpty)
    #expect(!DirectoryProbe.exists(path))
    let file = try await world.file(reference)
    #expect(file.state == .evicted && file.localPath == nil && file.sha256 == "h")
  }

  @Test(arguments: [401, 403])
  func `an orphan whose deletion is refused becomes evicted`(status: Int) async throws {
    let (world, path) = try await made("orphaned")
    world.transfer.end(.delete, .refused(status: status))
    try await world.client.vacuum()
    #expect(!DirectoryProbe.exists(path))
    let file = try await world.file(reference)
    #expect(file.state == .evicted && file.localPath == nil && file.sha256 == "h")
  }

  @Test func `an orphan whose budget is spent becomes evicted without a request`() async throws {
    let (world, path) = try await made("orphaned", ["attempts": 5])
    try await world.client.vacuum()
    #expect(world.transfer.calls.isEmpty)
    #expect(!DirectoryProbe.exists(path))
    #expect(try await world.state(reference) == .evicted)
  }

  @Test func `another failure leaves the orphan, counted and said`() async throws {
    let (world, path) = try await made("orphaned")
    world.transfer.end(.delete, .unreachable)
    try await world.client.vacuum()
    #expect(DirectoryProbe.exists(path))
    let file = try await world.file(reference)
    #expect(file.state == .orphaned && file.attempts == 1 && file.error != nil && file.errorCode == "TRANSFER")
    try await world.client.vacuum()
    #expect(try await world.state(reference) == nil)
  }

  @Test func `nothing is done without a session or on a blocked client`() async throws {
    let (signedOut, path) = try await made("orphaned", isSignedIn: false)
    try await signedOut.client.vacuum()
    #expect(DirectoryProbe.exists(path))
    let (blocked, other) = try await made("evicted")
    try await blocked.client.setAccessToken(token("0c000000-0000-4000-8000-00000000000c"))
    try await blocked.client.vacuum()
    #expect(DirectoryProbe.exists(other))
  }

  @Test func `a file that a live row shares stays`() async throws {
    let (world, path) = try await made("orphaned")
    try await world.put("live", ["state": "synced", "local_path": .string(path)])
    try await world.client.vacuum()
    #expect(DirectoryProbe.exists(path))
    #expect(try await world.state(reference) == nil)
  }

  @Test func `no file outside the directory is deleted`() async throws {
    for state in ["orphaned", "evicted"] {
      let (world, _) = try await made(state)
      let outside = world.source()
      for path in [outside, "\(world.root)/../picture.jpg"] {
        try await world.put(reference, ["state": .string(state), "local_path": .string(path)])
        try await world.client.vacuum()
        #expect(DirectoryProbe.exists(outside))
      }
    }
    let files = try #require(AttachmentFiles("/usr/"))
    #expect(files.contains("/usr/a") && files.contains("/usr/a/b"))
    for path in ["/usr", "/usr/", "/usrless/a", "/usr/../a", "/usr/a/..", "a", ""] {
      #expect(!files.contains(path), "\(path)")
    }
  }

  @Test func `a delete that the server has not answered removes nothing`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    try await world.client.sync()
    try await world.test.delete(AttachmentWorld.pk)
    try await world.client.vacuum()
    #expect(DirectoryProbe.exists(added.localPath))
    #expect(world.transfer.objects[added.reference] != nil)
    #expect(try await world.state(added.reference) == .synced)
    try await world.client.sync()
    try await world.client.vacuum()
    #expect(!DirectoryProbe.exists(added.localPath))
    #expect(world.transfer.objects.isEmpty)
  }

  @Test func `a directory has one path, however it is spelled`() throws {
    let directory = TemporaryDirectory()
    let plain = try #require(AttachmentFiles(directory.path))
    for spelling in ["/", "//", "/.", "/../\(directory.path.split(separator: "/").last ?? "")"] {
      #expect(AttachmentFiles(directory.path + spelling)?.root == plain.root)
    }
    #expect(AttachmentFiles(nil) == nil)
  }

  @Test func `an orphan that a row names anew is kept`() async throws {
    let (world, path) = try await made("orphaned")
    try await world.seed(photo: reference)
    try await world.client.vacuum()
    #expect(DirectoryProbe.exists(path))
    #expect(world.transfer.calls.isEmpty)
  }

  @Test func `stranded files are those that no row names`() async throws {
    let (world, path) = try await made("synced")
    #expect(try await world.client.strandedFiles().isEmpty)
    let stranger = "\(world.root)/stranger"
    DirectoryProbe.write([2], to: stranger)
    #expect(try await world.client.strandedFiles() == [stranger])
    #expect(try await world.client.attachmentRemove(reference) == path)
    #expect(try await world.client.strandedFiles() == [path, stranger])
  }

  @Test func `a download and a vacuum wait for the run that is under way`() async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    let reference = AttachmentWorld.reference("f")
    world.transfer.put(Array("abc".utf8), at: reference, hash: AttachmentWorld.abc)
    world.test.remote.script(pulls: [
      .answer(.page("5", [AttachmentWorld.pk: ["owner": .string(AttachmentWorld.owner), "photo": .string(reference)]]))
    ])
    try await world.client.sync()
    let other = AttachmentWorld.reference("orphan")
    try await world.put(other, ["state": "orphaned"])
    let door = Door()
    world.test.remote.script(pulls: [.held(door, .page("6"))])
    async let synced: Void = world.client.sync()
    await door.reached()
    async let path = world.client.resolveDownload(reference)
    async let swept: Void = world.client.vacuum()
    for _ in 0..<200 { await Task.yield() }
    #expect(world.transfer.calls.isEmpty)
    #expect(try await world.state(other) == .orphaned)
    door.open()
    try await synced
    #expect(try await path != nil)
    try await swept
    #expect(world.transfer.calls.contains("download") && world.transfer.calls.contains("delete"))
  }
}
