internal import Dispatch
@_spi(Engine) internal import Strandline
@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

// From the marker on nothing cancels the attempt: it ends with the switch, or with a failure.

extension ResetAttempt {
  /// Replays that writers may overtake, before they have to wait for one.
  private static let freeTryCount = 3

  func behindMarker(_ ready: Ready) async throws {
    var record = ready.record
    client.setPhase(.switching)
    let base = ready.base
    var layers = [base]
    do {
      do {
        try SwitchSpace.ensure(in: client.store, record, configuration, base: base)
        // R3. It lies between the layers, and tells who opens the store that a switch was under way.
        record.phase = .marker
        if let id = UInt64(record.attemptID, radix: 16) {
          record.copyName = Store.keptCopyName(milliseconds: now, id: id)
          record.copyDirectory = client.copies.directory
        }
        let marker = record
        try await client.commit(.resetMarked) { state in try state.set(marker) }
      } catch {
        throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
      }
      defer { client.writers.release() }
      var tryCount = 0
      while true {
        tryCount += 1
        if tryCount > Self.freeTryCount { client.writers.hold() }
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
          client.writers.release()
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
          client.writers.release()
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

  func storingAsync(_ body: () async throws -> Void) async throws {
    do { try await body() } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: false)
    }
  }

  func prepare(_ base: StagedLayer?, _ fresh: FreshCopy, _ record: ResetRecord) async throws -> PreparedState {
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

  struct Switched: Sendable {
    var store: StoreResetReport
    var before: ReadView
    var turn: EventDelivery.Turn
  }

  /// R4. Nil: the store has gone on since the state was prepared.
  func putInForce(
    _ prepared: PreparedState, _ layers: [StagedLayer], _ record: ResetRecord
  ) async throws -> Switched? {
    let turn = Lock<EventDelivery.Turn?>(nil)
    let delivery = client.delivery
    func adopt(_ keepCopy: Bool) async throws -> Switched? {
      do {
        if keepCopy { try await client.copies.prepare(record.copyDirectory) }
        let outcome = try await client.sessionGate.pass {
          guard try client.read({ try $0.softBlock() }) == .resetRequired else {
            throw AttemptEnd.cancelled(dropsStaging: true)
          }
          return try await client.store.adopt(
            layers, expecting: prepared.sequence, keepCopy: keepCopy,
            copyPath: record.copyName.map { client.copies.path(of: $0, in: record.copyDirectory) }
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
  func finish(_ switched: Switched, _ prepared: PreparedState, before: ClientResetReport.Callback) async {
    var report = prepared.report
    report.epoch = switched.store.epoch
    report.sequenceAfter = switched.store.position.sequence.rawValue
    report.writersBlockedFor = switched.store.nanoseconds
    report.keptCopy.path = switched.store.keptCopy
    report.beforeCallback = before
    report.beforeCallCount = before == .none ? 0 : 1
    client.queued.forget()
    client.withMemory { memory in
      memory.budget = DeadLetterBudget()
      memory.hasResetFailed = false
    }
    client.delivery.end(switched.turn, prepared.changes.tables.isEmpty ? [] : [.localChanged(prepared.changes)])
    await client.removeStagings()
    await client.endSwitch(report, view: ClientView(switched.before, client.tables), mode)
  }
}
