@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

// The same as an attempt, up to its report, and without a trace.

extension ResetAttempt {
  func preview() async throws -> ClientResetReport {
    var attempt = self
    attempt.isDry = true
    do {
      return try await attempt.previewDry()
    } catch let end as AttemptEnd {
      switch end {
      case .cancelled: throw CancellationError()
      case .postponed(let error), .storage(let error, _): throw error
      case .gated(let gate): throw client.gateError(gate)
      case .failed(let failure):
        throw client.resetError(
          failure.reason, failure.message, failure.underlying, demand, mode.name, tried: [], nil)
      }
    } catch FreshCopy.Defect.spoiled(let message) {
      throw SyncError(.remote, "the fresh copy has to begin again: \(message)")
    }
  }

  func previewDry() async throws -> ClientResetReport {
    let found = try client.read { try $0.resetRecord() }
    var record = record(nil, mode.name == .discard ? .discard : .recover, ResetGuard.Counts())
    let id = record.clientID
    client.withMemory { $0.previewClientID = id }
    try decideRecovery(&record, demand.isRecoveryForbidden)
    record.buckets = try dryScope()
    // What an attempt has downloaded for this demand is as good.
    if let found, found.phase != .switched, found.demand.asksForTheSame(as: demand), found.digest == digest,
      found.buckets == record.buckets, try client.store.stagingNames().contains("stage-\(found.stagingID)")
    {
      let copy = try await storedCopy(found.stagingID)
      if try copy.progress().isComplete {
        do {
          let report = try await report(of: copy, &record)
          await copy.close()
          return report
        } catch {
          await copy.close()
          throw error
        }
      }
      await copy.close()
    }
    let copy = try await storedCopy(record.stagingID)
    do {
      var hasExpired = false
      try await download(copy, &record, &hasExpired)
      let report = try await report(of: copy, &record)
      await copy.close()
      try? await removeStaging(record)
      return report
    } catch {
      await copy.close()
      try? await removeStaging(record)
      throw error
    }
  }

  func storedCopy(_ id: String) async throws -> FreshCopy {
    do { return try await FreshCopy.open(id, in: client) } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
    }
  }

  func report(of copy: FreshCopy, _ record: inout ResetRecord) async throws -> ClientResetReport {
    var attempt = self
    attempt.demand = try demand(over: copy)
    return try await attempt.told(of: copy, &record)
  }

  /// Where nothing is latched yet, what a run would find out.
  private func demand(over copy: FreshCopy) throws -> ClientResetDemand {
    let (stored, anchor) = try client.read { (try $0.resetDemand(), try $0.metaText(.historyAnchor)) }
    guard stored == nil, let kept = anchor.flatMap({ HistoryAnchor($0) }),
      let found = try copy.progress().anchor.flatMap({ HistoryAnchor($0) }), found.history != kept.history
    else { return demand }
    var demand = demand
    demand.kind = .history
    demand.message = ClientResetDemand.otherHistory
    demand.serverHistory = found.history
    return demand
  }

  private func told(of copy: FreshCopy, _ record: inout ResetRecord) async throws -> ClientResetReport {
    try decideRecovery(&record, try copy.progress().isRecoveryForbidden)
    try checkFit(copy)
    var prepared: PreparedState
    do {
      prepared = try await prepare(nil, copy, record)
    } catch let error as StateReplay.Impossible {
      guard mode.name == .recoverOrDiscard else {
        throw AttemptEnd.failed(
          .init(
            reason: .recoveryImpossible, message: "the queue cannot be recovered: \(error.cause.message)",
            underlying: error.cause))
      }
      fallBack(&record, .recoveryImpossible, error.cause.message)
      prepared = try await prepare(nil, copy, record)
    }
    prepared.report.isPreview = true
    prepared.report.switchedAt = 0
    if prepared.needsCopy { prepared.report.keptCopy.absence = "would be made" }
    return prepared.report
  }
}
