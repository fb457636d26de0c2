internal import StrandlineProtocol

/// How a file stands, for whoever shows it.
public struct AttachmentStatus: Hashable, Sendable {
  public var state: AttachmentState
  /// 0 to 1.
  public var progress: Double
  /// What the last transfer failed with, for people; nil: it did not.
  public var error: String?
  /// Where the bytes are; nil: not here.
  public var localPath: String?
  /// Whether nothing is tried any more before ``SyncClient/attachmentRetry(_:)``.
  public var isPermanent: Bool
  /// The catalogue's name for ``error``.
  public var errorCode: String?

  public init(
    state: AttachmentState, progress: Double = 0, error: String? = nil, localPath: String? = nil,
    isPermanent: Bool = false, errorCode: String? = nil
  ) {
    self.state = state
    self.progress = progress
    self.error = error
    self.localPath = localPath
    self.isPermanent = isPermanent
    self.errorCode = errorCode
  }

  init(_ row: AttachmentRow) {
    self.init(
      state: row.state, progress: row.progress, error: row.error, localPath: row.localPath,
      isPermanent: row.isPermanent, errorCode: row.errorCode)
  }
}
