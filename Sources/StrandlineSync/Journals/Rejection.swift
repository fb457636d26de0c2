public import StrandlineProtocol

/// A local write that did not stand, and was undone.
public struct Rejection: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case rejected = "REJECTED"
    /// A newer write of another device stands.
    case superseded = "SUPERSEDED"
    /// It was the reason why an atomic batch was refused.
    case batchAborted = "BATCH_ABORTED"
    /// It was given up.
    case deadLetter = "DEAD_LETTER"
  }

  public var mutationID: String
  public var table: String
  /// The key's text.
  public var pk: String
  public var kind: Kind
  public var reason: String
  /// Columns that the write set, sorted; none of a delete.
  public var changedColumns: [String]
  /// The row as the server had it; nil where it had none or did not say.
  public var serverRow: [String: Value]?
  /// Milliseconds since 1970.
  public var at: Int64
  public var isDismissed: Bool

  /// ``serverRow`` as JSON; empty where there is none.
  public var serverRowJSON: String { serverRow.map { Value.object($0).wireJSON } ?? "" }
}

/// A conflict that a pull brought to light: a value that lost against a later write.
public struct Overwrite: Hashable, Sendable {
  /// For ``SyncClient/dismissOverwrite(_:)``.
  public var id: Int64
  public var table: String
  /// The key's text.
  public var pk: String
  public var column: String
  public var loserValue: Value
  public var winnerMutationID: String
  /// ``ConflictMode`` as the server names it.
  public var conflictMode: String
  public var winnerSeq: String?
  /// Milliseconds since 1970.
  public var at: Int64
  public var isDismissed: Bool

  /// ``loserValue`` as JSON.
  public var loserValueJSON: String { loserValue.wireJSON }
}

/// A local write that was given up since the server refuses it for good.
public struct DeadLetter: Hashable, Sendable {
  public var mutationID: String
  public var table: String
  /// The key's text.
  public var pk: String
  public var operation: MutationOperation
  public var columns: [String: Value]
  public var precondition: [String: Value]?
  public var transforms: [String: Value]?
  /// Letters of one atomic batch have the same; nil outside of batches.
  public var batchID: String?
  public var hlc: String?
  public var reason: String
  /// When the write was made, in milliseconds since 1970.
  public var createdAt: Int64
}

extension Value {
  /// As JSON, decimals as numbers, as the value travels.
  var wireJSON: String {
    var text: [UInt8] = []
    appendJSON(to: &text, decimals: .number)
    return String(decoding: text, as: UTF8.self)
  }
}
