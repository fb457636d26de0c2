internal import StrandlineProtocol

/// What recovery decides about one queued write.
enum RecoveryDecision: Hashable, Sendable {
  /// Stays queued and is shown. `isMerged`: an insert that became an update.
  case keep(isMerged: Bool)
  /// The server is there already: leaves the queue silently. `isWithdrawn`: a later write of this device made it void.
  case settle(isWithdrawn: Bool)
  /// Certain to be refused: leaves the queue into the dead letters.
  case drop(RecoveryDrop)
  /// Only the server can judge it: stays queued and is not shown.
  case `defer`(ClientResetReport.Reason)
  /// The mode drops everything.
  case discard
}

/// Why a write is dropped.
struct RecoveryDrop: Hashable, Sendable {
  var reason: ClientResetReport.Reason
  /// The column that is the cause, where one is.
  var column: String?
  /// The member of an atomic batch that took the others with it; nil for that member and outside of batches.
  var culprit: String?

  init(_ reason: ClientResetReport.Reason, column: String? = nil, culprit: String? = nil) {
    self.reason = reason
    self.column = column
    self.culprit = culprit
  }
}

/// A queued write with what becomes of it.
struct RecoveredEntry: Sendable {
  /// As it is queued from now on: a kept insert over a live row is an update, and pre-images are those of the new state.
  var entry: OutboxEntry
  /// As it was queued.
  let original: OutboxEntry
  var decision: RecoveryDecision
}
