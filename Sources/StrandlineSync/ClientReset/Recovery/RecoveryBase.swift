internal import StrandlineProtocol

/// What the server's snapshot has of a row.
enum SnapshotRow: Hashable, Sendable {
  case live(RowImage)
  /// Covered by a tombstone.
  case buried
  case absent
}

/// What recovery reads besides the queue.
struct RecoveryBase {
  var tables: ClientTables
  /// By table, the bucket value that the snapshot was pulled with.
  var buckets: [String: String]
  var row: (RowName) throws -> SnapshotRow
  /// Whether the store can hold the row.
  var fits: (RowName, RowImage) throws -> Bool
}
