@_spi(Scenario) internal import StrandlineSync

extension ConflictVector: ScenarioContent {
  var sides: Set<ScenarioSide> { ScenarioKind.conflictVector.sides }

  func run(on side: ScenarioSide) async throws(CaseFailure) {
    let remote = ScriptedRemote()
    let client: SyncClient
    do {
      let names = tables.map { ($0, TableConfiguration()) }
      client = try await ScenarioClient.open(
        SyncConfiguration(tables: Dictionary(names) { $1 }, remote: remote))
    } catch {
      throw CaseFailure("the client", "could not be opened: \(error)")
    }
    let log = EventLog()
    log.listen(to: client)
    let failure: CaseFailure?
    do throws(CaseFailure) {
      try await seed(client)
      try await write(client)
      try await makeCalls(client, remote)
      try await compare(client, log)
      failure = nil
    } catch {
      failure = error
    }
    await client.dispose()
    if let failure { throw failure }
  }

  private func seed(_ client: SyncClient) async throws(CaseFailure) {
    try await CallOutcome {
      for seed in seedRows { try await client.seedRow(seed.row, table: seed.table, pk: seed.pk, seq: seed.seq) }
      for seed in seedTombstones { try await client.seedShadow(table: seed.table, pk: seed.pk, seq: seed.seq) }
      if let seedCursor { try await client.seedCheckpoint(seedCursor) }
    }.expectSuccess("the seeds")
  }

  private func write(_ client: SyncClient) async throws(CaseFailure) {
    for write in mutations {
      try await CallOutcome {
        try await client.apply(
          write.operation, to: write.table, pk: write.pk, columns: write.columns, mutationID: write.mutationID,
          transforms: write.transforms, precondition: write.precondition, batchID: write.batchID, hlc: write.hlc)
      }.expectSuccess("local mutation \(write.mutationID ?? "")")
    }
  }

  private func makeCalls(_ client: SyncClient, _ remote: ScriptedRemote) async throws(CaseFailure) {
    typealias Stage = ExpectedError.Stage
    var calls: [(stage: Stage, index: Int, reply: ScriptedRemote.Reply, mustFail: Bool)] = []
    if let pullBefore { calls.append((.pullBefore, 0, .answer(pullBefore), false)) }
    for (index, push) in pushes.enumerated() {
      switch push {
      case .answer(let answer): calls.append((.push, index, .answer(answer), false))
      case .transportError(let isRetryable):
        calls.append((.push, index, isRetryable ? .unreachable : .refused, true))
      }
    }
    for (index, answer) in pullsAfter.enumerated() { calls.append((.pullAfter, index, .answer(answer), false)) }
    for call in calls {
      let kind: TranscriptStep.Call = call.stage == .push ? .push : .pull
      remote.prepare(kind, call.reply)
      let outcome = await CallOutcome {
        if kind == .push { try await client.pushOnce() } else { try await client.pullOnce() }
      }
      let subject = "\(call.stage.rawValue) \(call.index)"
      // Nothing was asked where the client is blocked or has nothing to push; more than one has no answer here.
      if remote.requests.count > 1 {
        throw CaseFailure(subject, "the client made \(remote.requests.count) calls in one")
      }
      if let error = expectedError, error.stage == call.stage, error.index == call.index {
        return try outcome.expectFailure(subject, code: error.code)
      }
      if call.mustFail { try outcome.expectFailure(subject, code: nil) } else { try outcome.expectSuccess(subject) }
    }
    if let error = expectedError {
      throw CaseFailure("expect_error", "there is no call \(error.index) of \(error.stage.rawValue)")
    }
  }

  private func compare(_ client: SyncClient, _ log: EventLog) async throws(CaseFailure) {
    let state: ConflictState
    do { state = try await ConflictState(of: client, log) } catch {
      throw CaseFailure("the client's state", "cannot be read: \(error)")
    }
    try state.compare(with: expectation)
  }
}
