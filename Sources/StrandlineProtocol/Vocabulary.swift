// The closed words of the wire. Whoever meets another word says so; none is guessed.

/// What a mutation does to its row.
public enum MutationOperation: String, Hashable, Sendable, CaseIterable {
  case insert
  case update
  case delete
}

/// What the server decided about one mutation.
public enum VerdictKind: String, Hashable, Sendable, CaseIterable {
  case applied
  case rejected
}

/// Why a mutation was rejected.
public enum RejectionReason: String, Hashable, Sendable, CaseIterable {
  /// The row is absent, or the caller may not read or write it. The two cannot be told apart.
  case rowDenied = "RLS_DENIED"
  /// The caller may not write a column that the mutation names, or the table has no such column.
  case columnDenied = "COLUMN_DENIED"
  /// A value breaks a rule of the table.
  case constraint = "CONSTRAINT"
  /// The row was not as the mutation expected.
  case precondition = "PRECONDITION"
  /// The row was deleted.
  case deleteWins = "DELETE_WINS"
  /// Every column that the mutation names has a newer stamp.
  case superseded = "SUPERSEDED"
}

/// What the server says in place of data.
public enum LifecycleSignal: String, Hashable, Sendable, CaseIterable {
  /// The client has to leave its history, or is too old for the server.
  case resetRequired = "RESET_REQUIRED"
  /// The client's cursor is older than the deletions the server still knows: it has to pull the snapshot anew.
  case checkpointExpired = "CHECKPOINT_EXPIRED"
}

/// How writes to one column that do not know of each other are ordered.
public enum ConflictMode: String, Hashable, Sendable, CaseIterable {
  /// The one that reaches the server last wins.
  case arrival
  /// The one with the greater stamp wins, whenever it comes.
  case hlc
}

/// The only outcome that an answer for a whole batch has.
public enum BatchOutcome: String, Hashable, Sendable, CaseIterable {
  case aborted
}
