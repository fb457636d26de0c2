/// Keys of the table `strandline.meta`. A key that is not there stands for what its line says in brackets.
enum MetaKey: String {
  /// The durable cursor ("0").
  case cursor
  /// The last applied mutation's id (none).
  case lastMutationID = "last_mutation_id"
  case clientID = "client_id"
  /// Incarnation of the store that the client id belongs to, in hex.
  case incarnation
  /// The last stamp (none was made).
  case originHLC = "origin_hlc"
  /// A ``SoftBlockReason`` (the client is not blocked).
  case softBlockReason = "soft_block_reason"
  /// The user that the store belongs to (nobody).
  case ownerSubject = "owner_subject"
  /// Keyset position of an unfinished pull (none).
  case pageCursor = "page_cursor"
  /// The history that the staged pages are of, where the server said so.
  case pageHistory = "page_history"
  /// True while the next closing page replaces the snapshot (false).
  case isRehydrating = "rehydrating"
  /// By table and bucket column, the last value that was not empty.
  case bucketScope = "bucket_scope"
  /// Names of the tables that the last closed pull was of, sorted (not known).
  case pulledTables = "pulled_tables"
  /// Goes up with each replaced scope (0).
  case scopeGeneration = "scope_generation"
  /// The server's place in its history as of the last closed pull, as it came (none).
  case historyAnchor = "history_anchor"
  /// `[seq of the next entry, entries]` ([1, 0]).
  case outboxEnds = "outbox_ends"
  /// As of the last close in order: the highest seq that a push has carried (0).
  case sentThrough = "sent_through"
  /// True while rows are noted to be confirmed (false).
  case hasUnconfirmed = "unconfirmed"
  /// Number of the next remembered pushed id (1).
  case nextPushed = "next_pushed"
  /// Number of the next journal entry or dead letter (1).
  case nextJournal = "next_journal"
  /// Number of the next staged page (1).
  case nextPage = "next_page"
  /// A ``ClientResetDemand`` (the server asks for none).
  case resetDemand = "reset_demand"
  /// A ``ResetRecord`` (none is under way).
  case resetRecord = "reset_record"
  /// Number of the next report of a reset (1).
  case nextReset = "next_reset"
  /// Of a fresh copy: when its first page came, in milliseconds since 1970.
  case freshSince = "fresh_since"
  /// Of a fresh copy: its pages.
  case freshPages = "fresh_pages"
  /// Of the bodies that they came in.
  case freshBytes = "fresh_bytes"
  /// Of a fresh copy: configured tables that the server does not know.
  case freshUnknownTables = "fresh_unknown_tables"
  /// Of a fresh copy: it is complete (false).
  case isFreshComplete = "fresh_complete"
  /// Of a fresh copy: the server forbids recovery (false).
  case isRecoveryForbidden = "recovery_forbidden"
}
