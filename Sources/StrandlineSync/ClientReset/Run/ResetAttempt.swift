@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// One try of an automatic mode: download, before, marker, switch, after. What it has come to is in the ``ResetRecord``, so that another
/// process can go on from there.
struct ResetAttempt: Sendable {
  let client: SyncClient
  let mode: ClientResetMode
  var demand: ClientResetDemand
  let isForced: Bool
  /// Nothing is written to the client's store.
  var isDry = false

  static let copyCountMax = 3
  static let pageCountMax = 100_000
  static let stagingAgeMax: Int64 = 24 * 3_600_000

  var configuration: SyncConfiguration { client.configuration }
  var now: Int64 { configuration.clock.milliseconds() }

  /// What stands once before has returned.
  struct Ready: Sendable {
    var record: ResetRecord
    var fresh: FreshCopy
    /// What it holds, as a layer of the client's store that nothing names yet.
    var base: StagedLayer
    var before: ClientResetReport.Callback = .none
  }

  // MARK: Run

  func run() async throws -> SyncClient.DemandStep {
    let found = try client.read { try $0.resetRecord() }
    // Who asks for it puts aside what the guard holds against it.
    let isPutAside = isForced && (found?.phase == .failed || found?.phase == .switched)
    let verdict = ResetGuard.judge(
      isPutAside ? nil : found, mode: mode.name, demand: demand, digest: digest,
      isSameOpen: client.withMemory { $0.hasResetFailed })
    switch verdict {
    case .later: return .blocked
    case .refuse(let afterCrashes): try await refuse(found, afterCrashes)
    case .go(let running, let counts):
      var record = record(found, running, counts)
      if !isPutAside, mode.name == .recoverOrDiscard, running == .discard, let found, found.running == .recover {
        // What stood in the way of recovery the attempts before have seen.
        record.fallbacks.append(
          found.failures.last
            ?? .init(mode: .recover, reason: .loopDetected, message: ResetGuard.crashedTwice))
      }
      do {
        try decideRecovery(&record, demand.isRecoveryForbidden)
        return try await run(record)
      } catch let end as AttemptEnd {
        return try await self.end(end, record)
      }
    }
    return .blocked
  }

  func run(_ start: ResetRecord) async throws -> SyncClient.DemandStep {
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

  func record(
    _ found: ResetRecord?, _ running: ResetRecord.Running, _ counts: ResetGuard.Counts
  ) -> ResetRecord {
    var record = ResetRecord(
      attemptID: client.orderedID(), configuredMode: mode.name, running: running, phase: .fresh, demand: demand,
      digest: digest,
      clientID: "", stagingID: hexID(), startedAt: now)
    record.clientID =
      client.withMemory { memory in
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

  func hexID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// What an update of the engine or of the application changes.
  var digest: String {
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
  func decideRecovery(_ record: inout ResetRecord, _ isForbidden: Bool) throws {
    guard isForbidden, record.running == .recover else { return }
    let message = "the server forbids the recovery of unsynced changes"
    guard mode.name == .recoverOrDiscard else {
      throw AttemptEnd.failed(
        .init(reason: .recoveryForbidden, message: message, isAutomatic: true, dropsStaging: true))
    }
    fallBack(&record, .recoveryForbidden, message)
  }

  func fallBack(_ record: inout ResetRecord, _ reason: ClientResetInfo.Reason, _ message: String) {
    record.fallbacks.append(.init(mode: .recover, reason: reason, message: message))
    record.running = .discard
    record.crashCount = 0
  }

  // MARK: Until the marker

  func untilMarker(_ start: ResetRecord) async throws -> Ready {
    var record = start
    var fresh: FreshCopy?
    var base: StagedLayer?
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
        let layer = try await writeOut(copy)
        base = layer
        let outcome = try await callBefore(copy, &record)
        try Task.checkCancellation()
        // What was pulled for another scope or user is not what the client is to become.
        guard try await scope() == record.buckets else {
          client.store.discard([layer])
          base = nil
          await copy.close()
          fresh = nil
          try await removeStaging(record)
          continue
        }
        return Ready(record: record, fresh: copy, base: layer, before: outcome)
      }
      throw AttemptEnd.postponed(
        SyncError(.remote, "the fresh copy had to begin again \(Self.copyCountMax) times; the next run tries once more")
      )
    } catch {
      if let base, client.store.poison == nil { client.store.discard([base]) }
      await fresh?.close()
      throw error
    }
  }

  /// In front of R2: what dies while the whole copy is written is no crash of the switch.
  func writeOut(_ copy: FreshCopy) async throws -> StagedLayer {
    do {
      try await copy.store.sync()
      return try await client.store.writeOut(copy.store)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw AttemptEnd.storage(SyncError.thrown(for: error), dropsStaging: true)
    }
  }

  /// By table, the bucket values in force. Another user than the store's ends the attempt.
  func scope() async throws -> [String: String] {
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
      throw error.catalogueCode == .store ? AttemptEnd.storage(error, dropsStaging: false) : AttemptEnd.postponed(error)
    }
  }

  /// As ``scope()``, recording nothing.
  func dryScope() throws -> [String: String] {
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

  // MARK: Before

  /// R2, and the callback.
  func callBefore(_ copy: FreshCopy, _ record: inout ResetRecord) async throws -> ClientResetReport.Callback {
    do {
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
}
