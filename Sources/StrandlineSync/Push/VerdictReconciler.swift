internal import StrandlineProtocol

/// Makes the verdicts on a slice true here.
enum VerdictReconciler {
  /// - Parameter now: milliseconds since 1970, for the journal.
  static func reconcile(_ verdicts: [CheckedVerdict], now: Int64, _ state: inout SyncState) throws {
    var reset: ResetRows = []
    var events: [SyncEvent] = []
    var applied: [String] = []
    // Applied, without a word of the row.
    var silent: [OutboxEntry] = []
    var references = FormerReferences()
    for verdict in verdicts {
      let name = verdict.entry.name
      switch verdict.decision {
      case .applied(let serverRow):
        applied.append(verdict.entry.mutationID)
        references.note(replacedBy: verdict.entry, state.tables)
        if let serverRow {
          try references.note(rowAt: name, fromServer: false, &state)
          try state.install(serverRow, at: name)
          reset.insert(name)
        } else {
          silent.append(verdict.entry)
          if reset.contains(name) { try PendingOverlay.lay(verdict.entry, over: try state.row(name), &state) }
        }
      case .rejected(let reason, let serverRow):
        references.note(introducedBy: verdict.entry, fromServer: true, state.tables)
        try references.note(rowAt: name, fromServer: false, &state)
        if let serverRow {
          try state.install(serverRow, at: name)
          try state.clearTombstone(name)
        } else {
          try state.shadow(name)
        }
        reset.insert(name)
        let kind: Rejection.Kind = reason == .superseded ? .superseded : .rejected
        try state.journal(verdict.entry, kind, reason: reason.rawValue, serverRow: serverRow, at: now)
        events.append(.mutationRejected(mutationID: verdict.entry.mutationID, reason: reason.rawValue))
      }
    }
    if let last = applied.last { try state.setMeta(.lastMutationID, .string(last)) }
    try state.rememberPushed(applied)
    let entries = verdicts.map(\.entry)
    try Confirmations.note(entries, appliedInSilence: silent, &state)
    try state.dequeue(entries)
    try PendingOverlay.replay(onto: reset, &state)
    try references.settle(now: now, &state)
    state.events += events
    state.raiseLocalChanged()
  }
}
