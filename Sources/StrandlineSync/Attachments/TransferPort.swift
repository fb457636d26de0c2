/// Moves the bytes of files between this device and the storage. Repeats nothing by itself; cancelling the task ends a call that is out.
///
/// Which file goes when, what a failure means and what is tried again is decided by the client, not here.
public protocol TransferPort: Sendable {
  /// Puts a small object onto the storage with one request. An object that is there already with these bytes is as good.
  ///
  /// - Parameter bytes: at most ``SyncClient/attachmentChunkByteCount``.
  func upload(
    _ bytes: [UInt8], as object: TransferObject, _ context: TransferContext) async throws(TransferFailure)

  /// Begins a transfer that can be broken off and resumed; answers where it is to be found.
  func openSession(
    for object: TransferObject, byteCount: Int64, _ context: TransferContext
  ) async throws(TransferFailure) -> String

  /// How many bytes a session has.
  func offset(ofSession url: String, _ context: TransferContext) async throws(TransferFailure) -> Int64

  /// Hands a session its next bytes; answers how many it has then.
  func append(
    _ bytes: [UInt8], at offset: Int64, toSession url: String, _ context: TransferContext
  ) async throws(TransferFailure) -> Int64

  /// Tells the server that all bytes of an object are on the storage.
  ///
  /// - Parameter sha256: of the bytes, 64 digits in lower case; nil where it is not known.
  func confirm(
    _ object: TransferObject, byteCount: Int64, sha256: String?, _ context: TransferContext
  ) async throws(TransferFailure)

  /// The SHA-256 that the server has for an object; nil: it has none.
  func sha256(of object: TransferObject, _ context: TransferContext) async throws(TransferFailure) -> String?

  /// Fetches an object into a file, which is made.
  func download(
    _ object: TransferObject, to path: String, _ context: TransferContext) async throws(TransferFailure)

  /// Deletes an object.
  func delete(_ object: TransferObject, _ context: TransferContext) async throws(TransferFailure)
}

/// An object on the storage, and the row that names it.
public struct TransferObject: Hashable, Sendable {
  /// The storage bucket.
  public var bucket: String
  /// The object's path in the bucket. From the server where the file is a download: not to be taken for a path of this device.
  public var reference: String
  /// Of one import; empty where another device made it.
  public var uploadID: String
  public var table: String
  /// The row's key text.
  public var pk: String
  public var column: String
  /// Nil: unknown.
  public var contentType: String?

  public init(
    bucket: String, reference: String, uploadID: String, table: String, pk: String, column: String,
    contentType: String?
  ) {
    self.bucket = bucket
    self.reference = reference
    self.uploadID = uploadID
    self.table = table
    self.pk = pk
    self.column = column
    self.contentType = contentType
  }

  init(_ file: AttachmentRow) {
    self.init(
      bucket: file.bucket, reference: file.reference, uploadID: file.uploadID, table: file.name.table,
      pk: file.name.pk, column: file.column, contentType: file.contentType)
  }
}

/// What travels beside a transfer.
public struct TransferContext: Sendable {
  /// The session's token.
  public var accessToken: String?

  public init(accessToken: String? = nil) { self.accessToken = accessToken }
}

extension TransferContext: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Says whether there is a token, and nothing of it.
  public var description: String { "TransferContext(accessToken: \(accessToken == nil ? "none" : "given"))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
