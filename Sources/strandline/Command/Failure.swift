import Strandline
import StrandlineLog
import StrandlineSync

/// An error that a command reports in its own words.
struct Failure: Error, Equatable {
  var code: ExitCode
  /// One sentence or two, without the command's name.
  var message: String

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension Failure {
  /// Any error as an exit code and a message; nil message: end quietly.
  static func outcome(of error: any Error) -> (code: ExitCode, message: String?) {
    switch error {
    case let failure as Failure: (failure.code, failure.message)
    case let error as UsageError: (.usage, error.description)
    case let error as LogError: (code(of: error), message(of: error))
    case let error as StoreError: (code(of: error), message(of: error))
    case let error as any ErrorOfWrite: outcome(of: error.cause)
    case OutputError.closedPipe: (.success, nil)
    case let error as OutputError: (.ioFailure, error.description)
    case let error as SyncError: (code(of: error), error.description)
    case is Interrupted, is CancellationError: (.interrupted, nil)
    default: (.ioFailure, String(describing: error))
    }
  }

  static func code(of error: LogError) -> ExitCode {
    switch error {
    case .unsupportedFormat(_, .withoutTables): .usage
    case .corrupt, .unsupportedFormat: .corruption
    case .locked: .inUse
    case .limitExceeded, .invalidOption, .targetExists: .usage
    case .historyTrimmed, .resetSince, .historyForked: .finding
    case .noStore, .readOnly, .outOfSpace, .poisoned, .ioFailed, .copyUnconfirmed, .closed, .wrongProcess,
      .generationGone, .epochEnded,
      .outOfTurn, .replayRefused:
      .ioFailure
    }
  }
}
