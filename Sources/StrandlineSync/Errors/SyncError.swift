public import StrandlineProtocol

/// What a sync client answers when it cannot do what was asked, and what it tells its error handler.
///
/// Unless a call says otherwise nothing was changed by what failed, and the client goes on as before.
public struct SyncError: Error, Sendable, CustomStringConvertible {
  /// What it means to the application; to branch on.
  public internal(set) var code: Code
  /// The condition as the catalogue names it; nil for what no call throws.
  public internal(set) var catalogueCode: SyncErrorCode?
  /// What, where, and what next; for people.
  public internal(set) var message: String
  /// Whether syncing this store has stopped until the application does something. Never together with ``isTransient``.
  public internal(set) var isFatal: Bool
  /// Whether it is tried again by itself, and may be ignored.
  public internal(set) var isTransient: Bool
  /// What there is to do.
  public internal(set) var action: Action
  /// The code of the server or of the transport in front of it, where there is one.
  public internal(set) var serverCode: TransportCode?
  /// The error beneath, where there is one: a `POSIXError` where the operating system refused, a `URLError` where the network did, a
  /// ``StoreError`` otherwise.
  public internal(set) var originalError: (any Error)?
  /// How long the server asks to be left alone, where it does.
  public internal(set) var retryAfter: Duration?
  /// What a ``Code/clientResetError`` is about; nil for others.
  public internal(set) var resetInfo: ClientResetInfo?
  /// The writes of a ``Code/writeRejected``, in the order of the queue; none for others.
  public internal(set) var rejections: [RejectedWrite] = []
  /// Who hears of it when it ends a run.
  var audience: ErrorClass.Audience

  /// A condition of the catalogue. What it means follows from the code and from the error beneath.
  public init(
    _ catalogueCode: SyncErrorCode, _ message: String, serverCode: TransportCode? = nil,
    originalError: (any Error)? = nil, retryAfter: Duration? = nil
  ) {
    self.init(
      ErrorClass(catalogueCode, originalError: originalError), catalogueCode, message, serverCode: serverCode,
      originalError: originalError, retryAfter: retryAfter)
  }

  init(
    _ kind: ErrorClass, _ catalogueCode: SyncErrorCode?, _ message: String, serverCode: TransportCode? = nil,
    originalError: (any Error)? = nil, retryAfter: Duration? = nil
  ) {
    code = kind.code
    isFatal = kind.isFatal
    isTransient = kind.isTransient
    action = kind.action
    audience = kind.audience
    self.catalogueCode = catalogueCode
    self.message = message
    self.serverCode = serverCode
    self.originalError = originalError
    self.retryAfter = retryAfter
  }

  /// The same condition, meaning something else.
  func classed(_ kind: ErrorClass) -> SyncError {
    var error = self
    error.code = kind.code
    error.isFatal = kind.isFatal
    error.isTransient = kind.isTransient
    error.action = kind.action
    error.audience = kind.audience
    return error
  }

  /// `CODE: message`, with the catalogue's name where there is one.
  public var description: String { "\(catalogueCode?.rawValue ?? "\(code)"): \(message)" }
}
