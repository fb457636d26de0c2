import Foundation
import FoundationNetworking
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// The tables of what each condition means, line by line.
struct ErrorTableTests {
  struct Line: Sendable {
    var code: SyncError.Code
    var isFatal = false
    var isTransient = false
    var action: SyncError.Action
    var isForHandler = true

    static let passing = Line(code: .clientSessionError, isTransient: true, action: .retried)
    static let silent = Line(code: .clientSessionError, isTransient: true, action: .retried, isForHandler: false)
    static let broken = Line(code: .clientSessionError, action: .report)
    static let connection = Line(code: .connectionFailed, isTransient: true, action: .retried)
    static let tls = Line(code: .tlsHandshakeFailed, action: .fixConfiguration)
    static let subscription = Line(code: .invalidSubscription, action: .fixConfiguration)
    static let permission = Line(code: .permissionDeniedError, action: .tellUser)
    static let limit = Line(code: .limitExceeded, action: .report)
    static let internalFault = Line(code: .clientInternalError, isFatal: true, action: .report)
    static let store = Line(code: .storeFailed, action: .report)
    static let full = Line(code: .storeFailed, action: .freeSpace)
    static let misuse = Line(code: .invalidUse, action: .fixConfiguration, isForHandler: false)
    static let fetch = Line(code: .transferFailed, isTransient: true, action: .retried, isForHandler: false)
    static let file = Line(code: .transferFailed, action: .none, isForHandler: false)
  }

  private func check(_ error: SyncError, _ line: Line, _ what: String) {
    #expect(error.code == line.code, "\(what)")
    #expect(error.isFatal == line.isFatal && error.isTransient == line.isTransient, "\(what)")
    #expect(error.action == line.action, "\(what)")
    #expect((error.audience == .handler) == line.isForHandler, "\(what)")
    #expect(!(error.isFatal && error.isTransient), "\(what)")
  }

  // MARK: The catalogue

  private static let catalogue: [(SyncErrorCode, Line)] = [
    (.remote, .passing), (.permanentTransport, .broken), (.malformedPushResponse, .broken),
    (.verdictBijection, .broken), (.unknownSignal, .broken), (.unknownVerdictReason, .broken),
    (.unknownBatchOffender, .broken), (.json, .internalFault), (.unknownOperation, .internalFault),
    (.bucketUnset, .subscription), (.store, .store), (.storeUnavailable, .store),
    (.storeBusy, Line(code: .storeFailed, isTransient: true, action: .retried, isForHandler: false)),
    (.configInvalid, .misuse), (.unknownTable, .misuse), (.localConstraint, .misuse), (.localUnsupported, .misuse),
    (.softDeleteViolation, .misuse), (.engineUnavailable, .misuse), (.resetActionGone, .misuse),
    (.clientReset, Line(code: .clientResetError, isFatal: true, action: .chooseReset)),
    (.attachmentHashMismatch, .fetch),
    (.attachmentNotYetAvailable, .fetch), (.attachmentTransferTimeout, .fetch), (.attachmentUploadExpired, .fetch),
    (.attachmentUnverified, .fetch), (.transfer, .fetch), (.attachmentOwnerMissing, .file),
    (.attachmentPortsMissing, .file), (.attachmentRowGone, .file),
  ]

  @Test func `each code of the catalogue has its line`() {
    #expect(Set(Self.catalogue.map(\.0)) == Set(SyncErrorCode.allCases))
    for (code, line) in Self.catalogue {
      let error = SyncError(code, "m")
      check(error, line, code.rawValue)
      #expect(error.catalogueCode == code && error.description == "\(code.rawValue): m")
    }
  }

  @Test func `raw numbers are stable`() {
    let numbers: [SyncError.Code: Int] = [
      .clientSessionError: 4, .clientUserError: 5, .clientInternalError: 6, .clientResetError: 7,
      .underlyingAuthError: 8, .permissionDeniedError: 9, .invalidSubscription: 10, .writeRejected: 11,
      .connectionFailed: 12, .tlsHandshakeFailed: 13, .serverWarning: 14, .identityChanged: 101,
      .resetCallbackFailed: 102, .storeFailed: 103, .limitExceeded: 104, .invalidUse: 105, .transferFailed: 106,
    ]
    #expect(numbers.count == SyncError.Code.allCases.count)
    for code in SyncError.Code.allCases { #expect(code.rawValue == numbers[code]) }
  }

  @Test func `what has no code of the catalogue says its own`() {
    #expect(SyncError.anotherUser.description.hasPrefix("identityChanged: "))
    check(.anotherUser, Line(code: .identityChanged, isFatal: true, action: .signIn), "identity")
    check(.rejected([]), Line(code: .writeRejected, action: .tellUser), "rejection")
  }

  private static let resets: [(ClientResetInfo.Reason, SyncError.Action)] = [
    (.manual, .chooseReset), (.schemaGate, .updateApplication), (.recoveryForbidden, .chooseReset),
    (.freshCopyRefused, .fixConfiguration), (.freshCopyMalformed, .report), (.freshCopyUnfit, .updateApplication),
    (.beforeCallbackFailed, .report), (.recoveryImpossible, .report), (.loopDetected, .chooseReset),
    (.demandedAgain, .retried), (.postponed, .retried),
  ]

  @Test func `each end of a client reset has its line`() {
    #expect(Self.resets.count == ClientResetInfo.Reason.allCases.count)
    for (reason, action) in Self.resets {
      let isTransient = action == .retried
      check(
        SyncError(.reset(reason), .clientReset, "m"),
        Line(code: .clientResetError, isFatal: !isTransient, isTransient: isTransient, action: action), reason.rawValue)
    }
    check(SyncError(.resetCallback, nil, "m"), Line(code: .resetCallbackFailed, action: .report), "callback")
  }

  // MARK: The transport

  private static let refusals: [(code: String?, status: Int?, SyncErrorCode, Line)] = [
    // Codes, whatever the status.
    ("22001", 400, .permanentTransport, .broken), ("23505", 409, .permanentTransport, .broken),
    ("42703", 401, .permanentTransport, .broken), ("P0001", 400, .permanentTransport, .broken),
    ("0A000", nil, .permanentTransport, .broken), ("KZP01", 500, .permanentTransport, .broken),
    ("KZP02", 400, .permanentTransport, .limit), ("KZL01", 400, .permanentTransport, .subscription),
    ("22023", 400, .permanentTransport, .subscription), ("KZL02", 400, .remote, .subscription),
    ("PGRST301", 401, .remote, .silent), ("AUTH_SESSION_TIMEOUT", nil, .remote, .silent),
    ("AUTH_SESSION_MISSING", nil, .remote, .silent), ("42501", 401, .remote, .permission),
    ("PGRST106", 406, .remote, .passing), ("KZP03", 400, .remote, .silent),
    // Statuses, where no code says more.
    (nil, 301, .remote, .broken), (nil, 308, .remote, .broken), (nil, 401, .remote, .silent),
    ("ODD", 401, .remote, .silent), (nil, 403, .remote, .permission), (nil, 404, .remote, .passing),
    (nil, 405, .remote, .passing), (nil, 406, .remote, .passing), (nil, 410, .remote, .passing),
    (nil, 418, .remote, .passing), (nil, 408, .remote, .connection), (nil, 504, .remote, .connection),
    (nil, 413, .permanentTransport, .limit), ("ODD", 413, .permanentTransport, .limit), (nil, 429, .remote, .silent),
    (nil, 503, .remote, .silent), (nil, 500, .remote, .passing), (nil, 502, .remote, .passing),
    (nil, nil, .remote, .passing),
  ]

  @Test func `each refusal has its line`() {
    for (code, status, catalogue, line) in Self.refusals {
      let failure = RemoteFailure.refused(code.map { TransportCode(rawValue: $0) }, status: status)
      let error = SyncError(failure, during: .pull)
      check(error, line, "\(code ?? "none"), \(status ?? 0)")
      #expect(error.catalogueCode == catalogue, "\(code ?? "none"), \(status ?? 0)")
    }
  }

  @Test func `what a pull asks for wrongly is its tables' fault, what a push does is the protocol's`() {
    for code in [TransportCode.unscopedPull, .invalidParameter] {
      check(SyncError(.refused(code), during: .push(isWhole: true)), .broken, code.rawValue)
    }
    check(SyncError(.refused(.batchTooLarge), during: .push(isWhole: false)), .broken, "may be split")
    check(SyncError(.refused(.batchTooLarge), during: .push(isWhole: true)), .limit, "cannot be split")
  }

  @Test func `a gateway that waited in vain is a deadline`() {
    for status in [408, 504] {
      let error = SyncError(.refused(nil, status: status), during: .pull)
      #expect((error.delivered as? POSIXError)?.code == .ETIMEDOUT)
      #expect(error.catalogueCode == .remote)
    }
  }

  @Test func `a server that asks for patience is heard`() {
    let failure = RemoteFailure(
      .refused(ErrorAnswer(code: nil, message: "busy"), status: 503), notes: AnswerNotes(retryAfter: 7))
    #expect(SyncError(failure, during: .pull).retryAfter == .seconds(7))
  }

  @Test func `an answer that does not decode breaks the protocol, a stored body is our own fault`() {
    let defect = MessageDefect(path: "rows", reason: "no list")
    let error = SyncError(RemoteFailure(.undecodable(defect)), during: .pull)
    check(error, .broken, "wire")
    #expect(error.catalogueCode == .json)
    check(SyncError(defect, in: "a staged page"), .internalFault, "store")
    check(.received("a row"), .broken, "a part of an answer")
  }

  // MARK: Errors beneath

  private static let urlErrors: [(URLError.Code, Line)] = [
    (.timedOut, .connection), (.cannotFindHost, .connection), (.dnsLookupFailed, .connection),
    (.cannotConnectToHost, .connection), (.networkConnectionLost, .connection), (.notConnectedToInternet, .connection),
    (.internationalRoamingOff, .connection), (.dataNotAllowed, .connection), (.callIsActive, .connection),
    (.cannotLoadFromNetwork, .connection), (.secureConnectionFailed, .tls), (.serverCertificateHasBadDate, .tls),
    (.serverCertificateUntrusted, .tls), (.serverCertificateHasUnknownRoot, .tls),
    (.serverCertificateNotYetValid, .tls), (.clientCertificateRejected, .tls), (.clientCertificateRequired, .tls),
    (.appTransportSecurityRequiresSecureConnection, .tls), (.userAuthenticationRequired, .silent),
    (.userCancelledAuthentication, .silent), (.badServerResponse, .passing), (.cannotParseResponse, .passing),
    (.cannotDecodeRawData, .passing), (.cannotDecodeContentData, .passing), (.zeroByteResource, .passing),
    (.httpTooManyRedirects, .passing), (.redirectToNonExistentLocation, .passing), (.resourceUnavailable, .passing),
    (.dataLengthExceedsMaximum, .limit), (.badURL, .misuse), (.unsupportedURL, .misuse), (.cancelled, .silent),
    (.unknown, .passing), (.backgroundSessionWasDisconnected, .passing),
  ]

  @Test func `each URLError has its line, beneath a call and by itself`() {
    for (code, line) in Self.urlErrors {
      let failure = RemoteFailure(.unreachable(reason: "r", underlying: URLError(code)))
      let error = SyncError(failure, during: .pull)
      check(error, line, "\(code.rawValue)")
      #expect(error.catalogueCode == .remote)
      check(SyncError(classifying: URLError(code)), line, "\(code.rawValue)")
    }
    let late = SyncError(RemoteFailure(.unreachable(reason: "r", underlying: URLError(.timedOut))), during: .pull)
    #expect((late.delivered as? POSIXError)?.code == .ETIMEDOUT)
    let lost = SyncError(
      RemoteFailure(.unreachable(reason: "r", underlying: URLError(.networkConnectionLost))), during: .pull)
    #expect(lost.delivered is SyncError)
  }

  private static let sockets: [POSIXError.Code] = [
    .ECONNREFUSED, .ECONNRESET, .ECONNABORTED, .EHOSTUNREACH, .EHOSTDOWN, .ENETUNREACH, .ENETDOWN, .EPIPE, .ENOTCONN,
    .EADDRNOTAVAIL,
  ]

  @Test func `each error of a socket has its line`() {
    for code in Self.sockets + [.ETIMEDOUT] {
      let error = SyncError(
        RemoteFailure(.unreachable(reason: "r", underlying: POSIXError(code))), during: .push(isWhole: true))
      check(error, .connection, "\(code)")
      #expect((error.delivered is POSIXError) == (code == .ETIMEDOUT), "\(code)")
    }
    check(SyncError(ScriptedRemote.offline, during: .pull), .connection, "nothing beneath")
    struct Odd: Error {}
    check(SyncError(RemoteFailure(.unreachable(reason: "r", underlying: Odd())), during: .pull), .passing, "odd")
  }

  @Test func `each error of the disk has its line`() {
    for code: POSIXError.Code in [.ENOSPC, .EDQUOT] {
      check(SyncError(.store, "m", originalError: POSIXError(code)), .full, "\(code)")
    }
    for code: POSIXError.Code in [.EIO, .EROFS, .EACCES, .ENOENT, .EMFILE, .EPIPE] {
      check(SyncError(.store, "m", originalError: POSIXError(code)), .store, "\(code)")
      check(SyncError(.storeUnavailable, "m", originalError: POSIXError(code)), .store, "\(code)")
    }
  }

  @Test func `every error there is has a class`() {
    struct Odd: Error {}
    check(SyncError(classifying: Odd()), .internalFault, "odd")
    check(SyncError(classifying: POSIXError(.ETIMEDOUT)), .connection, "deadline")
    check(SyncError(classifying: POSIXError(.ECONNRESET)), .connection, "socket")
    check(SyncError(classifying: POSIXError(.ENOSPC)), .full, "disk")
    check(SyncError(classifying: POSIXError(.EIO)), .store, "disk")
    check(SyncError(classifying: CancellationError()), .silent, "cancelled")
    check(SyncError(classifying: TransferFailure(.deadline)), .fetch, "transfer")
    check(SyncError(classifying: StoreError.closed), .misuse, "closed")
    check(SyncError(classifying: ScriptedRemote.offline), .connection, "remote")
    check(SyncError(classifying: WriteError<any Error>.body(SyncError(.bucketUnset, "m"))), .subscription, "inner")
    let known = SyncError(.json, "m")
    #expect(SyncError(classifying: known).description == known.description)
  }
}
