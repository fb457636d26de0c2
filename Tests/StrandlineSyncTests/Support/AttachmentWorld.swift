import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// A signed-in client with a table of files, a storage, and a row to hang a file on.
struct AttachmentWorld {
  static let owner = "0a000000-0000-4000-8000-00000000000a"
  static let pk = "0b000000-0000-4000-8000-00000000000b"
  /// SHA-256 of "abc".
  static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  static let tables = [
    "todos": TableConfiguration(attachments: ["photo": .init(storageBucket: "photos", ownerColumn: "owner")])
  ]

  let test: TestClient
  let transfer: ScriptedTransfer
  let directory: TemporaryDirectory

  var client: SyncClient { test.client }
  var root: String { "\(directory.path)/files" }

  static func open(
    isSignedIn: Bool = true, hasTransfer: Bool = true, attemptCountMax: Int = 5, hasRow: Bool = true,
    tables: [String: TableConfiguration] = tables
  ) async throws -> AttachmentWorld {
    let directory = TemporaryDirectory()
    let transfer = ScriptedTransfer()
    let test = try await TestClient.open(tables) { configuration in
      configuration.attachmentRoot = "\(directory.path)/files"
      configuration.attachmentAttemptCountMax = attemptCountMax
      if hasTransfer { configuration.transfer = transfer }
    }
    let world = AttachmentWorld(test: test, transfer: transfer, directory: directory)
    if isSignedIn { try await world.client.setAccessToken(token(owner)) }
    if hasRow { try await world.client.seedRow(["owner": .string(owner)], table: "todos", pk: pk, seq: "1") }
    return world
  }

  /// A file of the application.
  func source(_ bytes: [UInt8] = Array("abc".utf8), name: String = "picture.jpg") -> String {
    let path = "\(directory.path)/\(name)"
    DirectoryProbe.write(bytes, to: path)
    return path
  }

  func add(_ bytes: [UInt8] = Array("abc".utf8), to pk: String = AttachmentWorld.pk) async throws
    -> ImportedAttachment
  {
    try await client.fromFile(table: "todos", column: "photo", pk: pk, sourcePath: source(bytes))
  }

  /// Puts a file into the queue that the row does not name yet.
  func put(_ reference: String, _ cells: [String: Value] = [:]) async throws {
    let base: [String: Value] = [
      "reference": .string(reference), "upload_id": "u", "table": "todos", "pk": .string(Self.pk), "column": "photo",
      "bucket": "photos", "owner": .string(Self.owner), "direction": "upload", "state": "queued",
    ]
    try await client.attachmentPut(base.merging(cells) { _, new in new })
  }

  /// A reference whose owner is the store's.
  static func reference(_ name: String) -> String { "\(owner)/\(pk)/\(name).jpg" }

  func file(_ reference: String) async throws -> AttachmentRow {
    let row = try await client.stateRows(of: StateTable.attachments).first { $0["reference"] == .string(reference) }
    return try AttachmentRow(try #require(row))
  }

  func state(_ reference: String) async throws -> AttachmentState? { try await client.getStatus(reference)?.state }

  /// Makes the row name a file as if that had come with a pull.
  func seed(photo reference: String, pk: String = AttachmentWorld.pk) async throws {
    try await client.seedRow(
      ["owner": .string(Self.owner), "photo": .string(reference)], table: "todos", pk: pk, seq: "1")
  }
}
