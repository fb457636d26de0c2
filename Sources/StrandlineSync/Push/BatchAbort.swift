internal import StrandlineProtocol

/// Undoes an atomic batch that the server refused.
enum BatchAbort {
  static func undo(
    _ slice: Slice, offender: OutboxEntry, reason: String, serverRow: [String: Value]?, now: Int64,
    _ state: inout SyncState
  ) throws {
    var references = FormerReferences()
    for entry in slice.entries.reversed() {
      references.note(introducedBy: entry, fromServer: true, state.tables)
      try references.note(rowAt: entry.name, fromServer: false, &state)
      try state.revert(entry, to: entry.seq == offender.seq ? serverRow : entry.preImage)
    }
    for entry in slice.entries {
      if entry.seq == offender.seq {
        try state.journal(offender, .batchAborted, reason: reason, serverRow: serverRow, at: now)
      } else {
        state.tell(undone: entry, .batchAborted, reason: reason)
      }
    }
    try Confirmations.note(slice.entries, &state)
    try state.dequeue(slice.entries)
    try PendingOverlay.replay(onto: ResetRows(slice.entries.map(\.name)), &state)
    try references.settle(now: now, &state)
    state.events.append(.batchAborted(offenderMutationID: offender.mutationID, reason: reason))
    state.raiseLocalChanged()
  }
}

extension SyncState {
  /// Makes a row what it was, or what the server has; nil: there was none.
  mutating func revert(_ entry: OutboxEntry, to columns: [String: Value]?) throws {
    if let columns {
      try install(columns, at: entry.name)
      try clearTombstone(entry.name)
    } else {
      try shadow(entry.name)
    }
  }
}
