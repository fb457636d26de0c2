extension StoreError {
  /// A name that stays the same over releases, from the catalogue that sync clients share.
  public var code: String {
    switch self {
    case .unknownTable: "UNKNOWN_TABLE"
    case .invalidQuery, .unknownColumn, .readOnly, .limitExceeded: "LOCAL_UNSUPPORTED"
    case .cardinality, .typeMismatch, .invalidKey, .keyExists, .rowMissing, .conflict: "LOCAL_CONSTRAINT"
    case .coding, .undecodable: "JSON"
    case .locked: "STORE_BUSY"
    case .noStore, .unsupportedFormat, .wrongProcess, .closed: "STORE_UNAVAILABLE"
    case .invalidOption, .schemaMismatch, .migrationFailed, .invalidSchema: "CONFIG_INVALID"
    case .corrupt, .outOfSpace, .poisoned, .ioFailed, .historyTrimmed, .historyForked, .generationGone, .targetExists,
      .copyUnconfirmed:
      "STORE"
    }
  }
}
