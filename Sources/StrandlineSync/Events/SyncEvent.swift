public import StrandlineProtocol

/// Something an application is told of, behind the commit that did it.
@nonexhaustive
public enum SyncEvent: Hashable, Sendable {
  /// Local rows may read differently.
  case localChanged(LocalChanges)
  /// A local write queued a mutation; so many are queued now.
  case queueDepth(Int)
  /// The server rejected a mutation; the row was put right.
  case mutationRejected(mutationID: String, reason: String)
  /// The server refused an atomic batch because of one mutation; all of it was undone.
  case batchAborted(offenderMutationID: String, reason: String)
  /// A mutation was given up; it was undone and is among ``SyncClient/deadLetters()``.
  case deadLetter(mutationID: String, reason: String)
  /// A value that this or another device wrote lost against a later write.
  case columnOverwritten(ColumnOverwrite)
  /// The server no longer knows what was deleted since the cursor: the snapshot is pulled anew.
  case checkpointExpired
  /// Syncing has stopped until something is done about it.
  case resetRequired(SoftBlockReason)
  /// The client was reset. At least once for each reset, told apart by the report's attempt.
  case didReset(ClientResetReport)

  /// The name that logs, scenario files and other hosts use.
  public var name: String {
    switch self {
    case .localChanged: "LOCAL_CHANGED"
    case .queueDepth: "QUEUE_DEPTH"
    case .mutationRejected: "MUTATION_REJECTED"
    case .batchAborted: "BATCH_ABORTED"
    case .deadLetter: "DEAD_LETTER"
    case .columnOverwritten: "COLUMN_OVERWRITTEN"
    case .checkpointExpired: "CHECKPOINT_EXPIRED"
    case .resetRequired: "RESET_REQUIRED"
    case .didReset: "DID_RESET"
    }
  }
}

/// A value of one column that lost against a later write.
public struct ColumnOverwrite: Hashable, Sendable {
  public var table: String
  /// The key's text.
  public var pk: String
  public var column: String
  public var loserValue: Value
  public var winnerMutationID: String
  /// ``ConflictMode`` as the server names it.
  public var conflictMode: String
}
