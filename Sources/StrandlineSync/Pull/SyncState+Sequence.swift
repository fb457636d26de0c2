internal import StrandlineProtocol

extension SyncState {
  /// Arms a restart: the next pull begins at the start, and its closing page replaces the snapshot.
  mutating func armRestart() throws {
    try Staging.clear(&self)
    try setMeta(.isRehydrating, true)
    try setMeta(.pageCursor, "0")
  }

  /// Takes back what an unfinished pull has staged; a restart that is armed stays armed.
  ///
  /// - Returns: whether there was anything.
  mutating func dropStaging() throws {
    let isRehydrating = try isRehydrating()
    let position = try metaText(.pageCursor)
    try Staging.clear(&self)
    let start: String? = isRehydrating ? "0" : nil
    if position != start { try setMeta(.pageCursor, start.map { .string($0) }) }
  }

  /// Ends syncing until something is done about it.
  mutating func latch(_ reason: SoftBlockReason) throws {
    try setMeta(.softBlockReason, .string(reason.rawValue))
    events.append(.resetRequired(reason))
    if reason == .identityChanged { tell(.anotherUser) }
  }
}
