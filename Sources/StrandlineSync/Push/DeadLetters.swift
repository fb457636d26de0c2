internal import StrandlineProtocol

/// Gives up writes that the server refuses for good: undoes them and keeps them for people.
enum DeadLetters {
  static func drop(_ slice: Slice, reason: String, now: Int64, _ state: inout SyncState) throws {
    var references = FormerReferences()
    for entry in slice.entries.reversed() {
      references.note(introducedBy: entry, fromServer: false, state.tables)
      try references.note(rowAt: entry.name, fromServer: false, &state)
      try state.revert(entry, to: entry.preImage)
    }
    for entry in slice.entries {
      try state.keepDeadLetter(entry, reason: reason, at: now)
      try state.journal(entry, .deadLetter, reason: reason, serverRow: nil, at: now)
    }
    try Confirmations.note(slice.entries, &state)
    try state.dequeue(slice.entries)
    try PendingOverlay.replay(onto: ResetRows(slice.entries.map(\.name)), &state)
    try references.settle(now: now, &state)
    state.events += slice.entries.map { .deadLetter(mutationID: $0.mutationID, reason: reason) }
    state.raiseLocalChanged()
  }
}
