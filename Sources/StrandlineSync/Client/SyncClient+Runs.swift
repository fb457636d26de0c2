internal import StrandlineProtocol

extension SyncClient {
  /// Pushes what is queued, sends files if that went well, then pulls what is new. Runs that are asked for at once go one after the other.
  ///
  /// A client that is blocked, see ``Checkpoint/softBlockReason``, or paused, ``SyncSession/pause()``, returns without a request; one whose
  /// server has lost its history is reset first, as ``SyncConfiguration/clientReset`` says.
  ///
  /// - Throws: ``SyncError``: what ended the push, if it may pass (nothing was pulled then) or could not be helped (the pull was made all
  ///   the same); otherwise what the store refused of the files' rows, or what ended the pull. What was answered until then stands.
  ///   A transfer that fails is no error: ``getStatus(_:)``.
  public func sync() async throws {
    try refuseInCallback("sync")
    defer { tellWatchers(of: nil) }
    try await run { try await pushAndPull(ResetRun()) }
  }

  /// Pushes and pulls, and resets the client in between where that is due. With the network gate held.
  func pushAndPull(_ start: ResetRun) async throws {
    var run = start
    try await takeUpSwitch()
    while true {
      if case .blocked = try await faceDemand(&run) { return }
      run.isForced = false
      let firstError = try await pushAndSend()
      do {
        if try !isResetDue() { try await pullAll() }
      } catch {
        throw firstError ?? error
      }
      if try isResetDue() { continue }
      if let firstError { throw firstError }
      await removeOldCopies()
      return
    }
  }

  /// The part of a run in front of the pull; answers what could not be helped in it.
  ///
  /// - Throws: what may pass.
  private func pushAndSend() async throws -> SyncError? {
    do {
      try await pushAll()
    } catch let error as SyncError where error.catalogueCode != .remote && error.catalogueCode != .engineUnavailable {
      return error
    }
    do {
      try await driveUploads()
    } catch let error as SyncError where error.catalogueCode != .engineUnavailable {
      return error
    }
    return nil
  }

  /// Whether a demand came that the mode does something about.
  private func isResetDue() throws -> Bool {
    if withMemory({ $0.session.isPaused }) { return false }
    return try read { view in
      guard try view.softBlock() == .resetRequired, let demand = try view.resetDemand() else { return false }
      return demand.isDue(schemaVersion: configuration.schemaVersion)
    }
  }

  /// Pulls one page.
  ///
  /// - Throws: ``SyncError``; see ``sync()``.
  public func pullOnce() async throws {
    try refuseInCallback("pullOnce")
    try await run {
      switch try await pullPage() {
      case .failedBesideNewScope(let error), .tooLarge(let error): throw error
      case .idle, .answered, .fruitless: break
      }
      try await tellOfAction()
    }
  }

  /// Pushes one slice of the queue. Gives up no write, however often the server refuses.
  ///
  /// - Throws: ``SyncError``; see ``sync()``.
  public func pushOnce() async throws {
    try refuseInCallback("pushOnce")
    try await run {
      if case .refused(let slice, let failure) = try await pushSlice() { throw SyncError(failure, pushing: slice) }
      try await tellOfAction()
    }
  }

  /// Runs `body` with the network gate held; what ends it is also told to the error handler, once the gate is given back.
  func run(_ body: () async throws -> Void) async throws {
    try ensureNotClosing()
    do {
      try await networkGate.pass {
        try ensureRunnable()
        withMemory { $0.session.isRunning = true }
        defer { withMemory { $0.session.isRunning = false } }
        try await body()
      }
    } catch {
      var thrown = SyncError.thrown(for: error)
      if let error = thrown as? SyncError { thrown = secretMask.told(judge(error)) }
      ended(with: thrown)
      throw thrown
    }
    ended(with: nil)
  }
}
