import Strandline
import StrandlineLog

extension Failure {
  static func code(of error: StoreError) -> ExitCode {
    switch error {
    // Nothing is wrong with it: it is another kind of store than the command is for.
    case .unsupportedFormat(_, .withoutTables): .usage
    case .corrupt, .unsupportedFormat, .undecodable: .corruption
    case .locked: .inUse
    case .limitExceeded, .invalidOption, .targetExists, .schemaMismatch, .migrationFailed, .invalidSchema,
      .unknownTable, .unknownColumn,
      .typeMismatch, .invalidKey, .invalidQuery, .coding:
      .usage
    case .historyTrimmed, .historyForked, .keyExists, .rowMissing, .conflict, .cardinality: .finding
    case .noStore, .readOnly, .outOfSpace, .poisoned, .ioFailed, .copyUnconfirmed, .closed, .wrongProcess,
      .generationGone:
      .ioFailure
    @unknown default: .ioFailure
    }
  }
}

/// A write's error as the error inside it, whatever its closure may throw.
protocol ErrorOfWrite: Error {
  var cause: any Error { get }
}

extension WriteError: ErrorOfWrite {
  var cause: any Error {
    switch self {
    case .store(let error): error
    case .body(let error): error
    }
  }
}
