@_spi(Engine) internal import StrandlineLog

extension StoreError: CustomStringConvertible {
  /// What, where, what next. Nobody matches on it; it may change in any release.
  public var description: String {
    switch self {
    case .noStore(let path): LogError.noStore(path: path).description
    case .locked(let path, let owner): LogError.locked(path: path, by: owner).description
    case .corrupt(let report): LogError.corrupt(report).description
    case .unsupportedFormat(let file, let detail): LogError.unsupportedFormat(file: file, detail: detail).description
    case .readOnly: "The store is open read-only. Open it for writing first."
    case .limitExceeded: "\(summary). Nothing was written."
    case .outOfSpace(let failure): LogError.outOfSpace(failure).description
    case .poisoned(let first, let buffered):
      "\(first). Its outcome is unknown, \(buffered) buffered commits are in doubt, and no more is written. "
        + "Close the store and open it again."
    case .ioFailed(let failure): LogError.ioFailed(failure).description
    case .closed: "The store is closed. Open it again."
    case .wrongProcess: "The store belongs to the parent process. Open it again in this one."
    case .historyTrimmed(let first):
      "The history asked for was released; the oldest commit that can be read is \(first). Start from a view of now."
    case .historyForked(let sequence): LogError.historyForked(at: sequence).description
    case .generationGone: LogError.generationGone.description
    case .targetExists(let path): LogError.targetExists(path: path).description
    case .copyUnconfirmed(let path, let failure): LogError.copyUnconfirmed(path: path, failure).description
    case .invalidOption(let name, let reason): "Option \(name): \(reason)."
    case .schemaMismatch(let differences):
      "The declared schema does not fit the stored one: \(differences.map(\.description).joined(separator: "; ")). Nothing was written. "
        + "Declare a rename, or write a migration."
    case .migrationFailed: "\(summary). Nothing was written."
    case .invalidSchema, .invalidQuery, .unknownTable, .unknownColumn, .typeMismatch, .invalidKey, .keyExists,
      .rowMissing,
      .conflict, .cardinality, .coding:
      "\(summary)."
    case .undecodable:
      "\(summary). It was written by another version, or is damaged: `strandline log verify` tells."
    }
  }

  /// What is wrong and where, without what next and without a full stop; to be put into a sentence.
  public var summary: String {
    switch self {
    case .limitExceeded(let limit): "\(limit.name) is \(limit.value), at most \(limit.maximum) is allowed"
    case .invalidSchema(let reason): "the schema contradicts itself: \(reason)"
    case .migrationFailed(let table, let column, let reason):
      "the migration of column \(column) of table \(table) failed: \(reason)"
    case .unknownTable(let name): "there is no table \(name)"
    case .unknownColumn(let table, let column): "table \(table) has no column \(column)"
    case .typeMismatch(let table, let column, let expected, let found):
      "column \(column) of table \(table) holds \(expected), not \(found)"
    case .invalidKey(let table, let reason): "no key of table \(table): \(reason)"
    case .keyExists(let table, let key): "table \(table) has a row with the key \(key) already"
    case .rowMissing(let table, let key): "table \(table) has no row with the key \(key)"
    case .conflict(.row(let table, let key, let expected, let found)):
      "row \(key) of table \(table) was last written by \(Self.commit(found)), not by \(Self.commit(expected))"
    case .conflict(.stream(let name, let expected, let found)):
      "stream \(name) stands at version \(found), not at \(expected)"
    case .invalidQuery(let reason): "the query means nothing: \(reason)"
    case .cardinality(let expected, let found):
      "\(expected) row was asked for, \(found) \(found == 1 ? "is" : "are") there"
    case .coding("JSON", let place, let reason): "no JSON at \(place): \(reason)"
    case .coding("QueryPlan", let place, let reason): "\(place): \(reason)"
    case .coding(let type, let path, let reason):
      "\(type) and a row do not fit" + (path.isEmpty ? "" : " at \(path)") + ": \(reason)"
    case .undecodable(let what, let reason): "\(what) cannot be read: \(reason)"
    default: description
    }
  }

  private static func commit(_ sequence: SequenceNumber) -> String {
    sequence == .zero ? "no commit" : "commit \(sequence)"
  }
}

extension SchemaDifference: CustomStringConvertible {
  public var description: String {
    switch self {
    case .keyChanged(let table, let stored, let declared):
      "the key of table \(table) is \(stored), declared is \(declared)"
    case .columnTypeChanged(let table, let column, let stored, let declared):
      "column \(column) of table \(table) holds \(stored), declared is \(declared)"
    case .columnBecameRequired(let table, let column):
      "rows of table \(table) may lack column \(column), which is declared as required"
    case .renameOfUnknown(let table, let from): "table \(table): there is no \(from) to be renamed"
    }
  }
}

extension WriteError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .store(let error): error.description
    case .body(let error): String(describing: error)
    }
  }
}
