internal import FoundationEssentials
internal import Glibc
internal import StrandlineProtocol

extension SyncError {
  /// The condition of the store as the catalogue has it.
  init(_ error: StoreError) {
    let code: SyncErrorCode =
      if case .closed = error { .engineUnavailable } else { SyncErrorCode(rawValue: error.code) ?? .store }
    self.init(code, "\(error)", underlying: Self.posixError(of: error) ?? error)
  }

  init(_ failure: RemoteFailure) {
    var underlying: (any Error)?
    if case .unreachable(_, let beneath) = failure.kind { underlying = beneath }
    self.init(
      failure.errorCode, failure.description, transportCode: failure.code, underlying: underlying,
      retryAfter: failure.notes.retryAfter.map { .seconds($0) })
  }

  /// A stored or received body that does not decode.
  init(_ defect: MessageDefect, in what: String) { self.init(.json, "\(what) does not decode: \(defect)") }

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
    case let error as RemoteFailure: SyncError(error)
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
