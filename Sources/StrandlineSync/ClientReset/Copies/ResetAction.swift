@_spi(Engine) internal import Strandline
public import StrandlineProtocol

// The manual way: make a kept copy, then reset(). Recorded before anybody is told of it; performed by its token, or by the first open of a
// later process.

extension SyncClient {
  func makeAction(isAutomatic: Bool) -> ResetRecord.Action {
    ResetRecord.Action(
      token: configuration.ids.uuid(),
      copyName: newCopyName(), copyDirectory: copies.directory, launch: Launch.id,
      isAutomatic: isAutomatic, schemaVersion: configuration.schemaVersion)
  }

  /// The error of a reset that did not happen by itself.
  func resetError(
    _ reason: ClientResetInfo.Reason, _ message: String, _ underlying: (any Error)?, _ demand: ClientResetDemand,
    _ mode: ClientResetMode.Name, tried: [ClientResetMode.Name], _ action: ResetRecord.Action?
  ) -> SyncError {
    let path = action.flatMap { action in isInMemory ? nil : copies.path(of: action.copyName, in: action.copyDirectory)
    }
    var text = "\(message)."
    if demand.kind != .application { text += " The server's demand: \(demand.message)." }
    text += " Nothing was erased."
    if let path {
      text +=
        action?.isAutomatic == true
        ? " The next start keeps a copy at \(path) and begins anew by itself: queued writes are in the copy only then."
        : " The reset action would keep a copy at \(path) and begin anew."
    }
    var error = SyncError(.reset(reason), .clientReset, text, originalError: underlying)
    error.resetInfo = ClientResetInfo(
      reason: reason, mode: mode, modesTried: tried, demand: demand, token: action.map { ResetToken($0.token) },
      keptCopyPath: path, isAutomatic: action?.isAutomatic ?? false)
    return error
  }

  /// RA: the manual mode.
  func offerAction(_ demand: ClientResetDemand, _ mode: ClientResetMode) async throws -> DemandStep {
    guard demand.isAccepted else { return .blocked }
    let record = try read { try $0.resetRecord() }
    var action = record?.phase == .action ? record?.action : nil
    if action == nil {
      let fresh = makeAction(isAutomatic: true)
      var made = ResetRecord(
        attemptID: String(fresh.copyName.suffix(16)), configuredMode: .manual, running: .discard, phase: .action,
        demand: demand, digest: "", clientID: "", stagingID: "", startedAt: configuration.clock.milliseconds())
      made.action = fresh
      if let record, record.phase == .switched { made.switchCount = record.switchCount }
      let settled = made
      try await commit(.resetAction) { state in
        try state.set(settled)
        state.events.append(.resetRequired(.resetRequired))
      }
      action = fresh
    }
    guard let action, withMemory({ $0.toldAction }) != action.token else { return .blocked }
    withMemory { $0.toldAction = action.token }
    throw resetError(
      .manual, "the client has to be reset, and its mode is manual", nil, demand, .manual, tried: [], action)
  }

  /// In the manual mode: records and tells what ``sync()`` would throw, behind a call that made the demand.
  func tellOfAction() async throws {
    guard configuration.clientReset.name == .manual, try read({ try $0.softBlock() }) == .resetRequired,
      let demand = try read({ try $0.resetDemand() }), demand.isDue(schemaVersion: configuration.schemaVersion),
      try !isNeverWritten()
    else { return }
    do {
      _ = try await offerAction(demand, configuration.clientReset)
    } catch let error as SyncError where error.catalogueCode == .clientReset {
      report(error)
    }
  }

  // MARK: Performing

  /// What opening this client did about a reset action that an earlier process had recorded: the store was kept as a copy, and the client
  /// begins anew. Nil: there was none, or it could not be performed.
  ///
  /// The event `didReset` of such a reset comes before anybody can listen; ``resetHistory()`` has the report from then on.
  public var resetAtOpen: ClientResetReport? { withMemory { $0.resetAtOpen } }

  /// Keeps a copy of the store and begins anew: the manual way out, with the token of an error's ``ClientResetInfo``.
  ///
  /// - Parameter withoutCopy: where the copy cannot be made, the application's own decision to go without.
  /// - Throws: ``SyncErrorCode/resetActionGone`` with nothing touched; ``SyncErrorCode/store`` with everything as it was.
  public func performResetAction(_ token: ResetToken, withoutCopy: Bool = false) async throws {
    try ensureOpen()
    try refuseInCallback("performResetAction")
    withMemory { $0.attempt }?()
    try await networkGate.pass {
      try await sessionGate.pass {
        try ensureOpen()
        guard let record = try read({ try $0.resetRecord() }), let action = record.action, action.token == token.text
        else { throw Self.actionGone }
        try await perform(action, record, withoutCopy: withoutCopy)
      }
    }
  }

  /// As ``performResetAction(_:withoutCopy:)``, of a store that no client has open.
  ///
  /// - Throws: ``StoreError/locked(path:by:)`` while anybody has it open.
  public static func performResetAction(
    _ token: ResetToken, at path: String, withoutCopy: Bool = false, options: StoreOptions = StoreOptions()
  ) async throws {
    var options = options
    options.log.createsIfMissing = false
    let store: Store
    do {
      store = try await Store.open(at: path, options: options)
    } catch StoreError.noStore(_) {
      // What is gone needs no action.
      return
    }
    do {
      let view = try store.view()
      guard view.tableNames.contains(StateTable.meta), let record = try view.resetRecord(), let action = record.action,
        action.token == token.text
      else { throw actionGone }
      let isCopied = try store.keptCopyNames(in: action.copyDirectory).contains(action.copyName)
      if let directory = action.copyDirectory, !isCopied, !withoutCopy { try await store.makeCopyDirectory(directory) }
      let copyPath = "\(action.copyDirectory ?? store.path)/\(action.copyName)"
      let id = RandomIDs().uuid()
      var report = Self.report(of: record)
      if withoutCopy, !isCopied {
        report.keptCopy.absence = "it was not asked for"
      } else {
        report.keptCopy.path = copyPath
      }
      report.switchedAt = MachineClock().milliseconds()
      try report.countErased(view)
      report.epoch = view.epoch + 1
      report.sequenceAfter = view.sequence.rawValue + 1
      let told = report
      let incarnation = String(store.incarnation, radix: 16)
      _ = try await store.reset(keepCopy: !isCopied && !withoutCopy, copyPath: copyPath) {
        (before) throws(StoreError) in
        try ResetSurvivors.rows(of: before, clientID: id, incarnation: incarnation, and: told)
      }
    } catch {
      try? await store.close()
      throw SyncError.thrown(for: error)
    }
    try await store.close()
  }

  private static var actionGone: SyncError {
    SyncError(.resetActionGone, "the token was used, replaced, or belongs to another store. Nothing was touched.")
  }

  /// With both gates held.
  @discardableResult
  private func perform(
    _ action: ResetRecord.Action, _ record: ResetRecord, withoutCopy: Bool
  ) async throws -> ClientResetReport {
    // A copy of this name was made by a run that did not come to its end.
    let copyPath = copies.path(of: action.copyName, in: action.copyDirectory)
    let isCopied = try copies.find(action.copyName, in: action.copyDirectory) != nil
    let makesCopy = !isCopied && !withoutCopy && !isInMemory
    var report = Self.report(of: record)
    if makesCopy || isCopied {
      report.keptCopy.path = copyPath
    } else {
      report.keptCopy.absence = isInMemory ? "the store is in memory" : "it was not asked for"
    }
    report.switchedAt = configuration.clock.milliseconds()
    if makesCopy {
      do { try await copies.prepare(action.copyDirectory) } catch { throw SyncError.thrown(for: error) }
    }
    _ = try await erase(keepCopy: makesCopy, copyPath: copyPath) { done, before in
      report.epoch = done.epoch
      report.sequenceAfter = done.position.sequence.rawValue
      report.writersBlockedFor = done.nanoseconds
      // What cannot be read of what is gone goes uncounted.
      try? report.countErased(before)
      return [.didReset(report)]
    }
    let told = report
    // The history is for people: a disk that refuses it does not make the reset undone.
    try? await commit(.resetPhase) { state in try state.keep(told) }
    return told
  }

  private static func report(of record: ResetRecord) -> ClientResetReport {
    var report = ClientResetReport(
      attemptID: record.attemptID, demand: record.demand, configuredMode: record.configuredMode,
      effectiveMode: .manual, startedAt: record.startedAt)
    report.fallbacks = record.failures
    return report
  }

  /// An action that a former process recorded and nobody has performed.
  func performDueAction() async {
    guard configuration.performsResetActions, let record = try? read({ try $0.resetRecord() }),
      let action = record.action, action.isAutomatic,
      action.launch != Launch.id, configuration.schemaVersion >= action.schemaVersion
    else { return }
    // What fails now leaves the action for the next open, and its token for the application.
    let report = try? await networkGate.pass {
      try await sessionGate.pass { try await perform(action, record, withoutCopy: false) }
    }
    withMemory { $0.resetAtOpen = report }
  }
}
