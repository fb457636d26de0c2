@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

extension SyncClient {
  // MARK: For applications

  /// Resets the client now, whether the server asks for it or not, and then pushes and pulls as ``sync()`` does.
  ///
  /// What failed or was refused before is forgotten: an application calls it when it has mended the cause, when the server has come to rest
  /// behind a loop, or to go on behind a schema gate.
  ///
  /// - Parameter mode: nil: the configured one.
  /// - Throws: as ``sync()``; ``SyncErrorCode/clientReset`` if the reset failed, with everything as it was.
  public func startClientReset(_ mode: ClientResetMode? = nil) async throws {
    try refuseInCallback("startClientReset")
    try await run {
      withMemory { $0.hasResetFailed = false }
      let demand = ClientResetDemand(
        kind: .application, message: "the application asks for a reset",
        anchor: try read { try $0.metaText(.historyAnchor) },
        serverHistory: nil, schemaVersion: configuration.schemaVersion, isRecoveryForbidden: false, isAccepted: false,
        at: configuration.clock.milliseconds(), launch: Launch.id)
      try await commit(.resetDemanded) { state in
        switch try state.softBlock() {
        case nil: try state.latch(demand)
        case .resetRequired?: if try state.resetDemand() == nil { try state.set(demand) }
        case .identityChanged?: break
        }
        // What has failed does not stand in the way of another try; of a switch that is not acknowledged it is known what it carried.
        if let record = try state.resetRecord(), record.phase == .failed { try state.set(nil as ResetRecord?) }
      }
      try await pushAndPull(ResetRun(mode: mode, isForced: true))
    }
  }

  /// The newest reports of client resets, the oldest first; twenty at most.
  public func resetHistory() async throws -> [ClientResetReport] { try read { try $0.resetReports() } }

  /// What a reset in this mode would do now. Changes nothing, calls nobody back, and makes no copy.
  ///
  /// - Throws: what the reset would fail with; nothing is latched then.
  public func previewReset(_ mode: ClientResetMode) async throws -> ClientResetReport {
    try refuseInCallback("previewReset")
    try ensureOpen()
    do {
      return try await networkGate.pass {
        try ensureOpen()
        return try await ResetPreview(client: self, mode: mode).run()
      }
    } catch {
      throw SyncError.thrown(for: error)
    }
  }

  // MARK: Behind a switch

  /// Goes on with a switch whose last steps have not been taken: after is called, and `didReset` raised. With the network gate held.
  func takeUpSwitch() async throws {
    guard let record = try read({ try $0.resetRecord() }), record.phase == .switched, record.after == .pending else {
      return
    }
    guard var report = try read({ try $0.resetReports() }).last(where: { $0.attemptID == record.attemptID }) else {
      try await commit(.resetPhase) { state in
        guard var record = try state.resetRecord() else { return }
        record.after = .ended
        try state.set(record)
      }
      return
    }
    report.keptCopy.path = try keptCopyPath(record)
    await Task { await self.endSwitch(report, view: nil, self.configuration.clientReset) }.value
  }

  private func keptCopyPath(_ record: ResetRecord) throws -> String? {
    try copies.find(record.copyName, in: record.copyDirectory)?.path
  }

  /// Calls after, raises `didReset` and notes both.
  ///
  /// - Parameter view: the state that was replaced; nil: to be read from its copy, in another process than the one that switched.
  func endSwitch(_ report: ClientResetReport, view: ClientView?, _ mode: ClientResetMode) async {
    var report = report
    defer { setPhase(nil) }
    let isKnown = withMemory { $0.endedSwitch } == report.attemptID
    if !isKnown {
      report.afterCallback = await callAfter(&report, view, mode)
      withMemory { $0.endedSwitch = report.attemptID }
      let told = report
      delivery.end(delivery.draw(), [.didReset(told)])
      if case .threw(let text) = report.afterCallback { self.report(callbackError(report, "threw: \(text)")) }
      if report.afterCallback == .timedOut { self.report(callbackError(report, "did not return within its limit")) }
    }
    // R5. What a full disk refuses now is done with the next run.
    let settled = report
    var dropsCopy = false
    do {
      dropsCopy = try await commit(.resetPhase) { state in
        guard var record = try state.resetRecord(), record.attemptID == settled.attemptID else { return false }
        record.after = .ended
        var kept = settled
        if record.dropsCopy { kept.keptCopy.path = nil }
        try state.replace(kept)
        try state.set(record)
        return record.dropsCopy
      }
    } catch {
      return
    }
    guard let path = report.keptCopy.path, let entry = try? copies.all().first(where: { $0.path == path }) else {
      return
    }
    if dropsCopy {
      try? await copies.remove(entry)
    } else if let text = try? StoredJSON.encode(report) {
      try? await store.writeFile(KeptCopy.reportFileName, Array(text.utf8), in: path)
    }
  }

  private func callbackError(_ report: ClientResetReport, _ what: String) -> SyncError {
    SyncError(
      .resetCallback, nil,
      "the after callback of the client reset \(report.attemptID) \(what). The reset stands; the state before it is in \(report.keptCopy.path ?? "no kept copy")."
    )
  }

  private func callAfter(
    _ report: inout ClientResetReport, _ view: ClientView?, _ mode: ClientResetMode
  ) async -> ClientResetReport.Callback {
    guard let after = mode.after else { return .none }
    var before = view
    if before == nil {
      // This process has not switched: the one that did ended before after had.
      let count = (try? read { try $0.resetRecord()?.afterCrashCount ?? 0 }) ?? 0
      // Each of them has called it before it ended, and could not note that.
      report.afterCallCount = count + 1
      if count >= 1 { return .gaveUp }
      do {
        try await commit(.resetPhase) { state in
          guard var record = try state.resetRecord() else { return }
          record.afterCrashCount = count + 1
          try state.set(record)
        }
        guard let path = report.keptCopy.path else { return .gaveUp }
        before = try await KeptCopy(path: path, report: nil).view(tables, options: configuration.storeOptions)
      } catch {
        return .gaveUp
      }
    }
    guard let before else { return .gaveUp }
    setPhase(.callingAfter)
    report.afterCallCount += 1
    report.afterCallback = .running
    let told = report
    switch await ResetCallback.run(
      for: self, limit: configuration.callbackLimit, isCancellable: false,
      { try await after(before, self, told) })
    {
    case .returned, .cancelled: return .returned
    case .threw(let error): return .threw("\(error)")
    case .timedOut: return .timedOut
    }
  }

  // MARK: Upkeep

  /// Removes staging stores that nothing names any more. What cannot be removed now is removed by the next open.
  func removeStagings() async {
    guard let names = try? store.stagingNames() else { return }
    let record = try? read { try $0.resetRecord() }
    for name in names {
      if let record, record.phase != .switched, name == "stage-\(record.stagingID)" { continue }
      try? await store.removeInner(name)
    }
  }

  /// What opening does about resets.
  func beginResets() async {
    await removeStagings()
    try? await copies.removeUnfinished()
    await performDueAction()
    await removeOldCopies()
  }
}
