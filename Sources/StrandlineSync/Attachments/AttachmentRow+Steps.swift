internal import StrandlineProtocol

// The steps of one file, each a decision on its row alone. Who takes them writes the row in one commit.
extension AttachmentRow {
  /// What became of asking for the row.
  enum Claim: Hashable, Sendable {
    /// One attempt is charged; the row is held until it is settled.
    case given
    /// The row is no candidate; nothing changed.
    case refused
    /// Too many attempts have failed: the row is given up.
    case spent
  }

  /// Whether a transfer may take the row.
  var isCandidate: Bool { !isInFlight && !isPermanent && (state == .queued || state == .failed) }

  /// Whether the file is still wanted here.
  var isLive: Bool { state != .orphaned && state != .evicted }

  /// Asks for the row on behalf of one transfer.
  mutating func claim(attemptCountMax: Int) -> Claim {
    guard isCandidate else { return .refused }
    if attempts >= Int64(attemptCountMax) {
      state = .failed
      isPermanent = true
      return .spent
    }
    attempts += 1
    state = direction.stateInFlight
    isInFlight = true
    clearError()
    return .given
  }

  /// Whether the row is still the one that a transfer has claimed.
  func isHeld(by job: AttachmentRow) -> Bool { isInFlight && uploadID == job.uploadID && direction == job.direction }

  /// Gives a claim back as if it had never been made.
  mutating func release() {
    isInFlight = false
    state = .queued
    attempts = max(0, attempts - 1)
    clearError()
  }

  /// Ends a transfer that came to nothing.
  mutating func fail(_ code: SyncErrorCode, _ message: String, permanently: Bool = false) {
    isInFlight = false
    state = .failed
    isPermanent = permanently
    error = message
    errorCode = code.rawValue
  }

  /// Ends a transfer that has to wait for the other side. The attempt stays charged.
  mutating func postpone(_ code: SyncErrorCode, _ message: String) {
    isInFlight = false
    state = .queued
    error = message
    errorCode = code.rawValue
  }

  mutating func finish() {
    isInFlight = false
    state = .synced
    progress = 1
    isPermanent = false
    clearError()
    dropSession()
  }

  /// Forgets the resumable transfer.
  mutating func dropSession() {
    sessionURL = nil
    fingerprint = nil
    chunkOffset = 0
  }

  /// What a process that died had claimed goes back, without another charge. What is wanted no more stays so.
  ///
  /// - Returns: whether there was anything to do.
  mutating func recover() -> Bool {
    guard isInFlight || state == .uploading || state == .downloading else { return false }
    isInFlight = false
    if isLive { state = .queued }
    return true
  }

  /// Begins anew. A transfer that runs goes on, and may still succeed.
  mutating func retry() {
    state = .queued
    attempts = 0
    isPermanent = false
    clearError()
  }

  /// Ends the attempt for whoever looks. Bytes in flight go on; a later run tries again.
  mutating func cancel() {
    state = .failed
    isPermanent = false
  }

  /// The object may be deleted. What the transfers have cost does not count against the deletion.
  mutating func orphan() {
    state = .orphaned
    attempts = 0
    isPermanent = false
  }

  /// The bytes here may be deleted.
  mutating func evict() { state = .evicted }

  /// A file that is synced, and whose bytes are gone, is fetched as if it had never been here.
  mutating func refetch() {
    direction = .download
    localPath = nil
    progress = 0
    retry()
  }

  mutating func clearError() {
    error = nil
    errorCode = nil
  }
}
