@_spi(Engine) public import StrandlineLog

/// What the store answers when it cannot do what was asked. Each case is something a caller can react to; details for people travel
/// as values.
///
/// Unless a case says otherwise nothing was written and the store goes on as before.
@nonexhaustive
public enum StoreError: Error, Hashable, Sendable {
  /// There is no store at the path, and none was to be made.
  case noStore(path: String)
  /// Another opener holds the store. Readers and the dump tool are let through.
  case locked(path: String, by: LockOwner?)
  /// Bytes that a sync had confirmed are damaged, or files that belong together do not. No byte was changed. A read that met it left
  /// everything else readable.
  case corrupt(CorruptionReport)
  /// The file was written by another format version, or uses a feature that this one does not know. No byte was changed.
  case unsupportedFormat(file: String, detail: LogError.FormatDetail)
  /// The store was opened read-only.
  case readOnly
  /// A value is larger than the format or a setting allows.
  case limitExceeded(StoreLimit)
  /// No space. Nothing of this commit was written; later commits may succeed.
  case outOfSpace(IOFailure)
  /// An earlier sync or write failed; what it covered is in doubt. Reads go on; no more writes until the store is reopened.
  case poisoned(first: IOFailure, buffered: Int)
  /// The operating system refused. Nothing was changed by the failing call.
  case ioFailed(IOFailure)
  /// The store was closed.
  case closed
  /// The calling process is a child of the one that opened the store.
  case wrongProcess
  /// The history asked for was released; the oldest that can be read is `first`.
  case historyTrimmed(first: SequenceNumber)
  /// The store does not hold the commit that the position names: it was put back to an older copy, or is another store.
  case historyForked(at: SequenceNumber)
  /// A reset or compaction of another process removed files under this reader. Open again.
  case generationGone
  /// The target of a backup exists already.
  case targetExists(path: String)
  /// A backup or a kept copy stands whole at the path, but the sync of the directory that holds it failed: whether its name survives a power
  /// cut is unknown.
  case copyUnconfirmed(path: String, IOFailure)
  /// An option is outside its range.
  case invalidOption(name: String, reason: String)
  /// What is declared differs from what the store holds in a way that needs a ``Migration`` or a rename.
  case schemaMismatch([SchemaDifference])
  /// A step of a migration threw. The store is as it was.
  case migrationFailed(table: String, column: String, reason: String)
  /// The declared schema contradicts itself.
  case invalidSchema(reason: String)
  case unknownTable(String)
  case unknownColumn(table: String, column: String)
  /// A cell's value does not have its column's type.
  case typeMismatch(table: String, column: String, expected: String, found: String)
  /// The row names no key, part of one, or one that differs from the key given.
  case invalidKey(table: String, reason: String)
  /// An insert met a row with the same key.
  case keyExists(table: String, key: String)
  /// An update or expectation met no row with the key.
  case rowMissing(table: String, key: String)
  /// What a transaction expected to find has changed since.
  case conflict(Conflict)
  /// A filter, order or limit that means nothing.
  case invalidQuery(reason: String)
  /// A query for one row found another number of them.
  case cardinality(expected: String, found: Int)
  /// A row cannot be turned into the type asked for, or a value of the type into a row.
  case coding(type: String, path: String, reason: String)
  /// A stored record is none that this version can read.
  case undecodable(what: String, reason: String)
}

/// A limit of ``StoreLimits`` or ``StoreOptions``, and the value that went over it.
public struct StoreLimit: Hashable, Sendable {
  /// As in messages: `recordByteCount`, `keyByteCount`, `columnCount`, `tableCount`, `commitByteCount`, …
  public var name: String
  public var value: UInt64
  public var maximum: UInt64

  public init(name: String, value: UInt64, maximum: UInt64) {
    self.name = name
    self.value = value
    self.maximum = maximum
  }
}

/// An expectation of a transaction that did not hold.
public enum Conflict: Hashable, Sendable {
  /// The row was last written by another commit than expected; zero is none.
  case row(table: String, key: String, expected: SequenceNumber, found: SequenceNumber)
  /// The stream stands at another version than expected; zero is none.
  case stream(name: String, expected: UInt64, found: UInt64)
}

/// What a write throws: the store's reasons, or what the caller's closure threw.
public enum WriteError<Body: Error>: Error {
  /// Nothing of the transaction is visible, except with ``StoreError/poisoned(first:buffered:)``, where the outcome is unknown.
  case store(StoreError)
  /// The closure threw; nothing was written.
  case body(Body)
}

extension StoreError {
  /// The same condition as the log reports it.
  @_spi(Engine) public init(_ error: LogError) {
    self =
      switch error {
      case .noStore(let path): .noStore(path: path)
      case .locked(let path, let owner): .locked(path: path, by: owner)
      case .corrupt(let report): .corrupt(report)
      case .unsupportedFormat(let file, let detail): .unsupportedFormat(file: file, detail: detail)
      case .readOnly: .readOnly
      case .limitExceeded(let limit):
        .limitExceeded(StoreLimit(name: limit.name.rawValue, value: limit.value, maximum: limit.maximum))
      case .outOfSpace(let failure): .outOfSpace(failure)
      case .poisoned(let first, let buffered): .poisoned(first: first, buffered: buffered)
      case .ioFailed(let failure): .ioFailed(failure)
      case .closed: .closed
      case .wrongProcess: .wrongProcess
      case .historyTrimmed(let first): .historyTrimmed(first: first)
      case .resetSince, .epochEnded, .generationGone: .generationGone
      case .historyForked(let sequence): .historyForked(at: sequence)
      case .targetExists(let path): .targetExists(path: path)
      case .copyUnconfirmed(let path, let failure): .copyUnconfirmed(path: path, failure)
      case .invalidOption(let name, let reason): .invalidOption(name: name, reason: reason)
      case .outOfTurn(let expected, _): .undecodable(what: "commit \(expected)", reason: "one in front of it failed")
      case .replayRefused(let sequence, let reason): .undecodable(what: "commit \(sequence)", reason: reason)
      @unknown default: .undecodable(what: "an error of the log", reason: "\(error)")
      }
  }
}
