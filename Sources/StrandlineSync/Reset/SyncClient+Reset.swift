@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

extension SyncClient {
  /// Erases everything that the client keeps and begins as a new device, in one commit: the way out of a soft block, and the whole of
  /// changing accounts.
  ///
  /// Queued writes are lost for good. Kept are the clock of stamps, bucket values by column, the token, and who listens. Waits for a
  /// running sync; the server is not told. Works on a full disk, at the same cost whatever the store holds.
  ///
  /// - Returns: paths of the attachments' files, each once. They are the caller's to delete.
  /// - Throws: ``SyncErrorCode/store`` with everything as it was; ``SyncErrorCode/engineUnavailable``.
  @discardableResult
  public func reset() async throws -> [String] { try await reset(keepCopy: false).attachmentPaths }

  /// As ``reset()``, and tells what was lost.
  ///
  /// - Parameters:
  ///   - keepCopy: first makes a copy of the store as it is, where ``SyncConfiguration/keptCopies`` puts them. If that fails, nothing has
  ///     changed.
  ///   - removesKeptCopies: also removes what earlier resets have kept: for an account that is left for good.
  public func reset(keepCopy: Bool, removesKeptCopies: Bool = false) async throws -> LocalResetReport {
    try ensureOpen()
    try refuseInCallback("reset")
    withMemory { $0.attempt }?()
    return try await networkGate.pass {
      try await sessionGate.pass {
        try ensureOpen()
        let former = removesKeptCopies ? try copies.all() : []
        let report = try await erase(keepCopy: keepCopy, copyPath: keepCopy ? try await newCopyPath() : nil)
        for entry in former { try? await copies.remove(entry) }
        return report
      }
    }
  }

  /// Where a copy goes that has no name yet; nil: inside the store, which is in memory.
  private func newCopyPath() async throws -> String? {
    if isInMemory { return nil }
    do { try await copies.prepare(copies.directory) } catch { throw SyncError.thrown(for: error) }
    return copies.path(of: newCopyName(), in: copies.directory)
  }

  /// With both gates held.
  ///
  /// - Parameters:
  ///   - copyPath: of the kept copy; nil makes one up, inside the store.
  ///   - didErase: answers, of the state that is gone, what is told behind `localChanged`.
  func erase(
    keepCopy: Bool, copyPath: String? = nil, didErase: (StoreResetReport, ReadView) -> [SyncEvent] = { _, _ in [] }
  ) async throws -> LocalResetReport {
    let id = configuration.ids.uuid()
    let incarnation = String(store.incarnation, radix: 16)
    let delivery = delivery
    let turn = Lock<EventDelivery.Turn?>(nil)
    let report: StoreResetReport
    let before: ReadView
    do {
      (report, before) = try await store.reset(keepCopy: keepCopy, copyPath: copyPath) { (before) throws(StoreError) in
        turn.withLock { $0 = delivery.draw() }
        return try ResetSurvivors.rows(of: before, clientID: id, incarnation: incarnation)
      }
    } catch {
      if let turn = turn.withLock({ $0 }) { delivery.end(turn, []) }
      throw SyncError.thrown(for: error)
    }
    queued.forget()
    withMemory { memory in
      for (table, _) in ownerBuckets { memory.buckets[table] = nil }
      memory.budget = DeadLetterBudget()
      memory.sentThrough = 0
      memory.hasResetFailed = false
    }
    await removeStagings()
    var changes = LocalChanges()
    for table in tables.all { changes.insert(table: table.name) }
    if let turn = turn.withLock({ $0 }) { delivery.end(turn, [.localChanged(changes)] + didErase(report, before)) }
    sessionChanged()
    settleUploads()
    do {
      return LocalResetReport(
        reason: try before.softBlock(), droppedMutations: try ErasedState.queuedMutations(before),
        keptCopy: report.keptCopy, epochBefore: before.epoch, epochAfter: report.epoch,
        attachmentPaths: try ErasedState.attachmentPaths(before))
    } catch {
      throw SyncError.thrown(for: error)
    }
  }
}

/// What lives on behind a reset.
enum ResetSurvivors {
  /// Rows of `strandline.meta`.
  static func rows(
    of before: ReadView, clientID: String, incarnation: String, and report: ClientResetReport? = nil
  ) throws(StoreError) -> [(table: String, row: Row)] {
    var values: [(MetaKey, Value)] = [
      (.cursor, "0"), (.clientID, .string(clientID)), (.incarnation, .string(incarnation)),
    ]
    // Stamps go on above all that were made before.
    let stamp = try before.get(key: [.string(MetaKey.originHLC.rawValue)], in: StateTable.meta)
    if let stamp = stamp?["value"] { values.append((.originHLC, stamp)) }
    return values.map { (StateTable.meta, ["key": .string($0.0.rawValue), "value": $0.1]) }
      + reports(of: before, and: report)
  }
}

extension ResetSurvivors {
  /// Bytes of reports that a RESET has room for.
  private static let reportByteCountMax = 12 << 10

  /// The newest reports of client resets, without anything of rows. What cannot be read does not live on.
  ///
  /// - Parameter newest: of the reset itself, as it is.
  private static func reports(of before: ReadView, and newest: ClientResetReport?) -> [(table: String, row: Row)] {
    let former = ((try? before.resetReports()) ?? []).map(\.redacted)
    let reports = former.suffix(Int(SyncState.reportCountMax) - (newest == nil ? 0 : 1)) + (newest.map { [$0] } ?? [])
    if reports.isEmpty { return [] }
    var texts: [String] = []
    var byteCount = 0
    for report in reports.reversed() {
      guard let text = try? StoredJSON.encode(report) else { continue }
      byteCount += text.utf8.count + 32
      if byteCount > reportByteCountMax { break }
      texts.insert(text, at: 0)
    }
    var rows: [(table: String, row: Row)] = []
    for (place, text) in texts.enumerated() {
      rows.append((StateTable.resets, ["number": .int(Int64(place + 1)), "report": .string(text)]))
    }
    rows.append(
      (StateTable.meta, ["key": .string(MetaKey.nextReset.rawValue), "value": .int(Int64(texts.count + 1))]))
    return rows
  }
}

/// What a reset erased, read from the state that it left behind for whoever holds it.
enum ErasedState {
  static func queuedMutations(_ before: ReadView) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    let rows = try before.query(StateTable.outbox).select("table").rows()
    while let row = try rows.next() {
      if case .string(let table)? = row["table"] { counts[table, default: 0] += 1 }
    }
    return counts
  }

  /// Each file once, in the order of the references.
  static func attachmentPaths(_ before: ReadView) throws -> [String] {
    var paths: [String] = []
    var seen: Set<String> = []
    let rows = try before.query(StateTable.attachments).select("local_path").rows()
    while let row = try rows.next() {
      if case .string(let path)? = row["local_path"], !path.isEmpty, seen.insert(path).inserted { paths.append(path) }
    }
    return paths
  }
}
