@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

extension SyncClient {
  /// The client's syncing: its state, its progress, and what waits for it.
  public var session: SyncSession { SyncSession(self) }

  // MARK: State

  func sessionState() -> SyncSession.State {
    // A block that does not decode fails every run, and says so there.
    let block = try? read { try $0.softBlock() }
    let isPoisoned = store.poison != nil
    return withMemory { $0.session.state(isClosed: $0.isClosed, isPoisoned: isPoisoned, block: block ?? nil) }
  }

  /// To be called behind everything that may have changed the state. With no lock held.
  func sessionChanged() { stateBoard.post { sessionState() } }

  func setPaused(_ isPaused: Bool) {
    let attempt = withMemory { memory in
      memory.session.isPaused = isPaused
      return isPaused ? memory.attempt : nil
    }
    // A client reset that has not come to its marker makes way.
    attempt?()
    sessionChanged()
  }

  /// Where a client reset has come to; nil: it has ended.
  func setPhase(_ phase: ClientResetPhase?) {
    withMemory { $0.session.phase = phase }
    sessionChanged()
  }

  // MARK: Runs

  /// - Throws: ``SyncErrorCode/engineUnavailable`` once closing was asked for.
  func ensureNotClosing() throws(SyncError) {
    try ensureOpen()
    if withMemory({ $0.session.isClosing }) { throw Self.closed }
  }

  /// Nothing may be asked of a server that cannot be kept.
  ///
  /// - Throws: ``SyncErrorCode/engineUnavailable``, or what is wrong with the store to the first run that finds it so.
  func ensureRunnable() throws(SyncError) {
    try ensureNotClosing()
    guard let poison = store.poison else { return }
    throw withMemory { $0.session.isPoisonTold } ? Self.closed : SyncError(poison)
  }

  static var closed: SyncError { SyncError(.engineUnavailable, "the client is closed; open another") }

  /// In front of a request.
  ///
  /// - Returns: whether requests are made now: the session is not paused.
  /// - Throws: ``SyncErrorCode/remote`` with ``TransportCode/sessionMissing`` while the token is known not to do.
  func mayRequest() throws(SyncError) -> Bool {
    let (isPaused, isGivenUp) = withMemory { ($0.session.isPaused, $0.session.access.isGivenUp) }
    if isPaused { return false }
    if isGivenUp {
      throw .signedOut("the server does not take the access token any more; sign in and set another")
    }
    return true
  }

  /// A request was answered.
  func answered(_ count: (inout SyncProgress) -> Void) {
    withMemory { memory in
      memory.session.access.answered()
      count(&memory.session.progress)
    }
    progressBoard.post { withMemory { $0.session.progress } }
  }

  /// What a run that ended with this error throws: a refused token may mean that the user has to sign in, and a refusing disk that the store
  /// has to be opened anew.
  func judge(_ error: SyncError) -> SyncError {
    if error.audience == .session {
      return withMemory { $0.session.access.refused() } ? error.classed(.signedOut) : error
    }
    guard error.code == .storeFailed, store.poison != nil else { return error }
    withMemory { $0.session.isPoisonTold = true }
    return error.classed(.poisoned)
  }

  /// Whether the server has refused the token for good and no other has been set.
  public var isSignInGivenUp: Bool { withMemory { $0.session.access.isGivenUp } }

  /// Whoever renews the token has given up.
  public func renewalGivenUp() {
    guard withMemory({ $0.session.access.renewalGivenUp() }) else { return }
    let error = SyncError(
      .signedOut, .remote, "the server refused the access token, and there is no other; sign in again",
      serverCode: .sessionExpired)
    sessionChanged()
    tell(error)
    failWaits(error)
  }

  /// A run has come to its end, with this error if any.
  func ended(with error: (any Error)?) {
    sessionChanged()
    let behind = withMemory { memory in
      defer { memory.session.errorsBehindRun = [] }
      return memory.session.errorsBehindRun
    }
    for error in behind { tell(error) }
    if let error = error as? SyncError {
      if error.audience == .handler { tell(error) }
      failWaits(error)
    } else if error == nil, let block = try? blockingError() {
      // Nothing comes by itself from now on.
      failWaits(block)
    }
  }

  // MARK: Waiting

  func waitForUpload(endsOnTransient: Bool) async throws {
    try refuseInCallback("waitForUpload")
    let last = try read { try OutboxEnds.read(try $0.meta(.outboxEnds)).next - 1 }
    try await wait(for: .upload(through: last), endsOnTransient)
  }

  func waitForDownload(endsOnTransient: Bool) async throws {
    try refuseInCallback("waitForDownload")
    try ensureOpen()
    try await wait(for: .download(after: withMemory { $0.session.sequence }), endsOnTransient)
  }

  private func wait(for goal: SessionWaits.Goal, _ endsOnTransient: Bool) async throws {
    let number = withMemory { $0.session.waits.draw() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: SessionWaits.Continuation) in
        withMemory { $0.session.waits.add(number, goal, endsOnTransient: endsOnTransient, continuation) }
        endAtOnce(number)
      }
    } onCancel: {
      withMemory { $0.session.waits.take(number) }?.resume(throwing: CancellationError())
    }
  }

  /// Ends a wait that has nothing to wait for. It is among the waits already, so that nothing is missed.
  private func endAtOnce(_ number: Int) {
    settleUploads()
    let error: (any Error)?
    do {
      try ensureOpen()
      error = try read { try $0.softBlock() } == .identityChanged ? SyncError.anotherUser : nil
    } catch let failure {
      error = failure
    }
    if Task.isCancelled {
      withMemory { $0.session.waits.take(number) }?.resume(throwing: CancellationError())
    } else if let error {
      withMemory { $0.session.waits.take(number) }?.resume(throwing: error)
    }
  }

  /// Ends the waits for uploads that the queue has nothing more for.
  func settleUploads() {
    guard withMemory({ $0.session.waits.hasUploads }) else { return }
    let head: Int64?
    do {
      head = try read { view in
        let first = try view.query(StateTable.outbox).select("seq").first()
        return if case .int(let seq)? = first?["seq"] { seq } else { nil }
      }
    } catch {
      return
    }
    for wait in withMemory({ $0.session.waits.uploaded(upTo: head) }) { wait.resume() }
  }

  func sequenceClosed() {
    for wait in withMemory({ $0.session.waits.downloaded($0.session.sequence) }) { wait.resume() }
  }

  func failWaits(_ error: SyncError) {
    for wait in withMemory({ $0.session.waits.failed(isTransient: error.isTransient) }) { wait.resume(throwing: error) }
  }

  /// Whatever the error is: nothing comes by itself any more.
  func endWaits(_ error: SyncError) {
    for wait in withMemory({ $0.session.waits.failed(isTransient: false) }) { wait.resume(throwing: error) }
  }
}
