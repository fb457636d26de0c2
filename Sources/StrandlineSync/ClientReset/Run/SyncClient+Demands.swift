@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

extension SyncClient {
  /// What a demand came to.
  enum DemandStep {
    /// There is none any more: requests may go on.
    case clear
    /// Nothing can be done now.
    case blocked
    /// The client was reset.
    case switched
  }

  /// One call that runs resets.
  struct ResetRun {
    /// The mode that the application asks for; nil: the configured one.
    var mode: ClientResetMode?
    /// The application asks: what failed before is forgotten.
    var isForced = false
    var hasSwitched = false
    /// A demand was met by beginning at the start.
    var hasBegunAnew = false
  }

  // MARK: How demands arise

  /// The demand that an answer makes; nil: none.
  ///
  /// - Parameters:
  ///   - isSignal: the answer asks to leave this history.
  ///   - isPage: it is a page of rows.
  func demand(of notes: AnswerNotes, isSignal: Bool, isPage: Bool) throws -> ClientResetDemand? {
    let found = notes.history.flatMap { HistoryAnchor($0) }
    let anchor = try read { try $0.metaText(.historyAnchor) }
    let kept = anchor.flatMap { HistoryAnchor($0) }
    let isForeign = found.map { found in kept.map { $0.history != found.history } ?? false } ?? false
    let saysHistory = isSignal && notes.resetCause == AnswerNotes.historyCause
    guard isSignal || isForeign else { return nil }
    let isHistory = isForeign || saysHistory
    return ClientResetDemand(
      kind: isHistory ? .history : .gate,
      message: isForeign
        ? ClientResetDemand.otherHistory
        : isHistory
          ? "the server has lost history that this client has seen"
          : "the server asks to reset, or for a newer application",
      anchor: anchor, serverHistory: found?.history, schemaVersion: configuration.schemaVersion,
      isRecoveryForbidden: notes.isRecoveryForbidden, isAccepted: saysHistory || (isForeign && isPage),
      at: configuration.clock.milliseconds(), launch: Launch.id)
  }

  /// Makes a demand durable; syncing stops. Nothing happens where the client is blocked already, or `isCurrent` says no.
  func latch(_ demand: ClientResetDemand, if isCurrent: (inout SyncState) throws -> Bool = { _ in true }) async throws {
    let isLatched = try await commit(.resetDemanded) { state in
      guard try state.softBlock() == nil, try isCurrent(&state) else { return false }
      try state.latch(demand)
      return true
    }
    if isLatched, demand.kind == .gate { report(gateError(demand)) }
  }

  func gateError(_ demand: ClientResetDemand) -> SyncError {
    var error = SyncError(
      .reset(.schemaGate), .clientReset,
      "\(demand.message); this is schema version \(demand.schemaVersion). Nothing was erased. A newer application, with a higher schema version, goes on by itself."
    )
    error.resetInfo = ClientResetInfo(
      reason: .schemaGate, mode: configuration.clientReset.name, modesTried: [], demand: demand, token: nil,
      keptCopyPath: nil, isAutomatic: false)
    return error
  }

  // MARK: What is done about them

  /// Does what the mode says about a latched demand. With the network gate held.
  ///
  /// - Throws: what ends the run.
  func faceDemand(_ run: inout ResetRun) async throws -> DemandStep {
    guard try read({ try $0.softBlock() }) == .resetRequired else { return .clear }
    guard var demand = try read({ try $0.resetDemand() }) else { return .blocked }
    let mode = run.mode ?? configuration.clientReset
    guard run.isForced || demand.isDue(schemaVersion: configuration.schemaVersion) else { return .blocked }
    guard try mayRequest() else { return .blocked }
    if run.hasSwitched { throw demandedAgain(demand, mode.name) }
    if try isNeverWritten() {
      if run.hasBegunAnew { throw demandedAgain(demand, mode.name) }
      run.hasBegunAnew = true
      try await commit(.resetPhase) { state in
        try state.liftDemand()
        // It is the server's present history that the client begins with.
        try state.setMeta(.historyAnchor, nil)
        try state.set(nil as ResetRecord?)
      }
      return .clear
    }
    if !run.isForced, withMemory({ $0.hasResetFailed }) { return .blocked }
    if demand.launch != Launch.id || (mode.name == .manual && !demand.isAccepted) {
      setPhase(.asking)
      defer { setPhase(nil) }
      guard let renewed = try await ask(about: demand) else { return .clear }
      demand = renewed
      guard run.isForced || demand.isDue(schemaVersion: configuration.schemaVersion) else { return .blocked }
    }
    if mode.name == .manual { return try await offerAction(demand, mode) }
    let attempt = ResetAttempt(client: self, mode: mode, demand: demand, isForced: run.isForced)
    let step = try await attempt.run()
    if step == .switched { run.hasSwitched = true }
    return step
  }

  private func demandedAgain(_ demand: ClientResetDemand, _ mode: ClientResetMode.Name) -> SyncError {
    var error = SyncError(
      .reset(.demandedAgain), .clientReset,
      "the server asks for a reset again, right behind one: \(demand.message). The next run decides.")
    error.resetInfo = ClientResetInfo(
      reason: .demandedAgain, mode: mode, modesTried: [], demand: demand, token: nil, keptCopyPath: nil,
      isAutomatic: false)
    return error
  }

  /// Whether nothing has come from a server yet and nothing is to go to one.
  func isNeverWritten() throws -> Bool {
    try read { view in
      guard try view.metaText(.cursor) ?? "0" == "0", try view.outboxDepth() == 0 else { return false }
      for table in tables.all {
        let confirmed = try view.query(table.name).where(HiddenColumn.seq, .notEquals, .string(RowImage.localSeq))
          .first()
        if confirmed != nil { return false }
      }
      return true
    }
  }

  /// Asks the server once, as a pull does, whether it still wants the reset. Nil: it does not.
  private func ask(about demand: ClientResetDemand) async throws -> ClientResetDemand? {
    let buckets = try await sessionGate.pass {
      try await keepIdentity()
      try await settleOwner()
      return try await bucketsForPull()
    }
    let (request, context) = try read { view in
      let cursor = try view.metaText(.cursor) ?? "0"
      return (
        PullRequest(
          clientID: try view.metaText(.clientID), schemaVersion: Int64(configuration.schemaVersion), cursor: cursor,
          limit: configuration.pageLimit.map { Int64($0) }, buckets: buckets),
        RemoteContext(
          accessToken: withMemory { $0.token }, history: cursor == "0" ? nil : try view.metaText(.historyAnchor))
      )
    }
    var found: ClientResetDemand?
    var isTaken = false
    withMemory { $0.session.requested(beginsSequence: false) }
    do throws(RemoteFailure) {
      let answer = try await configuration.remote.pull(request, context)
      answered { _ in }
      let isSignal = answer.body.signal == LifecycleSignal.resetRequired.rawValue
      isTaken = answer.body.signal == nil
      found = try thrownAsFailure {
        try self.demand(of: answer.notes, isSignal: isSignal, isPage: answer.body.signal == nil)
      }
    } catch {
      if Task.isCancelled || error.isCancellation { throw CancellationError() }
      found = try self.demand(of: error.notes, isSignal: false, isPage: false)
      if found == nil { throw SyncError(error, during: .pull) }
    }
    var renewed = found ?? demand
    if found == nil {
      if demand.kind == .history {
        try await commit(.resetPhase) { state in
          try state.liftDemand()
          try state.set(nil as ResetRecord?)
        }
        return nil
      }
      renewed.launch = Launch.id
      if isTaken { renewed.isAccepted = true }
    }
    // Who asked, and a gate that is gone, stay what they were.
    if demand.kind != .history, found?.kind != .history { renewed.kind = demand.kind }
    if found?.kind == .gate, demand.kind == .gate { renewed.schemaVersion = configuration.schemaVersion }
    let settled = renewed
    try await commit(.resetDemanded) { state in
      try state.set(settled)
      if settled.kind == .gate, found?.kind == .gate { state.events.append(.resetRequired(.resetRequired)) }
    }
    if settled.kind == .gate, found?.kind == .gate { report(gateError(settled)) }
    return settled
  }

  /// Errors of this device, inside a call of the remote: they end the run as they are.
  private func thrownAsFailure<Result>(_ body: () throws -> Result) throws(RemoteFailure) -> Result {
    do { return try body() } catch {
      throw RemoteFailure(.unreachable(reason: "the store cannot be read: \(error)", underlying: error))
    }
  }

  /// What an application hears that waits for a blocked client; nil: it is not blocked.
  func blockingError() throws -> SyncError? {
    let (block, demand, record) = try read { (try $0.softBlock(), try $0.resetDemand(), try $0.resetRecord()) }
    switch block {
    case nil: return nil
    case .identityChanged?: return .anotherUser
    case .resetRequired?:
      if let demand, demand.kind == .gate { return gateError(demand) }
      let reason = record?.failure?.reason ?? .manual
      var error = SyncError(
        .reset(reason), .clientReset, record?.failure?.message ?? demand?.message ?? "the client has to be reset")
      if let demand {
        error.resetInfo = ClientResetInfo(
          reason: reason, mode: configuration.clientReset.name, modesTried: [], demand: demand,
          token: record?.action.map { ResetToken($0.token) }, keptCopyPath: nil,
          isAutomatic: record?.action?.isAutomatic ?? false)
      }
      return error
    }
  }
}

extension ClientResetDemand {
  /// Whether the mode may begin without being asked for.
  func isDue(schemaVersion configured: Int) -> Bool { kind != .gate || configured > schemaVersion }
}
