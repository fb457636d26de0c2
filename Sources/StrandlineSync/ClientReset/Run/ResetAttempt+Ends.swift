@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

// What an attempt leaves when it ends without a switch.

extension ResetAttempt {
  func refuse(_ found: ResetRecord?, _ afterCrashes: Bool) async throws {
    let base = found ?? record(nil, .recover, ResetGuard.Counts())
    let message = afterCrashes ? ResetGuard.crashedTwice : ResetGuard.didNotHelp
    let kept = base.action
    try await fail(
      .init(
        reason: .loopDetected, message: base.failure.map { "\(message): \($0.message)" } ?? message,
        counted: base.failure?.isCounted == true ? base.failure?.running : base.running,
        hasAction: true, isAutomatic: kept?.isAutomatic ?? afterCrashes), base, keepsRecord: base.phase == .switched)
  }

  func end(_ end: AttemptEnd, _ start: ResetRecord) async throws -> SyncClient.DemandStep {
    let record = try client.read { try $0.resetRecord() } ?? start
    switch end {
    case .cancelled(let dropsStaging):
      try? await putBack(record, dropsStaging: dropsStaging)
      if dropsStaging { return .blocked }
      throw CancellationError()
    case .postponed(let error):
      try? await putBack(record, dropsStaging: false)
      throw error
    case .storage(let error, let dropsStaging):
      try? await putBack(record, dropsStaging: dropsStaging)
      throw error
    case .gated(let gate):
      try? await client.store.removeInner("stage-\(record.stagingID)")
      try await client.commit(.resetDemanded) { state in
        try state.set(nil as ResetRecord?)
        try state.set(gate)
        state.events.append(.resetRequired(.resetRequired))
      }
      client.report(client.gateError(gate))
      return .blocked
    case .failed(let failure):
      try await fail(failure, record.attemptID == start.attemptID ? record : start, keepsRecord: false)
      return .blocked
    }
  }

  /// RC: the attempt is as if it had paused. What a switch in front of it left stays known.
  func putBack(_ record: ResetRecord, dropsStaging: Bool) async throws {
    if dropsStaging { try? await client.store.removeInner("stage-\(record.stagingID)") }
    guard record.phase != .switched, client.store.poison == nil else { return }
    var back = record
    back.isRunning = false
    // Another try is a try of the same attempt, and not of one that crashed.
    let settled: ResetRecord? = back
    let task = Task { try await client.commit(.resetPhase) { state in try state.set(settled) } }
    try await task.value
  }

  /// RF.
  func fail(_ failure: AttemptEnd.Failure, _ base: ResetRecord, keepsRecord: Bool) async throws {
    var record = base
    if failure.dropsStaging { try? await client.store.removeInner("stage-\(record.stagingID)") }
    let demand = try client.read { try $0.resetDemand() } ?? demand
    let hasAction = failure.hasAction && demand.isAccepted
    if !keepsRecord {
      record.phase = .failed
      record.isRunning = false
      record.failure = ResetRecord.Failure(
        reason: failure.reason, running: failure.counted ?? record.running, isCounted: failure.counted != nil,
        message: failure.message)
    }
    record.demand = demand
    record.action = hasAction ? client.makeAction(isAutomatic: failure.isAutomatic) : nil
    let settled = record
    try await client.commit(.resetPhase) { state in
      try state.set(settled)
      state.events.append(.resetRequired(.resetRequired))
    }
    client.withMemory { $0.hasResetFailed = true }
    var tried = record.fallbacks.map(\.mode)
    tried.append(record.running.name)
    throw client.resetError(
      failure.reason, failure.message, failure.underlying, demand, mode.name, tried: tried, record.action)
  }
}
