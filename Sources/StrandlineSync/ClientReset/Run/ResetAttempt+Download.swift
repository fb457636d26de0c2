@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

// The fresh copy: which pages are asked for, and what is made of the answers.

extension ResetAttempt {
  /// The staging store as far as it is good, or a new one.
  func openCopy(_ record: inout ResetRecord, _ buckets: [String: String]) async throws -> FreshCopy {
    let owner = try client.read { try $0.metaText(.ownerSubject) }
    do {
      for name in try client.store.stagingNames() where name != "stage-\(record.stagingID)" {
        try await client.store.removeInner(name)
      }
      // A copy that this attempt made, and no RESET behind it.
      for name in try client.store.keptCopyNames() where name.hasSuffix(record.attemptID) {
        try await client.store.removeInner(name)
      }
      var isGood = record.buckets == buckets && record.owner == owner
      if isGood, try client.store.stagingNames().contains("stage-\(record.stagingID)") {
        let copy = try await FreshCopy.open(record.stagingID, in: client)
        let progress = try copy.progress()
        let age = progress.since.map { now - $0 } ?? 0
        let history = progress.anchor.flatMap { HistoryAnchor($0) }?.history
        isGood =
          (0...Self.stagingAgeMax).contains(age)
          && (history == nil || demand.serverHistory == nil || history == demand.serverHistory)
        if isGood { return try await begin(copy, &record) }
        await copy.close()
      }
      try await removeStaging(record)
      record.stagingID = hexID()
      record.buckets = buckets
      record.owner = owner
      return try await begin(try await FreshCopy.open(record.stagingID, in: client), &record)
    } catch let error as AttemptEnd {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: true)
    }
  }

  /// R1.
  func begin(_ copy: FreshCopy, _ record: inout ResetRecord) async throws -> FreshCopy {
    record.phase = .fresh
    record.isRunning = false
    let settled = record
    let demand = demand
    do {
      try await client.commit(.resetPhase) { state in
        try state.set(settled)
        // One that is asked for anew in this process.
        if try state.resetDemand() == nil { try state.set(demand) }
      }
    } catch {
      await copy.close()
      throw error
    }
    return copy
  }

  func removeStaging(_ record: ResetRecord) async throws {
    try await client.store.removeInner("stage-\(record.stagingID)")
  }

  func download(_ copy: FreshCopy, _ record: inout ResetRecord, _ hasExpired: inout Bool) async throws {
    for _ in 0..<Self.pageCountMax {
      try Task.checkCancellation()
      let progress = try storing { try copy.progress() }
      try decideRecovery(&record, progress.isRecoveryForbidden)
      if progress.isComplete { return }
      guard try await scope() == record.buckets else {
        throw FreshCopy.Defect.spoiled("a bucket got another value")
      }
      let answer = try await ask(for: progress.cursor, record)
      try Task.checkCancellation()
      switch answer.body.signal.map({ LifecycleSignal(rawValue: $0) }) {
      case .some(nil):
        throw malformed("a page of the fresh copy has the signal \"\(answer.body.signal ?? "")\"")
      case .resetRequired??:
        var gate = demand
        gate.kind = .gate
        gate.message = "the server answers a fresh copy with a demand for a reset: it wants a newer application"
        gate.schemaVersion = configuration.schemaVersion
        gate.serverHistory = answer.notes.history.flatMap { HistoryAnchor($0) }?.history
        throw AttemptEnd.gated(gate)
      case .checkpointExpired??:
        if hasExpired { throw malformed("the server lets the fresh copy expire twice") }
        hasExpired = true
        throw FreshCopy.Defect.spoiled("the fresh copy expired")
      case nil: break
      }
      try await take(answer, copy, progress)
    }
    throw AttemptEnd.postponed(
      SyncError(
        .remote,
        "the server has not ended the fresh copy after \(Self.pageCountMax) pages; the next run goes on where this one stopped"
      ))
  }

  func ask(for cursor: String, _ record: ResetRecord) async throws -> RemoteAnswer<PullAnswer> {
    let buckets = client.tables.all.map { table in
      PullRequest.Bucket(
        table: table.name,
        params: table.configuration.bucket.column.flatMap { column in
          record.buckets[table.name].map { [column: .string($0)] }
        } ?? [:])
    }
    let request = PullRequest(
      clientID: record.clientID, schemaVersion: Int64(configuration.schemaVersion), cursor: cursor,
      limit: configuration.pageLimit.map { Int64($0) }, buckets: buckets)
    client.withMemory { $0.session.requested(beginsSequence: false) }
    let context = RemoteContext(accessToken: client.withMemory { $0.token })
    do throws(RemoteFailure) {
      let answer = try await configuration.remote.pull(request, context)
      client.answered { $0.downloaded(answer.body, answer.notes) }
      return answer
    } catch {
      if Task.isCancelled || error.isCancellation { throw CancellationError() }
      let failure = SyncError(error, during: .pull)
      if case .undecodable = error.kind { throw FreshCopy.Defect.spoiled(failure.message) }
      guard error.isPermanent else { throw AttemptEnd.postponed(failure) }
      throw AttemptEnd.failed(
        .init(
          reason: .freshCopyRefused, message: "the server refuses the fresh copy: \(failure.message)",
          underlying: failure))
    }
  }

  func take(
    _ answer: RemoteAnswer<PullAnswer>, _ copy: FreshCopy, _ progress: FreshCopy.Progress
  ) async throws {
    if progress.pages == 0, !isDry { try await noteAcceptance() }
    do {
      try await copy.take(answer.body, answer.notes, after: progress, now: now)
    } catch FreshCopy.Defect.unfit(let message) {
      throw unfit(message)
    } catch FreshCopy.Defect.malformed(let message) {
      throw malformed(message)
    } catch let error as FreshCopy.Defect {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: true)
    }
  }

  /// A page says that the server has taken this application's schema version.
  func noteAcceptance() async throws {
    try await storingAsync {
      try await client.commit(.resetDemanded) { state in
        guard var demand = try state.resetDemand(), !demand.isAccepted else { return }
        demand.isAccepted = true
        try state.set(demand)
      }
    }
  }

  func storing<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: true)
    }
  }

  func malformed(_ message: String) -> AttemptEnd {
    .failed(.init(reason: .freshCopyMalformed, message: message, dropsStaging: true))
  }

  func unfit(_ message: String) -> AttemptEnd {
    .failed(.init(reason: .freshCopyUnfit, message: message, counted: .discard, dropsStaging: true))
  }

  /// Whether the server knows what this client has rows of.
  func checkFit(_ copy: FreshCopy) throws {
    let unknown = try storing { try copy.progress().unknownTables }
    for name in unknown where client.tables.find(name) != nil {
      let confirmed = try client.read { view in
        try view.query(name).where(HiddenColumn.seq, .notEquals, .string(RowImage.localSeq)).first()
      }
      if confirmed != nil { throw unfit("the server does not know the table \(name), of which there are rows here") }
    }
  }
}
