internal import StrandlineProtocol

/// Rows that got a new base in one commit: installed, removed, tombstoned, or dropped with an old snapshot.
typealias ResetRows = Set<RowName>

/// Lays what is still queued over rows that got a new base.
///
/// A row without a new base shows its queued writes already; laying them again would count an increment twice. The pre-image of each entry
/// that is laid becomes the row as it stands in front of it, so that undoing it later brings back the new base and not an old one.
enum PendingOverlay {
  /// - Parameter sentThrough: given where the bases were pulled: what a push has carried up to this seq is perhaps in them.
  static func replay(onto rows: ResetRows, sentThrough: Int64 = 0, _ state: inout SyncState) throws {
    for entries in try state.pending(of: rows) {
      for var entry in entries {
        let present = try state.row(entry.name)
        let isPerhapsInBase = entry.isPerhapsInBase || entry.seq <= sentThrough
        if entry.preImage != present?.columns || entry.isPerhapsInBase != isPerhapsInBase {
          entry.preImage = present?.columns
          entry.isPerhapsInBase = isPerhapsInBase
          try state.update(entry)
        }
        try lay(entry, over: present, &state)
      }
    }
  }

  /// Makes the row what the write makes of it. A row that was deleted is not brought back by an insert or update.
  static func lay(_ entry: OutboxEntry, over present: RowImage?, _ state: inout SyncState) throws {
    switch entry.operation {
    case .insert, .update:
      if try state.hasTombstone(entry.name) { return }
      if entry.isDeferred, present == nil { return }
      var image = present ?? RowImage([:])
      image.columns.merge(entry.columns) { _, new in new }
      if entry.operation == .update {
        try TransformSet(entry.transforms).apply(to: &image.columns, onMisfit: .leave)
      }
      try state.put(image, at: entry.name)
    case .delete:
      try state.remove(entry.name)
      // The server's own word of the deletion stays.
      if try !state.hasTombstone(entry.name) { try state.putTombstone(entry.name) }
    }
  }
}
