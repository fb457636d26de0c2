internal import StrandlineProtocol

extension SyncClient {
  // MARK: Rejections

  /// Local writes that did not stand, the newest first.
  ///
  /// - Throws: ``SyncErrorCode/json`` or ``SyncErrorCode/store`` for entries that do not decode, ``SyncErrorCode/engineUnavailable``; so do
  ///   the others.
  public func rejections(includeDismissed: Bool = false) async throws -> [Rejection] {
    try read { view in
      try Self.newestFirst(view, StateTable.rejections).compactMap { row in
        let entry = try Rejection(row)
        return entry.isDismissed && !includeDismissed ? nil : entry
      }
    }
  }

  /// Hides an entry; answers whether there is one, hidden already or not.
  @discardableResult
  public func dismissRejection(_ mutationID: String) async throws -> Bool {
    try await dismiss([.string(mutationID)], in: StateTable.rejections)
  }

  // MARK: Overwrites

  /// Values that lost against later writes, the newest first.
  public func overwrites(includeDismissed: Bool = false) async throws -> [Overwrite] {
    try read { view in
      try Self.newestFirst(view, StateTable.overwrites).compactMap { row in
        let entry = try Overwrite(row)
        return entry.isDismissed && !includeDismissed ? nil : entry
      }
    }
  }

  /// Hides an entry; answers whether there is one, hidden already or not.
  @discardableResult
  public func dismissOverwrite(_ id: Int64) async throws -> Bool {
    try await dismiss([.int(id)], in: StateTable.overwrites)
  }

  private static func newestFirst(_ view: ReadView, _ table: String) throws -> [Row] {
    try view.query(table).order(by: "at", ascending: false).order(by: "number", ascending: false).all()
  }

  private func dismiss(_ key: [Value], in table: String) async throws -> Bool {
    try await commit(.journalDismissed) { state in
      guard var row = try state.store.get(key: key, in: table) else { return false }
      guard row["dismissed"] != .bool(true) else { return true }
      row["dismissed"] = true
      try state.store.put(row, into: table)
      return true
    }
  }

  /// Removes entries of both journals that are older than `age`, dismissed or not; answers how many. Dead letters stay.
  @discardableResult
  public func pruneJournals(olderThan age: Duration) async throws -> Int {
    let (seconds, attoseconds) = age.components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    let milliseconds = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    let limit = configuration.clock.milliseconds().subtractingReportingOverflow(milliseconds.partialValue)
    if overflow || milliseconds.overflow || limit.overflow { return 0 }
    return try await commit(.journalPruned) { state in
      var count = 0
      for (table, key) in [(StateTable.rejections, "mutation_id"), (StateTable.overwrites, "number")] {
        for row in try state.store.query(table).where("at", .lessThan, .int(limit.partialValue)).all() {
          if try state.store.delete(key: [row[key] ?? .null], from: table) { count += 1 }
        }
      }
      return count
    }
  }

  // MARK: Dead letters

  /// Local writes that were given up, the oldest first.
  public func deadLetters() async throws -> [DeadLetter] {
    try read { view in
      try view.query(StateTable.deadLetters).all().map { (row) throws(SyncError) in try DeadLetter(row) }
    }
  }

  /// Makes a write that was given up once more, under its id, and queues it; one of an atomic batch together with the batch.
  ///
  /// - Returns: whether there is such a letter.
  /// - Throws: what the write throws now, as ``apply(_:to:pk:columns:mutationID:transforms:precondition:)``; the letter stays then.
  @discardableResult
  public func requeueDeadLetter(_ mutationID: String) async throws -> Bool {
    try await commit(.deadLetterRequeued) { state in
      let letters = try state.takeDeadLetters(mutationID)
      if letters.isEmpty { return false }
      let batchID = letters[0].batchID == nil ? nil : context.ids.uuid()
      var written: [SyncState.Written] = []
      for letter in letters {
        let name = RowName(table: letter.table, pk: letter.pk)
        // The shadow that giving up left is not the server's word.
        try state.clearLocalShadow(name)
        written.append(
          try state.apply(
            LocalWrite(
              table: letter.table, pk: letter.pk, operation: letter.operation, columns: letter.columns,
              mutationID: letter.mutationID, transforms: letter.transforms, precondition: letter.precondition,
              batchID: batchID, hlc: letter.hlc, isRepeated: true), context))
      }
      state.raiseLocalWrites(written)
      return true
    }
  }

  /// Forgets a write that was given up; one of an atomic batch together with the batch. Answers whether there is such a letter.
  @discardableResult
  public func dropDeadLetter(_ mutationID: String) async throws -> Bool {
    try await commit(.deadLetterDropped) { state in try !state.takeDeadLetters(mutationID).isEmpty }
  }
}

extension SyncState {
  /// Takes out the newest letter of a mutation, with those of its batch; oldest first.
  fileprivate mutating func takeDeadLetters(_ mutationID: String) throws -> [DeadLetter] {
    var letters: [(number: Value, letter: DeadLetter)] = []
    for row in try store.query(StateTable.deadLetters).all() {
      letters.append((row["number"] ?? .null, try DeadLetter(row)))
    }
    guard let found = letters.last(where: { $0.letter.mutationID == mutationID }) else { return [] }
    if let batchID = found.letter.batchID {
      letters.removeAll { $0.letter.batchID != batchID }
    } else {
      letters = [found]
    }
    for (number, _) in letters { try store.delete(key: [number], from: StateTable.deadLetters) }
    return letters.map(\.letter)
  }

  mutating func clearLocalShadow(_ name: RowName) throws {
    let shadow = try store.get(key: [.string(name.table), .string(name.pk)], in: StateTable.tombstones)
    if shadow?["seq"] == .string(RowImage.localSeq) { try clearTombstone(name) }
  }
}
