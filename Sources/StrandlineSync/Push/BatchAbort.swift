internal import StrandlineProtocol

/// Undoes an atomic batch that the server refused.
enum BatchAbort {
  static func undo(
    _ slice: Slice, offender: OutboxEntry, reason: String, serverRow: [String: Value]?, now: Int64,
    _ state: inout SyncState
  ) throws {
    for entry in slice.entries.reversed() {
      try state.revert(entry, to: entry.seq == offender.seq ? serverRow : entry.preImage)
    }
    try state.journal(offender, .batchAborted, reason: reason, serverRow: serverRow, at: now)
    try Confirmations.note(slice.entries, &state)
    try state.dequeue(slice.entries)
    try PendingOverlay.replay(onto: ResetRows(slice.entries.map(\.name)), &state)
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
