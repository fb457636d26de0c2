internal import StrandlineProtocol

extension SyncClient {
  /// Pushes what is queued, then pulls what is new. Runs that are asked for at once go one after the other.
  ///
  /// A client that is blocked, see ``Checkpoint/softBlockReason``, returns without a request.
  ///
  /// - Throws: ``SyncError``: what ended the push, if it may pass (nothing was pulled then) or could not be helped (the pull was made all
  ///   the same); otherwise what ended the pull. What was answered until then stands.
  public func sync() async throws {
    try refuseInCallback("sync")
    try await run { try await pushAndPull(ResetRun()) }
  }

  /// Pushes and pulls, and resets the client in between where that is due. With the network gate held.
  func pushAndPull(_ start: ResetRun) async throws {
    var run = start
    try await takeUpSwitch()
    while true {
      if case .blocked = try await faceDemand(&run) { return }
      run.isForced = false
      var pushError: (any Error)?
      do {
        try await pushAll()
      } catch let error as SyncError where error.code != .remote && error.code != .engineUnavailable {
        pushError = error
      }
      do {
        if try !isResetDue() { try await pullAll() }
      } catch {
        throw pushError ?? error
      }
      if try isResetDue() { continue }
      if let pushError { throw pushError }
      await removeOldCopies()
      return
    }
  }

  /// Whether a demand came that the mode does something about.
  private func isResetDue() throws -> Bool {
    try read { view in
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
      if case .failedBesideNewScope(let error) = try await pullPage() { throw error }
      try await tellOfAction()
    }
  }

  /// Pushes one slice of the queue. Gives up no write, however often the server refuses.
  ///
  /// - Throws: ``SyncError``; see ``sync()``.
  public func pushOnce() async throws {
    try refuseInCallback("pushOnce")
    try await run {
      if case .refused(_, let failure) = try await pushSlice() { throw SyncError(failure) }
      try await tellOfAction()
    }
  }

  /// Runs `body` with the network gate held; what ends it is also told to the error handler.
  func run(_ body: () async throws -> Void) async throws {
    try ensureOpen()
    do {
      try await networkGate.pass {
        try ensureOpen()
        try await body()
      }
      deliverErrors()
    } catch {
      let error = SyncError.thrown(for: error)
      deliverErrors()
      if let error = error as? SyncError { deliver(error) }
      throw error
    }
  }

  /// Has the handler told behind the run that is under way, with the network gate given back.
  func report(_ error: SyncError) { withMemory { $0.errorsBehindRun.append(error) } }

  func deliverErrors() {
    let errors = withMemory { memory in
      defer { memory.errorsBehindRun = [] }
      return memory.errorsBehindRun
    }
    for error in errors { deliver(error) }
  }

  private func deliver(_ error: SyncError) {
    if error.code == .engineUnavailable { return }
    let isOfReset = error.code == .clientReset && error.resetInfo?.reason != .schemaGate
    let manual = isOfReset ? configuration.clientReset.handler : nil
    guard let handler = manual ?? withMemory({ $0.errorHandler }) else { return }
    delivery.call { handler(error) }
  }

  /// Told of each error that ends a run, and of a server that wants a newer application, where events are delivered and in order with them. First what the configuration names.
  public var errorHandler: (@Sendable (any Error) -> Void)? {
    get { withMemory { $0.errorHandler } }
    set { withMemory { $0.errorHandler = newValue } }
  }
}
