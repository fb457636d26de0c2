@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// The state behind a switch, ready to be put in force.
struct PreparedState: Sendable {
  /// Lies above the fresh copy.
  var layer: StagedLayer?
  var report: ClientResetReport
  var changes: LocalChanges
  /// The commit of the client's store that it was made of.
  var sequence: SequenceNumber
  /// Whether the state before is copied.
  var makesCopy = false
  /// Whether there is no switch without the copy.
  var needsCopy = false
}

/// Lays over the fresh copy what lives on, and compares the outcome with the present state.
///
/// All of it is one transaction of the staging store that never commits: what it has written becomes a layer of the client's store.
struct StateReplay: Sendable {
  /// Why the queue cannot be recovered.
  struct Impossible: Error { var cause: SyncError }

  private struct GivenUp: Error {}

  let tables: ClientTables
  let main: Store
  let fresh: FreshCopy
  /// Nil: a dry run, which writes nothing.
  let base: StagedLayer?
  let record: ResetRecord
  let demand: ClientResetDemand
  let copies: CopyRule
  let now: Int64

  /// - Throws: ``Impossible``, ``StoreError``.
  func run() throws -> PreparedState {
    let before = try main.view()
    let snapshot = try fresh.store.view()
    var queue: [OutboxEntry] = []
    if record.running == .recover {
      do {
        queue = try before.query(StateTable.outbox).all().map { (row) throws(SyncError) in try OutboxEntry(row) }
        // Transforms have to decode too.
        for entry in queue { _ = try TransformSet(entry.transforms) }
      } catch let error as SyncError {
        throw Impossible(cause: error)
      }
    }
    var prepared: PreparedState?
    do {
      try Self.write(fresh.store) { transaction in
        try SyncState.with(&transaction, tables) { state in
          prepared = try fill(&state, queue, before, snapshot)
        }
        if let base { prepared?.layer = try transaction.writeOut(into: main, above: base) }
        throw GivenUp()
      }
    } catch let error as WriteError<any Error> {
      switch error {
      case .body(is GivenUp): break
      case .body(let error): throw error
      case .store(let error): throw error
      }
    }
    guard let prepared else { throw StoreError.closed }
    return prepared
  }

  private static func write(_ store: Store, _ body: (inout Transaction) throws -> Void) throws {
    try store.write(cause: .resetMarked, body)
  }

  // MARK: The new state

  private func fill(
    _ state: inout SyncState, _ queue: [OutboxEntry], _ before: ReadView, _ snapshot: ReadView
  ) throws -> PreparedState {
    var report = ClientResetReport(
      attemptID: record.attemptID, demand: demand, configuredMode: record.configuredMode,
      effectiveMode: record.running.name, startedAt: record.startedAt)
    report.fallbacks = record.fallbacks
    let recovered = try record.running == .recover ? recover(queue, snapshot) : nil
    var carried: [OutboxEntry] = []
    if let recovered {
      report.count(recovered.entries)
      try lay(recovered, &state)
      for entry in recovered.entries {
        switch entry.decision {
        case .keep, .defer:
          try state.update(entry.entry)
          carried.append(entry.entry)
        default: break
        }
      }
    } else {
      try countDiscarded(before, &report)
    }
    try copyJournals(before, &state)
    if let recovered {
      for entry in recovered.entries {
        if case .drop = entry.decision {
          try state.keepDeadLetter(entry.original, reason: "CLIENT_RESET", at: now)
        }
      }
    }
    let changes = try compare(before, &state, &report)
    try copyAttachments(before, carried, &state, &report)
    let isCopyNeeded =
      demand.kind == .history
      || (record.running == .discard && (report.entries.discarded > 0 || !record.fallbacks.isEmpty))
      || report.entries.dropped > 0
    let needsCopy = copies.isWanted(isNeeded: isCopyNeeded)
    let makesCopy = needsCopy || copies.isForAfter
    if !needsCopy { report.keptCopy.absence = copies.absence }
    try writeMeta(before, snapshot, carried, dropsCopy: makesCopy && !needsCopy, &state, &report)
    return PreparedState(
      report: report, changes: changes, sequence: before.sequence, makesCopy: makesCopy, needsCopy: needsCopy)
  }

  private func recover(_ queue: [OutboxEntry], _ snapshot: ReadView) throws -> Recovery {
    let tables = tables
    return try Recovery(
      queue,
      over: RecoveryBase(
        tables: tables, buckets: record.buckets,
        row: { name in
          if let row = try snapshot.get(key: [.string(name.pk)], in: name.table) {
            return .live(RowImage(row, of: tables.known(name.table)))
          }
          let key: [Value] = [.string(name.table), .string(name.pk)]
          return try snapshot.get(key: key, in: StateTable.tombstones) == nil ? .absent : .buried
        },
        fits: { name, image in
          try snapshot.fits(image.row(name.pk, of: tables.known(name.table)), in: name.table)
        }))
  }

  /// Makes W of S.
  private func lay(_ recovered: Recovery, _ state: inout SyncState) throws {
    for (name, row) in recovered.rows {
      let present: RowImage? = if case .live(let image) = row.base { image } else { nil }
      if let image = row.image {
        if image != present { try state.put(image, at: name) }
      } else if present != nil {
        try state.remove(name)
      }
      if row.isShadowed, row.base != .buried { try state.putTombstone(name) }
    }
  }

  private func countDiscarded(_ before: ReadView, _ report: inout ClientResetReport) throws {
    let rows = try before.query(StateTable.outbox).select("table").rows()
    while let row = try rows.next() {
      guard case .string(let table)? = row["table"] else { continue }
      report.entries.pending += 1
      report.entries.discarded += 1
      report.entriesByTable[table, default: .init()].pending += 1
      report.entriesByTable[table, default: .init()].discarded += 1
    }
  }

  private func copyJournals(_ before: ReadView, _ state: inout SyncState) throws {
    for table in StateTable.journals {
      let rows = try before.query(table).rows()
      while let row = try rows.next() { try state.store.put(row, into: table) }
    }
    for key in [MetaKey.nextJournal, .nextPushed, .nextReset] { try state.setMeta(key, try before.meta(key)) }
  }

  /// A queue row stays when its reference is named by a row, by a queued write, or by a dead letter.
  private func copyAttachments(
    _ before: ReadView, _ carried: [OutboxEntry], _ state: inout SyncState, _ report: inout ClientResetReport
  ) throws {
    let rows = try before.query(StateTable.attachments).all()
    if !tables.hasAttachments, rows.isEmpty { return }
    var named: Set<String> = []
    func note(_ columns: [String: Value], _ table: ClientTable) {
      for column in table.configuration.attachments.keys {
        if case .string(let reference)? = columns[column] { named.insert(reference) }
      }
    }
    for table in tables.all where !table.configuration.attachments.isEmpty {
      let rows = try state.store.query(table.name).rows()
      while let row = try rows.next() { note(RowImage(row, of: table).columns, table) }
    }
    for entry in carried { note(entry.columns, tables.known(entry.name.table)) }
    for letter in try state.store.query(StateTable.deadLetters).all() {
      if case .object(let columns)? = letter["columns"], case .string(let table)? = letter["table"] {
        note(columns, tables.known(table))
      }
    }
    var keptPaths: Set<String> = []
    var lostPaths: [String] = []
    for row in rows {
      guard case .string(let reference)? = row["reference"] else { continue }
      let path: String? = if case .string(let path)? = row["local_path"], !path.isEmpty { path } else { nil }
      if named.contains(reference) {
        try state.store.put(row, into: StateTable.attachments)
        if let path { keptPaths.insert(path) }
      } else if let path {
        lostPaths.append(path)
      }
    }
    try registerDownloads(&state)
    var seen = keptPaths
    report.strandedFiles = lostPaths.filter { seen.insert($0).inserted }
  }

  /// As a closed pull does: what a row names can be fetched.
  private func registerDownloads(_ state: inout SyncState) throws {
    for table in tables.all where table.hasAttachments {
      var named: [(RowName, NamedFile)] = []
      let rows = try state.store.query(table.name).rows()
      while let row = try rows.next() {
        guard case .string(let pk)? = row[HiddenColumn.pk] else { continue }
        let name = RowName(table: table.name, pk: pk)
        named += table.references(in: RowImage(row, of: table).columns).map { (name, $0) }
      }
      for (name, file) in named { try DownloadRegistration.register(file, of: table, name, now: now, &state) }
    }
  }

  private func writeMeta(
    _ before: ReadView, _ snapshot: ReadView, _ carried: [OutboxEntry], dropsCopy: Bool, _ state: inout SyncState,
    _ report: inout ClientResetReport
  ) throws {
    for key in [
      MetaKey.freshSince, .freshPages, .freshBytes, .freshUnknownTables, .isFreshComplete, .isRecoveryForbidden,
    ] {
      try state.setMeta(key, nil)
    }
    // Cursor and anchor are the fresh copy's already.
    let (next, _) = try OutboxEnds.read(try before.meta(.outboxEnds))
    try state.setMeta(.outboxEnds, [.int(next), .int(Int64(carried.count))])
    try state.setMeta(.clientID, .string(record.clientID))
    try state.setMeta(.incarnation, .string(String(main.incarnation, radix: 16)))
    for key in [MetaKey.originHLC, .ownerSubject, .scopeGeneration] { try state.setMeta(key, try before.meta(key)) }
    var scope = try BucketScope(nil)
    for (table, value) in record.buckets {
      if let column = tables.find(table)?.configuration.bucket.column { _ = scope.record(value, table, column) }
    }
    if !record.buckets.isEmpty { try state.setMeta(.bucketScope, scope.value) }
    report.oldClientID = try before.metaText(.clientID)
    report.newClientID = record.clientID
    report.oldAnchor = try before.metaText(.historyAnchor)
    report.newAnchor = try snapshot.metaText(.historyAnchor)
    report.pages = Int(try snapshot.metaNumber(.freshPages) ?? 0)
    report.bytesDownloaded = try snapshot.metaNumber(.freshBytes) ?? 0
    report.sequenceBefore = before.sequence.rawValue
    report.epoch = before.epoch + 1
    report.sequenceAfter = before.sequence.rawValue + 1
    report.switchedAt = now
    report.outboxDepth = carried.count
    var switched = record
    switched.phase = .switched
    switched.isRunning = false
    switched.crashCount = 0
    switched.failure = nil
    switched.switchCount += 1
    switched.carriedThrough = next - 1
    switched.after = .pending
    switched.afterCrashCount = 0
    switched.demand = demand
    switched.dropsCopy = dropsCopy
    try state.set(switched)
    try state.keep(report)
  }

  // MARK: What differs

  /// Walks over both states side by side: counts what differs, and gives this device's own columns to the rows that go on.
  private func compare(
    _ before: ReadView, _ state: inout SyncState, _ report: inout ClientResetReport
  ) throws -> LocalChanges {
    var changes = LocalChanges()
    for table in tables.all {
      var counts = ClientResetReport.Rows()
      var hadRows = false
      var hasRows = false
      let old = try RowWalk(before.query(table.name), table)
      let new = try RowWalk(state.store.query(table.name), table)
      while old.current != nil || new.current != nil {
        let order = RowWalk.compare(old, new)
        if order < 0, let gone = old.current {
          counts.removed += 1
          if gone.image.columns.keys.contains(where: { tables.localOnlyColumns.contains($0) }) {
            counts.localOnlyLost += 1
          }
          changes.insert(RowName(table: table.name, pk: gone.pk))
        } else if order > 0, let added = new.current {
          counts.added += 1
          changes.insert(RowName(table: table.name, pk: added.pk))
        } else if let was = old.current, let present = new.current {
          var image = present.image
          for column in tables.localOnlyColumns { image.columns[column] = was.image.columns[column] }
          if image.columns != present.image.columns {
            try state.put(image, at: RowName(table: table.name, pk: present.pk))
          }
          if image.columns != was.image.columns {
            counts.changed += 1
            changes.insert(RowName(table: table.name, pk: present.pk))
          }
        }
        if let row = old.current, order <= 0 {
          if row.image.seq != RowImage.localSeq { hadRows = true }
          try old.advance()
        }
        if let row = new.current, order >= 0 {
          if row.image.seq != RowImage.localSeq { hasRows = true }
          try new.advance()
        }
      }
      if !counts.isEmpty { report.rowsByTable[table.name] = counts }
      if hadRows, !hasRows { report.emptiedTables.append(table.name) }
    }
    // The fresh copy has nothing of tables that are not configured any more.
    for name in before.tableNames where !name.hasPrefix(StateTable.prefix) && tables.find(name) == nil {
      let count = try before.query(name).count()
      if count > 0 { report.rowsByTable[name, default: .init()].removed = count }
    }
    return changes
  }
}
