internal import Foundation
internal import FoundationNetworking
internal import Glibc
internal import StrandlineProtocol

extension SyncError {
  /// Any error there is, so that one switch over ``code`` suffices: errors of a handler, and what a call has thrown.
  ///
  /// A deadline (`POSIXError(.ETIMEDOUT)`) is a transient ``Code/connectionFailed``; what is nobody's, a ``Code/clientInternalError``.
  public init(classifying error: any Error) {
    switch Self.thrown(for: error) {
    case let error as SyncError: self = error
    case let error as POSIXError:
      self.init(
        ErrorClass(error.code), nil, String(cString: strerror(error.code.rawValue)), originalError: error)
    case let error as URLError:
      self.init(
        ErrorClass(cause: error) ?? .passingRefusal, nil, "the network refused: \(error.code.rawValue)",
        originalError: error)
    case let error as TransferFailure: self.init(.transfer(.transfer), .transfer, "\(error)", originalError: error)
    case is CancellationError: self.init(.patience, nil, "the call was cancelled", originalError: error)
    default: self.init(.internalFault, nil, "\(error)", originalError: error)
    }
  }

  /// The condition of the store as the catalogue has it.
  init(_ error: StoreError) {
    let code: SyncErrorCode =
      if case .closed = error { .engineUnavailable } else { SyncErrorCode(rawValue: error.code) ?? .store }
    self.init(code, "\(error)", originalError: Self.posixError(of: error) ?? error)
    if case .poisoned = error { self = classed(.poisoned) }
  }

  init(_ failure: RemoteFailure, during call: RemoteCall) {
    let kind = ErrorClass(failure, call)
    // A gateway that waited in vain, or a server that did, is a deadline like one of our own.
    var cause = failure.cause
    if case .refused = failure.kind, kind == .connection { cause = ErrorClass.deadlinePassed }
    self.init(
      kind, failure.errorCode, failure.description, serverCode: failure.code, originalError: cause,
      retryAfter: failure.notes.retryAfter.map { .seconds($0) })
  }

  /// A refused push. What is too large is named.
  init(_ failure: RemoteFailure, pushing slice: Slice) {
    self.init(failure, during: .push(isWhole: slice.isOwned))
    guard code == .limitExceeded, let first = slice.entries.first else { return }
    message += "; it is mutation \(first.mutationID) of the row \(first.name.pk) of \(first.name.table)"
  }

  /// A stored body that does not decode.
  init(_ defect: MessageDefect, in what: String) { self.init(.json, "\(what) does not decode: \(defect)") }

  /// A part of an answer that cannot be.
  static func received(_ message: String) -> SyncError { SyncError(.brokenProtocol, .json, message) }

  /// There is no token that a request could be made with.
  static func signedOut(_ message: String) -> SyncError {
    SyncError(.patience, .remote, message, serverCode: .sessionMissing)
  }

  /// What a call of the client throws for an error of what it is built on: a `SyncError`, or a `CancellationError` as it is.
  static func thrown(for error: any Error) -> any Error {
    switch error {
    case is SyncError, is CancellationError: error
    case let error as StoreError: SyncError(error)
    case let error as WriteError<any Error>:
      switch error {
      case .store(let error): SyncError(error)
      case .body(let error): thrown(for: error)
      }
    case let error as RemoteFailure: SyncError(error, during: .push(isWhole: true))
    default: error
    }
  }

  /// The operating system's error beneath, where that is what it was.
  private static func posixError(of error: StoreError) -> POSIXError? {
    switch error {
    case .outOfSpace(let failure), .ioFailed(let failure), .poisoned(let failure, _):
      POSIXErrorCode(rawValue: failure.errno.rawValue).map { POSIXError($0) }
    default: nil
    }
  }
}
