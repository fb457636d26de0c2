internal import StrandlineProtocol

/// What a condition means: the lines of the table "Errors" in Docs/Sync.md.
struct ErrorClass: Hashable, Sendable {
  /// Who hears of an error that ends a run.
  enum Audience: Hashable, Sendable {
    /// The caller and the error handler.
    case handler
    /// The caller alone.
    case caller
    /// The caller; the handler once it is clear that another token will not help. See ``SessionAccess``.
    case session
  }

  var code: SyncError.Code
  var isFatal = false
  var isTransient = false
  var action: SyncError.Action
  var audience = Audience.handler

  static let brokenProtocol = ErrorClass(code: .clientSessionError, action: .report)
  static let passingRefusal = ErrorClass(code: .clientSessionError, isTransient: true, action: .retried)
  /// The server asked for patience, or there is no session: nobody has to be told.
  static let patience = ErrorClass(
    code: .clientSessionError, isTransient: true, action: .retried, audience: .caller)
  static let tokenRefused = ErrorClass(
    code: .clientSessionError, isTransient: true, action: .retried, audience: .session)
  static let signedOut = ErrorClass(code: .clientUserError, isFatal: true, action: .signIn)
  static let internalFault = ErrorClass(code: .clientInternalError, isFatal: true, action: .report)
  static let permissionDenied = ErrorClass(code: .permissionDeniedError, action: .tellUser)
  static let subscription = ErrorClass(code: .invalidSubscription, action: .fixConfiguration)
  static let rejection = ErrorClass(code: .writeRejected, action: .tellUser)
  static let connection = ErrorClass(code: .connectionFailed, isTransient: true, action: .retried)
  static let tls = ErrorClass(code: .tlsHandshakeFailed, action: .fixConfiguration)
  static let identity = ErrorClass(code: .identityChanged, isFatal: true, action: .signIn)
  static let diskRefused = ErrorClass(code: .storeFailed, action: .report)
  static let diskFull = ErrorClass(code: .storeFailed, action: .freeSpace)
  static let storeBusy = ErrorClass(
    code: .storeFailed, isTransient: true, action: .retried, audience: .caller)
  static let poisoned = ErrorClass(code: .storeFailed, isFatal: true, action: .report)
  static let limit = ErrorClass(code: .limitExceeded, action: .report)
  static let misuse = ErrorClass(code: .invalidUse, action: .fixConfiguration, audience: .caller)

  static let resetCallback = ErrorClass(code: .resetCallbackFailed, action: .report)

  static func reset(_ reason: ClientResetInfo.Reason) -> ErrorClass {
    let action: SyncError.Action =
      switch reason {
      case .manual, .recoveryForbidden, .loopDetected: .chooseReset
      case .schemaGate, .freshCopyUnfit: .updateApplication
      case .freshCopyRefused: .fixConfiguration
      case .freshCopyMalformed, .beforeCallbackFailed, .recoveryImpossible: .report
      case .demandedAgain, .postponed: .retried
      }
    return ErrorClass(
      code: .clientResetError, isFatal: action != .retried, isTransient: action == .retried, action: action)
  }

  static func transfer(_ code: SyncErrorCode) -> ErrorClass {
    ErrorClass(
      code: .transferFailed, isTransient: code.isRetryable, action: code.isRetryable ? .retried : .none,
      audience: .caller)
  }
}

extension ErrorClass {
  /// What a condition of the catalogue means where nothing more is known. A body that does not decode is a stored one here.
  init(_ code: SyncErrorCode, originalError: (any Error)?) {
    switch code {
    case .remote: self = ErrorClass(cause: originalError) ?? .passingRefusal
    case .permanentTransport, .malformedPushResponse, .verdictBijection, .unknownSignal, .unknownVerdictReason,
      .unknownBatchOffender:
      self = .brokenProtocol
    case .json, .unknownOperation: self = .internalFault
    case .bucketUnset: self = .subscription
    case .store, .storeUnavailable: self = ErrorClass(store: originalError)
    case .storeBusy: self = .storeBusy
    case .clientReset: self = .reset(.manual)
    case .configInvalid, .resetActionGone, .unknownTable, .localConstraint, .localUnsupported, .softDeleteViolation,
      .engineUnavailable:
      self = .misuse
    case .attachmentHashMismatch, .attachmentNotYetAvailable, .attachmentOwnerMissing, .attachmentPortsMissing,
      .attachmentRowGone, .attachmentTransferTimeout, .attachmentUploadExpired, .attachmentUnverified, .transfer:
      self = .transfer(code)
    }
  }
}
