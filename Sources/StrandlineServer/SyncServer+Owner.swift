/// A write of the server's owner, past all policies, privileges and rules.
public enum OwnerWrite: Sendable {
  /// Creates the row or merges the columns into it.
  ///
  /// `hlc` becomes the stamp of the columns named, unclamped and uncompared; nil changes no stamp. It means nothing on tables of
  /// ``ConflictMode/arrival``.
  case upsert(table: String, pk: String, columns: [String: Value], hlc: HybridTimestamp? = nil)
  /// A row that is not there stays away, and nothing is drawn for it.
  case delete(table: String, pk: String)

  var row: RowID {
    switch self {
    case .upsert(let table, let pk, _, _), .delete(let table, let pk): RowID(table: table, pk: pk)
    }
  }
}

/// What a reap removes.
public enum ReapScope: Sendable {
  /// What is older than its retention: tombstones, and verdicts and anchors, which are kept at least as long as these.
  case expired
  /// All tombstones so far, and else what is older than its retention.
  case allTombstones
}

public struct ReapReport: Hashable, Sendable {
  public var tombstoneCount = 0
  public var verdictCount = 0
  /// Numbers below it cannot be pulled from any more.
  public var reapHorizon: Int64 = 0

  public init() {}
}

extension SyncServer {
  /// Makes the owner's writes one commit, in their order.
  ///
  /// - Throws: ``ErrorAnswer`` with nothing changed: a table that there is none of, a key that is none of the table, a row that no storage
  ///   takes or no client holds, trouble of the storage.
  public func write(_ writes: [OwnerWrite]) async throws(ErrorAnswer) {
    for write in writes { try check(write) }
    let now = environment.now()
    let tag = environment.randomBits()
    let (highMark, refusal) = try await write {
      (state) throws(ServerStorageFailure) -> (ServerChanges, (Int64, ErrorAnswer?)) in
      var work = try PushWork(state, now: now)
      for write in writes {
        guard let count = try self.apply(write, to: &work), count > ColumnRules.countMax else { continue }
        let id = write.row
        let refusal = ErrorAnswer(
          code: .invalidParameter,
          message:
            "the row \"\(id.pk)\" of \"\(id.table)\" would have \(count) columns; \(ColumnRules.countMax) are the most")
        return (ServerChanges(time: now), (0, refusal))
      }
      return (try work.changes(tag: tag), (work.counter.highMark, nil))
    }
    if let refusal { throw refusal }
    advance(to: highMark)
  }

  private func check(_ write: OwnerWrite) throws(ErrorAnswer) {
    let id = write.row
    guard let table = configuration.table(id.table) else {
      throw ErrorAnswer(code: .featureNotSupported, message: "there is no table \"\(id.table)\" here")
    }
    func require(_ isFine: Bool, _ reason: @autoclosure () -> String) throws(ErrorAnswer) {
      guard isFine else { throw ErrorAnswer(code: .invalidParameter, message: reason()) }
    }
    let row = "the row \"\(id.pk.prefix(80))\" of \"\(id.table)\""
    try require(
      id.isStorable, "the key of \(row) has \(id.pk.utf8.count) bytes; \(StorageLimits.pkByteCountMax) are the most")
    try require(
      table.keyComponents(of: id.pk) != nil, "\"\(id.pk)\" is not the canonical text of a key of \"\(id.table)\"")
    guard case .upsert(_, _, let columns, _) = write else { return }
    for column in columns.keys {
      try require(
        ColumnRules.isName(column),
        "\(row) has a column that no client can hold: a name has 1 to \(ColumnRules.nameByteCountMax) bytes and does "
          + "not begin with U+0001")
    }
    try require(
      (table.bucket(of: columns) ?? "").storedByteCount <= StorageLimits.bucketByteCountMax,
      "the bucket value of \(row) has more than \(StorageLimits.bucketByteCountMax) bytes")
    guard let byteCount = Value.object(columns).storedByteCount() else {
      throw ErrorAnswer(
        code: .invalidParameter, message: "\(row) is nested more than \(StorageLimits.nestingDepthMax) deep")
    }
    try require(
      byteCount <= configuration.limits.rowByteCountMax,
      "\(row) has \(byteCount) bytes; \(configuration.limits.rowByteCountMax) are the most")
  }

  /// Answers how many columns the row has then; nil where there is none.
  private func apply(_ write: OwnerWrite, to work: inout PushWork) throws(ServerStorageFailure) -> Int? {
    guard let table = configuration.table(write.row.table) else { return nil }
    guard case .upsert(_, _, let named, let hlc) = write else {
      try work.delete(write.row, in: table)
      return nil
    }
    let row = try work.row(write.row)
    let columns = (row?.columns ?? [:]).merging(named) { $1 }
    var stamps = row?.stamps ?? [:]
    if let hlc, table.conflictMode == .hlc { for column in named.keys { stamps[column] = hlc.description } }
    try work.put(columns, stamps, at: write.row, in: table)
    return columns.count
  }

  /// The columns of a row, past all policies; nil if there is none.
  public func row(_ pk: String, in table: String) async throws(ErrorAnswer) -> [String: Value]? {
    try await read { (state) throws(ServerStorageFailure) in try state.row(RowID(table: table, pk: pk))?.columns }
  }

  /// Makes what the server holds a new history: every client that comes with a place in the old one is told to reset.
  public func beginNewHistory() async throws(ErrorAnswer) {
    do throws(ServerStorageFailure) { try await storage.beginNewHistory() } catch { throw ErrorAnswer(error) }
  }

  /// Removes what is older than its retention, some thousands of entries a commit.
  ///
  /// Draws no number. Pulls from a cursor below the horizon that results are answered ``LifecycleSignal/checkpointExpired``.
  @discardableResult
  public func reap(_ scope: ReapScope = .expired) async throws(ErrorAnswer) -> ReapReport {
    let now = environment.now()
    var report = ReapReport()
    for (name, table) in configuration.tables {
      let age = configuration.retention(of: table).wholeMilliseconds
      let time: Int64? =
        if case .allTombstones = scope { nil } else { now.subtractingReportingOverflow(age).partialValue }
      report.tombstoneCount += try await removeTombstones(of: name, before: time, now)
    }
    // Neither is kept for a shorter time than any tombstone.
    let retention = configuration.tables.values.map { configuration.retention(of: $0) }.max() ?? .zero
    let verdictAge = max(configuration.verdictRetention, retention).wholeMilliseconds
    report.verdictCount = try await removeVerdicts(
      before: now.subtractingReportingOverflow(verdictAge).partialValue, now)
    let tagAge = max(configuration.tombstoneRetention, retention).wholeMilliseconds
    try await removeTags(before: now.subtractingReportingOverflow(tagAge).partialValue, now)
    report.reapHorizon = try await read { (state) throws(ServerStorageFailure) in try state.counter().reapHorizon }
    return report
  }

  private static let reapCountMax = 4096

  private func removeTombstones(of table: String, before time: Int64?, _ now: Int64) async throws(ErrorAnswer) -> Int {
    try await inSteps { (state) throws(ServerStorageFailure) in
      var changes = ServerChanges(time: now)
      changes.reaped = try state.tombstones(of: table, before: time, count: Self.reapCountMax)
      guard let highest = changes.reaped.map(\.number).max() else { return (changes, 0) }
      var counter = try state.counter()
      counter.reapHorizon = max(counter.reapHorizon, highest)
      changes.counter = counter
      return (changes, changes.reaped.count)
    }
  }

  private func removeVerdicts(before time: Int64, _ now: Int64) async throws(ErrorAnswer) -> Int {
    try await inSteps { (state) throws(ServerStorageFailure) in
      var changes = ServerChanges(time: now)
      changes.forgottenVerdicts = try state.verdicts(before: time, count: Self.reapCountMax)
      return (changes, changes.forgottenVerdicts.count)
    }
  }

  private func removeTags(before time: Int64, _ now: Int64) async throws(ErrorAnswer) {
    _ = try await inSteps { (state) throws(ServerStorageFailure) in
      var changes = ServerChanges(time: now)
      // The newest is the one that answers name.
      let newest = try state.counter().highMark
      changes.forgottenTags = try state.tags(before: time, count: Self.reapCountMax).filter { $0 != newest }
      return (changes, changes.forgottenTags.count)
    }
  }

  private func inSteps(
    _ step: (any ServerState) throws(ServerStorageFailure) -> (ServerChanges, Int)
  ) async throws(ErrorAnswer) -> Int {
    var total = 0
    while true {
      let count = try await write(step)
      total += count
      if count < Self.reapCountMax { return total }
    }
  }
}
