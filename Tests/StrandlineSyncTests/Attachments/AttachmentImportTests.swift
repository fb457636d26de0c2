import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct AttachmentImportTests {
  @Test func `a file is copied, queued and named by its row`() async throws {
    let world = try await AttachmentWorld.open()
    let added = try await world.add()
    #expect(added.sha256 == AttachmentWorld.abc && added.size == 3 && added.mediaType == "image/jpeg")
    #expect(added.localPath == "\(world.root)/content/\(AttachmentWorld.abc)")
    #expect(DirectoryProbe.bytes(of: added.localPath) == Array("abc".utf8))
    let parts = added.reference.split(separator: "/")
    #expect(parts.count == 3 && parts[0] == AttachmentWorld.owner && parts[1] == AttachmentWorld.pk)
    #expect(parts.last?.hasSuffix(".jpg") ?? false)
    #expect(try await world.test.columns(AttachmentWorld.pk)?["photo"] == .string(added.reference))
    #expect(try await world.client.outboxDepth() == 1)
    #expect(await world.test.eventNames().suffix(2) == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
    let file = try await world.file(added.reference)
    #expect(file.direction == .upload && file.state == .queued && file.bucket == "photos" && file.attempts == 0)
    #expect(try await world.client.attachmentPending(.upload) == 1)
  }

  @Test func `files with the same bytes share one copy`() async throws {
    let world = try await AttachmentWorld.open()
    let first = try await world.add()
    let second = try await world.add()
    #expect(first.reference != second.reference && first.localPath == second.localPath)
    #expect(try await world.client.strandedFiles().isEmpty)
  }

  @Test func `the checks come in their order`() async throws {
    let rootless = try await TestClient.open()
    #expect(
      await code {
        _ = try await rootless.client.fromFile(table: "strangers", column: "c", pk: "p", sourcePath: "/nowhere")
      } == .attachmentPortsMissing)
    let world = try await AttachmentWorld.open(hasRow: false)
    func add(
      _ table: String = "todos", _ column: String = "photo", _ pk: String = AttachmentWorld.pk,
      _ source: String = "/nowhere"
    ) async -> SyncErrorCode? {
      await code { _ = try await world.client.fromFile(table: table, column: column, pk: pk, sourcePath: source) }
    }
    #expect(await add("strangers", "other") == .unknownTable)
    #expect(await add("todos", "other") == .localConstraint)
    #expect(await add() == .attachmentRowGone)
    try await world.client.seedRow([:], table: "todos", pk: AttachmentWorld.pk, seq: "1")
    #expect(await add() == .attachmentOwnerMissing)
    try await world.client.seedRow(["owner": ""], table: "todos", pk: AttachmentWorld.pk, seq: "1")
    #expect(await add() == .attachmentOwnerMissing)
    try await world.client.seedRow(["owner": "../up"], table: "todos", pk: AttachmentWorld.pk, seq: "1")
    #expect(await add() == .localConstraint)
    try await world.client.seedRow(["owner": .string(AttachmentWorld.owner)], table: "todos", pk: "p1", seq: "1")
    #expect(await add("todos", "photo", "p1") == .localConstraint)
    try await world.client.seedRow(
      ["owner": .string(AttachmentWorld.owner)], table: "todos", pk: AttachmentWorld.pk, seq: "1")
    #expect(await add() == .transfer)
    #expect(await add("todos", "photo", AttachmentWorld.pk, world.directory.path) == .transfer)
    #expect(try await world.client.attachmentPending(.upload) == 0)
    #expect(try await world.client.outboxDepth() == 0)
    #expect(try await world.client.strandedFiles().isEmpty)
  }

  @Test func `a key and an owner in capitals are brought into lower case`() async throws {
    let world = try await AttachmentWorld.open()
    try await world.client.seedRow(
      ["owner": .string(AttachmentWorld.owner.uppercased())], table: "todos", pk: AttachmentWorld.pk, seq: "1")
    let added = try await world.add(to: AttachmentWorld.pk.uppercased())
    #expect(added.reference.hasPrefix("\(AttachmentWorld.owner)/\(AttachmentWorld.pk)/"))
  }

  @Test func `an import whose update is refused is evicted`() async throws {
    let world = try await AttachmentWorld.open()
    // A row that a local insert has shown again keeps its shadow.
    try await world.client.seedShadow(table: "todos", pk: AttachmentWorld.pk, seq: "2")
    #expect(await code { _ = try await world.add() } == .localConstraint)
    let rows = try await world.client.stateRows(of: StateTable.attachments)
    #expect(rows.map { $0["state"] ?? .null } == ["evicted"])
    #expect(try await world.client.outboxDepth() == 0)
    #expect(try await world.client.attachmentPending(.upload) == 0)
    try await world.client.sync()
    #expect(world.transfer.calls.isEmpty)
    #expect(try await world.test.columns(AttachmentWorld.pk)?["photo"] == nil)
  }

  @Test func `a write that names a file in a deleted row is refused and evicts the file`() async throws {
    let world = try await AttachmentWorld.open(hasRow: false)
    try await world.client.seedShadow(table: "todos", pk: AttachmentWorld.pk, seq: "2")
    let columns: [String: Value] = ["photo": "r1"]
    for operation in [MutationOperation.insert, .update] {
      try await world.put("r1")
      #expect(
        await code { try await world.client.apply(operation, to: "todos", pk: AttachmentWorld.pk, columns: columns) }
          == .localConstraint)
      #expect(try await world.state("r1") == .evicted)
    }
    try await world.put("r1")
    #expect(
      await code {
        try await world.client.write { tx in try tx.update(AttachmentWorld.pk, in: "todos", set: columns) }
      } == .localConstraint)
    #expect(try await world.state("r1") == .evicted)
    // Nothing else of such a row is guarded.
    try await world.client.apply(.insert, to: "todos", pk: AttachmentWorld.pk, columns: ["photo": .null, "title": "t"])
  }
}
