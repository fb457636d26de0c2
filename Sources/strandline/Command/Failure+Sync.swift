import StrandlineSync

extension Failure {
  static func code(of error: SyncError) -> ExitCode {
    if let error = error.originalError as? StoreError { return code(of: error) }
    switch error.catalogueCode {
    case .storeBusy: return .inUse
    case .unknownOperation: return .corruption
    // Syncing has stopped, and says why; what passes is as a server that was not reached.
    case .clientReset: return error.isTransient ? .ioFailure : .finding
    // A configuration that the operating system refuses is no mistake on the command line.
    case .configInvalid: return error.originalError == nil ? .usage : .ioFailure
    case .attachmentPortsMissing, .bucketUnset, .localConstraint, .localUnsupported, .softDeleteViolation,
      .unknownTable:
      return .usage
    default: return .ioFailure
    }
  }
}
