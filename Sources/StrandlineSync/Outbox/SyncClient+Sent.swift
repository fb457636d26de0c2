internal import StrandlineProtocol

// Which queued writes the server may have decided already though no answer came. A row that is pulled may then hold such a write, and what
// others wrote after it; the verdict that comes with the next push does not tell.
//
// Kept in memory, and in the store when the client is closed. A process that died may have sent all that is queued.

extension SyncClient {
  func noteSent(_ slice: Slice) {
    guard let last = slice.entries.last else { return }
    withMemory { $0.sentThrough = max($0.sentThrough, last.seq) }
  }

  func recallSent() throws {
    let report = store.openReport.log
    let sent = try read { view in
      if report.wasClosedCleanly { return try view.metaNumber(.sentThrough) ?? 0 }
      return try OutboxEnds.read(try view.meta(.outboxEnds)).next - 1
    }
    withMemory { $0.sentThrough = sent }
  }

  /// Best effort, as everything at a close: a poisoned store is not closed cleanly, and one that is full forgets it.
  func keepSent() async {
    let sent = withMemory { $0.sentThrough }
    do {
      let isUnanswered = try read { view in
        guard let head = try view.query(StateTable.outbox).limit(1).first() else { return false }
        return try OutboxEntry(head).seq <= sent && view.metaNumber(.sentThrough) ?? 0 != sent
      }
      if isUnanswered { try await commit(.transaction) { state in try state.setMeta(.sentThrough, .int(sent)) } }
    } catch {}
  }
}
