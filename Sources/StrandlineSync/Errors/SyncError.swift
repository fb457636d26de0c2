public import StrandlineProtocol

/// What a sync client answers when it cannot do what was asked.
///
/// Unless a call says otherwise nothing was changed by what failed, and the client goes on as before.
public struct SyncError: Error, Sendable, CustomStringConvertible {
  /// The catalogue's name for the condition, to branch on.
  public var code: SyncErrorCode
  /// What, where, and what next; for people.
  public var message: String
  /// The code of the server or of the transport in front of it, where there is one.
  public var transportCode: TransportCode?
  /// The error beneath, where there is one: a `POSIXError` where the operating system refused, a `URLError` where the network did, a
  /// ``StoreError`` otherwise.
  public var underlying: (any Error)?
  /// How long the server asks to be left alone, where it does.
  public var retryAfter: Duration?
  /// Of ``SyncErrorCode/clientReset``: what it was about, and what can be done.
  public var resetInfo: ClientResetInfo?

  public init(
    _ code: SyncErrorCode, _ message: String, transportCode: TransportCode? = nil, underlying: (any Error)? = nil,
    retryAfter: Duration? = nil
  ) {
    self.code = code
    self.message = message
    self.transportCode = transportCode
    self.underlying = underlying
    self.retryAfter = retryAfter
  }

  /// Whether the same call may succeed later without anybody doing anything.
  public var isRetryable: Bool { code.isRetryable || resetInfo?.reason == .demandedAgain }

  /// `CODE: message`.
  public var description: String { "\(code.rawValue): \(message)" }
}
