internal import StrandlineProtocol

/// Makes the verdicts on a slice true here.
enum VerdictReconciler {
  /// - Parameter now: milliseconds since 1970, for the journal.
  static func reconcile(_ verdicts: [CheckedVerdict], now: Int64, _ state: inout SyncState) throws {
    var reset: ResetRows = []
    var events: [SyncEvent] = []
    var applied: [String] = []
    for verdict in verdicts {
      let name = verdict.entry.name
      switch verdict.decision {
      case .applied(let serverRow):
        applied.append(verdict.entry.mutationID)
        if let serverRow {
          try state.install(serverRow, at: name)
          reset.insert(name)
        } else if verdict.entry.isPerhapsInBase {
          // In the base, or newer and then in the next pull. Left above the base it would hide for good what others wrote after it.
          if reset.insert(name).inserted { try state.showBase(of: verdict.entry) }
        } else if reset.contains(name) {
          try PendingOverlay.lay(verdict.entry, over: try state.row(name), &state)
        }
      case .rejected(let reason, let serverRow):
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
    try state.dequeue(entries)
    try PendingOverlay.replay(onto: reset, &state)
    state.events += events
    state.raiseLocalChanged()
  }
}

extension SyncState {
  /// Makes the row what it was in front of the write.
  fileprivate mutating func showBase(of entry: OutboxEntry) throws {
    guard let base = entry.preImage else { return try remove(entry.name) }
    try install(base, at: entry.name)
    if entry.operation == .delete { try clearTombstone(entry.name) }
  }
}
