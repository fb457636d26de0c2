/// What a session knows besides the store.
struct SessionMemory: Sendable {
  var access = SessionAccess()
  var isPaused = false
  /// Closing was asked for.
  var isClosing = false
  /// A run holds the network gate.
  var isRunning = false
  /// A run has told that the store takes no more writes.
  var isPoisonTold = false
  /// Told once the run that is under way has given the gate back.
  var errorsBehindRun: [SyncError] = []
  /// Of the client reset that is under way.
  var phase: ClientResetPhase?
  var progress = SyncProgress()
  var waits = SessionWaits()
  /// Number of the pull sequence that began last.
  var sequence = 0

  /// A request goes out.
  mutating func requested(beginsSequence: Bool) {
    access.requested()
    if beginsSequence { sequence += 1 }
  }

  /// - Parameters:
  ///   - isClosed: the client is.
  ///   - isPoisoned: the store takes no more writes.
  func state(isClosed: Bool, isPoisoned: Bool, block: SoftBlockReason?) -> SyncSession.State {
    if isClosed || isPoisoned { return .closed }
    if isClosing { return isRunning ? .closing : .closed }
    if isPaused { return .paused }
    if let phase { return .resetting(phase) }
    if let block { return .blocked(block) }
    return access.isSignedIn ? .active : .waitingForToken
  }
}
