@_spi(Engine) internal import Strandline
@_spi(Engine) internal import StrandlineLog
internal import Dispatch
internal import StrandlineProtocol

/// One try of an automatic mode: download, before, marker, switch, after. What it has come to is in the ``ResetRecord``, so that another
/// process can go on from there.
struct ResetAttempt: Sendable {
  let client: SyncClient
  let mode: ClientResetMode
  let demand: ClientResetDemand
  let isForced: Bool
  /// Nothing is written to the client's store.
  var isDry = false

  private static let copyCountMax = 3
  private static let pageCountMax = 100_000
  private static let stagingAgeMax: Int64 = 24 * 3_600_000

  private var configuration: SyncConfiguration { client.configuration }
  private var now: Int64 { configuration.clock.milliseconds() }

  /// What stands once before has returned.
  private struct Ready: Sendable {
    var record: ResetRecord
    var fresh: FreshCopy
    var before: ClientResetReport.Callback = .none
  }

  // MARK: Run

  func run() async throws -> SyncClient.DemandStep {
    let found = try client.read { try $0.resetRecord() }
    let verdict = ResetGuard.judge(
      isForced ? found.flatMap { $0.phase == .failed ? nil : $0 } : found, mode: mode.name, demand: demand,
      digest: digest, isSameOpen: client.withMemory { $0.hasResetFailed })
    switch verdict {
    case .later: return .blocked
    case .refuse(let afterCrashes): try await refuse(found, afterCrashes)
    case .go(let running, let counts):
      var record = record(found, running, counts)
      do {
        try decideRecovery(&record, demand.isRecoveryForbidden)
        return try await run(record)
      } catch let end as AttemptEnd {
        return try await self.end(end, record)
      }
    }
    return .blocked
  }

  private func run(_ start: ResetRecord) async throws -> SyncClient.DemandStep {
    defer { client.setPhase(nil) }
    // Until the marker a reset, a close, another user's token and the caller end it; behind it nothing does.
    let untilMarker = Task { try await self.untilMarker(start) }
    client.withMemory { $0.attempt = untilMarker.cancel }
    let ready: Ready
    do {
      ready = try await withTaskCancellationHandler {
        try await untilMarker.value
      } onCancel: {
        untilMarker.cancel()
      }
      client.withMemory { $0.attempt = nil }
    } catch {
      client.withMemory { $0.attempt = nil }
      throw error is CancellationError ? AttemptEnd.cancelled(dropsStaging: false) : error
    }
    let behindMarker = Task { try await self.behindMarker(ready) }
    do {
      try await behindMarker.value
      return .switched
    } catch {
      throw error is CancellationError ? AttemptEnd.cancelled(dropsStaging: false) : error
    }
  }

  private func record(
    _ found: ResetRecord?, _ running: ResetRecord.Running, _ counts: ResetGuard.Counts
  ) -> ResetRecord {
    var record = ResetRecord(
      attemptID: hexID(), configuredMode: mode.name, running: running, phase: .fresh, demand: demand, digest: digest,
      clientID: "", stagingID: hexID(), startedAt: now)
    record.clientID = client.withMemory { memory in
      defer { memory.previewClientID = nil }
      return memory.previewClientID
    } ?? configuration.ids.uuid()
    if let found, counts.keepsStaging {
      record.attemptID = found.attemptID
      record.clientID = found.clientID
      record.stagingID = found.stagingID
      record.buckets = found.buckets
      record.owner = found.owner
      record.fallbacks = found.fallbacks
    }
    if let found, found.phase == .switched { record.carriedThrough = found.carriedThrough }
    record.crashCount = counts.crashes
    record.repeatCount = counts.repeats
    record.switchCount = counts.switches
    return record
  }

  private func hexID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// What an update of the engine or of the application changes.
  private var digest: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ text: String) {
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      hash = (hash ^ 0xFF) &* 0x100_0000_01B3
    }
    add("strandline 1")
    add("\(configuration.schemaVersion)")
    for table in client.tables.all {
      add(table.name)
      for column in table.key { add(column) }
    }
    return String(hash, radix: 16)
  }

  /// Recovery that the server forbids is a failure, or becomes a discard.
  private func decideRecovery(_ record: inout ResetRecord, _ isForbidden: Bool) throws {
    guard isForbidden, record.running == .recover else { return }
    let message = "the server forbids the recovery of unsynced changes"
    guard mode.name == .recoverOrDiscard else {
      throw AttemptEnd.failed(.init(reason: .recoveryForbidden, message: message, isAutomatic: true, dropsStaging: true))
    }
    fallBack(&record, .recoveryForbidden, message)
  }

  private func fallBack(_ record: inout ResetRecord, _ reason: ClientResetInfo.Reason, _ message: String) {
    record.fallbacks.append(.init(mode: .recover, reason: reason, message: message))
    record.running = .discard
    record.crashCount = 0
  }

  // MARK: Until the marker

  private func untilMarker(_ start: ResetRecord) async throws -> Ready {
    var record = start
    var fresh: FreshCopy?
    var hasExpired = false
    do {
      for _ in 0..<Self.copyCountMax {
        client.setPhase(.downloading)
        let buckets = try await scope()
        let copy = try await openCopy(&record, buckets)
        fresh = copy
        do {
          try await download(copy, &record, &hasExpired)
        } catch FreshCopy.Defect.spoiled(_) {
          await copy.close()
          fresh = nil
          try await removeStaging(record)
          continue
        }
        try checkFit(copy)
        let outcome = try await callBefore(copy, &record)
        try Task.checkCancellation()
        // What was pulled for another scope or user is not what the client is to become.
        guard try await scope() == record.buckets else {
          await copy.close()
          fresh = nil
          try await removeStaging(record)
          continue
        }
        return Ready(record: record, fresh: copy, before: outcome)
      }
      throw AttemptEnd.postponed(
        SyncError(.remote, "the fresh copy had to begin again \(Self.copyCountMax) times; the next run tries once more"))
    } catch {
      await fresh?.close()
      throw error
    }
  }

  /// By table, the bucket values in force. Another user than the store's ends the attempt.
  private func scope() async throws -> [String: String] {
    if isDry { return try dryScope() }
    do {
      return try await client.sessionGate.pass {
        try client.ensureOpen()
        try await client.keepIdentity()
        try await client.settleOwner()
        guard try client.read({ try $0.softBlock() }) == .resetRequired else {
          throw AttemptEnd.cancelled(dropsStaging: true)
        }
        var values: [String: String] = [:]
        for bucket in try await client.bucketsForPull() {
          for case .string(let value) in bucket.params.values { values[bucket.table] = value }
        }
        return values
      }
    } catch let error as SyncError {
      throw error.code == .store ? AttemptEnd.storage(error, dropsStaging: false) : AttemptEnd.postponed(error)
    }
  }

  /// As ``scope()``, recording nothing.
  private func dryScope() throws -> [String: String] {
    let owner = try client.read { try $0.metaText(.ownerSubject) }
    let inForce = client.withMemory { $0.buckets }
    var values: [String: String] = [:]
    for table in client.tables.all {
      guard let column = table.configuration.bucket.column else { continue }
      let own: String? = if case .byOwner = table.configuration.bucket { owner } else { nil }
      let value = inForce[table.name].flatMap { $0.isEmpty ? nil : $0 } ?? own
      guard let value else {
        throw SyncError(.bucketUnset, "the bucket of table \(table.name) has no value; set column \(column)")
      }
      values[table.name] = value
    }
    return values
  }

  // MARK: Dry run

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

  private func previewDry() async throws -> ClientResetReport {
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

  private func storedCopy(_ id: String) async throws -> FreshCopy {
    do { return try await FreshCopy.open(id, in: client) } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
    }
  }

  private func report(of copy: FreshCopy, _ record: inout ResetRecord) async throws -> ClientResetReport {
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
    if prepared.needsCopy { prepared.report.keptCopy.absence = "would be made" }
    return prepared.report
  }

  /// The staging store as far as it is good, or a new one.
  private func openCopy(_ record: inout ResetRecord, _ buckets: [String: String]) async throws -> FreshCopy {
    let owner = try client.read { try $0.metaText(.ownerSubject) }
    do {
      for name in try client.store.stagingNames() where name != "stage-\(record.stagingID)" {
        try await client.store.removeInner(name)
      }
      var isGood = record.buckets == buckets && record.owner == owner
      if isGood, try client.store.stagingNames().contains("stage-\(record.stagingID)") {
        let copy = try await FreshCopy.open(record.stagingID, in: client)
        let progress = try copy.progress()
        let age = progress.since.map { now - $0 } ?? 0
        let history = progress.anchor.flatMap { HistoryAnchor($0) }?.history
        isGood = (0...Self.stagingAgeMax).contains(age)
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
  private func begin(_ copy: FreshCopy, _ record: inout ResetRecord) async throws -> FreshCopy {
    record.phase = .fresh
    record.isRunning = false
    let settled = record
    let demand = demand
    do {
      try await client.commit(.resetPhase) { state in
        try state.set(settled)
        try state.set(demand)
      }
    } catch {
      await copy.close()
      throw error
    }
    return copy
  }

  private func removeStaging(_ record: ResetRecord) async throws {
    try await client.store.removeInner("stage-\(record.stagingID)")
  }

  // MARK: Download

  private func download(_ copy: FreshCopy, _ record: inout ResetRecord, _ hasExpired: inout Bool) async throws {
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

  private func ask(for cursor: String, _ record: ResetRecord) async throws -> RemoteAnswer<PullAnswer> {
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
    do throws(RemoteFailure) {
      return try await configuration.remote.pull(request, RemoteContext(accessToken: client.withMemory { $0.token }))
    } catch {
      if Task.isCancelled { throw CancellationError() }
      let failure = SyncError(error)
      if case .undecodable = error.kind { throw FreshCopy.Defect.spoiled(failure.message) }
      guard error.isPermanent else { throw AttemptEnd.postponed(failure) }
      throw AttemptEnd.failed(
        .init(
          reason: .freshCopyRefused, message: "the server refuses the fresh copy: \(failure.message)",
          underlying: failure))
    }
  }

  private func take(
    _ answer: RemoteAnswer<PullAnswer>, _ copy: FreshCopy, _ progress: FreshCopy.Progress
  ) async throws {
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

  private func storing<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: true)
    }
  }

  private func malformed(_ message: String) -> AttemptEnd {
    .failed(.init(reason: .freshCopyMalformed, message: message, dropsStaging: true))
  }

  private func unfit(_ message: String) -> AttemptEnd {
    .failed(.init(reason: .freshCopyUnfit, message: message, counted: .discard, dropsStaging: true))
  }

  /// Whether the server knows what this client has rows of.
  private func checkFit(_ copy: FreshCopy) throws {
    let unknown = try storing { try copy.progress().unknownTables }
    for name in unknown where client.tables.find(name) != nil {
      let confirmed = try client.read { view in
        try view.query(name).where(HiddenColumn.seq, .notEquals, .string(RowImage.localSeq)).first()
      }
      if confirmed != nil { throw unfit("the server does not know the table \(name), of which there are rows here") }
    }
  }

  // MARK: Before

  /// R2, and the callback.
  private func callBefore(_ copy: FreshCopy, _ record: inout ResetRecord) async throws -> ClientResetReport.Callback {
    do {
      try await copy.store.sync()
      record.phase = .ready
      record.isRunning = true
      let ready = record
      try await client.commit(.resetPhase) { state in try state.set(ready) }
    } catch let error as CancellationError {
      throw error
    } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: true)
    }
    guard let before = mode.before else { return .none }
    client.setPhase(.callingBefore)
    let view = ClientView(try client.store.view(), client.tables)
    let outcome = await ResetCallback.run(for: client, limit: configuration.callbackLimit, isCancellable: true) {
      try await before(view)
    }
    switch outcome {
    case .returned: return .returned
    case .cancelled: throw CancellationError()
    case .threw(let error):
      throw AttemptEnd.failed(
        .init(reason: .beforeCallbackFailed, message: "the before callback threw: \(error)", underlying: error))
    case .timedOut:
      throw AttemptEnd.failed(
        .init(reason: .beforeCallbackFailed, message: "the before callback did not return within its limit"))
    }
  }

  // MARK: Behind the marker

  private func behindMarker(_ ready: Ready) async throws {
    var record = ready.record
    client.setPhase(.switching)
    var layers: [StagedLayer] = []
    do {
      let base: StagedLayer
      do {
        base = try await client.store.writeOut(ready.fresh.store)
        layers = [base]
        // R3. It lies between the layers, and tells who opens the store that a switch was under way.
        record.phase = .marker
        if let id = UInt64(record.attemptID, radix: 16) {
          record.copyName = Store.keptCopyName(milliseconds: now, id: id)
        }
        let marker = record
        try await client.commit(.resetMarked) { state in try state.set(marker) }
      } catch {
        throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
      }
      while true {
        let prepared: PreparedState
        do {
          prepared = try await prepare(base, ready.fresh, record)
        } catch let error as StateReplay.Impossible {
          guard mode.name == .recoverOrDiscard, record.running == .recover else {
            throw AttemptEnd.failed(
              .init(
                reason: .recoveryImpossible, message: "the queue cannot be recovered: \(error.cause.message)",
                underlying: error.cause, counted: .recover, isAutomatic: true))
          }
          fallBack(&record, .recoveryImpossible, error.cause.message)
          let marker = record
          try await storingAsync { try await client.commit(.resetMarked) { state in try state.set(marker) } }
          continue
        } catch {
          throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
        }
        guard let layer = prepared.layer else { throw StoreError.closed }
        layers = [layer, base]
        if let switched = try await putInForce(prepared, layers, record) {
          layers = []
          await ready.fresh.close()
          await finish(switched, prepared, before: ready.before)
          return
        }
        // Somebody wrote meanwhile.
        client.store.discard([layer])
        layers = [base]
      }
    } catch {
      if client.store.poison == nil { client.store.discard(layers) }
      await ready.fresh.close()
      throw error
    }
  }

  private func storingAsync(_ body: () async throws -> Void) async throws {
    do { try await body() } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
    }
  }

  private func prepare(_ base: StagedLayer?, _ fresh: FreshCopy, _ record: ResetRecord) async throws -> PreparedState {
    let replay = StateReplay(
      tables: client.tables, main: client.store, fresh: fresh, base: base, record: record, demand: demand,
      copies: CopyRule(
        moment: configuration.keptCopies.moment, hasAfter: mode.after != nil, isInMemory: client.isInMemory),
      now: now)
    return try await Self.onThread { try replay.run() }
  }

  /// Reading and comparing whole tables is no work for the threads of the pool.
  static func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  private struct Switched: Sendable {
    var store: StoreResetReport
    var before: ReadView
    var turn: EventDelivery.Turn
  }

  /// R4. Nil: the store has gone on since the state was prepared.
  private func putInForce(
    _ prepared: PreparedState, _ layers: [StagedLayer], _ record: ResetRecord
  ) async throws -> Switched? {
    let turn = Lock<EventDelivery.Turn?>(nil)
    let delivery = client.delivery
    func adopt(_ keepCopy: Bool) async throws -> Switched? {
      do {
        let outcome = try await client.sessionGate.pass {
          guard try client.read({ try $0.softBlock() }) == .resetRequired else {
            throw AttemptEnd.cancelled(dropsStaging: true)
          }
          return try await client.store.adopt(
            layers, expecting: prepared.sequence, keepCopy: keepCopy, copyName: record.copyName
          ) {
            turn.withLock { $0 = delivery.draw() }
          }
        }
        guard let outcome, let drawn = turn.withLock({ $0 }) else { return nil }
        return Switched(store: outcome.report, before: outcome.before, turn: drawn)
      } catch {
        if let drawn = turn.withLock({ turn -> EventDelivery.Turn? in
          defer { turn = nil }
          return turn
        }) {
          delivery.end(drawn, [])
        }
        throw error
      }
    }
    do {
      if prepared.makesCopy, !prepared.needsCopy, client.store.poison == nil {
        do { return try await adopt(true) } catch let error as StoreError where client.store.poison == nil {
          // The callback alone wants the copy: it runs at most once then.
          _ = error
          return try await adopt(false)
        }
      }
      return try await adopt(prepared.makesCopy)
    } catch let error as AttemptEnd {
      throw error
    } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
    }
  }

  /// What follows a switch. Nothing of it makes it undone.
  private func finish(_ switched: Switched, _ prepared: PreparedState, before: ClientResetReport.Callback) async {
    var report = prepared.report
    report.epoch = switched.store.epoch
    report.sequenceAfter = switched.store.position.sequence.rawValue
    report.writersBlockedFor = switched.store.nanoseconds
    report.keptCopy.path = switched.store.keptCopy
    report.beforeCallback = before
    report.beforeCallCount = before == .none ? 0 : 1
    client.withMemory { memory in
      memory.budget = DeadLetterBudget()
      memory.hasResetFailed = false
    }
    client.delivery.end(switched.turn, prepared.changes.tables.isEmpty ? [] : [.localChanged(prepared.changes)])
    await client.removeStagings()
    await client.endSwitch(report, view: ClientView(switched.before, client.tables), mode)
  }

  // MARK: Ends

  private func refuse(_ found: ResetRecord?, _ afterCrashes: Bool) async throws {
    let base = found ?? record(nil, .recover, ResetGuard.Counts())
    let message =
      afterCrashes
      ? "the reset was tried and crashed twice" : "the reset was tried before and did not help"
    let kept = base.action
    try await fail(
      .init(
        reason: .loopDetected, message: base.failure.map { "\(message): \($0.message)" } ?? message,
        counted: base.failure?.isCounted == true ? base.failure?.running : base.running,
        hasAction: true, isAutomatic: kept?.isAutomatic ?? afterCrashes), base, keepsRecord: base.phase == .switched)
  }

  private func end(_ end: AttemptEnd, _ start: ResetRecord) async throws -> SyncClient.DemandStep {
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
  private func putBack(_ record: ResetRecord, dropsStaging: Bool) async throws {
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
  private func fail(_ failure: AttemptEnd.Failure, _ base: ResetRecord, keepsRecord: Bool) async throws {
    var record = base
    if failure.dropsStaging { try? await client.store.removeInner("stage-\(record.stagingID)") }
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
