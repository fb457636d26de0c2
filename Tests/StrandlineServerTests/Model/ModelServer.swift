import StrandlineServer

/// The server's rules once more, in lists that are searched from the start: slow, and plain enough to be read beside the protocol.
struct ModelServer {
  struct Row {
    var table: String
    var pk: String
    var columns: [String: Value]
    var number: Int64
    var stamps: [String: String] = [:]
  }

  struct Tombstone {
    var table: String
    var pk: String
    var bucket: String
    var number: Int64
    var at: Int64
  }

  struct Verdict {
    var id: String
    var user: String
    var reason: RejectionReason?
    var table: String
    var pk: String
    var carriedRow: Bool
  }

  struct Journal {
    var table: String
    var pk: String
    var column: String
    var number: Int64
    var loser: Value
    var winner: String
  }

  let configuration: ServerConfiguration
  var rows: [Row] = []
  var tombstones: [Tombstone] = []
  var grants: [[String]] = []
  var verdicts: [Verdict] = []
  var journal: [Journal] = []
  var counter: Int64 = 0
  var horizon: Int64 = 0
  /// Of the push at work: rows that it deleted.
  private var deletedJustNow: [[String]] = []

  init(_ configuration: ServerConfiguration) { self.configuration = configuration }

  // MARK: Words of the protocol

  private func config(_ table: String) -> ServerTable? { configuration.tables[table] }

  private func find(_ table: String, _ pk: String) -> Int? { rows.firstIndex { $0.table == table && $0.pk == pk } }

  private func bucketText(_ table: String, _ columns: [String: Value]) -> String? {
    config(table)?.bucketColumn.flatMap { columns[$0]?.wireText }
  }

  private func image(_ table: String, _ pk: String, _ columns: [String: Value]) -> PolicyRow {
    var row = PolicyRow(table: table, pk: pk, columns: columns)
    row.bucketColumn = config(table)?.bucketColumn
    return row
  }

  private func rendered(_ table: String, _ pk: String, _ caller: Caller) -> [String: Value]? {
    guard let place = find(table, pk), let config = config(table) else { return nil }
    let columns = rows[place].columns
    guard config.policy.mayRead(caller, image(table, pk, columns)) else { return nil }
    guard let readable = config.privileges[caller.role]?.readable else { return columns }
    return columns.filter { readable.contains($0.key) }
  }

  // MARK: Owner

  mutating func upsert(_ table: String, _ pk: String, _ named: [String: Value], hlc: String?, now: Int64) {
    let old = find(table, pk).map { rows[$0] }
    var stamps = old?.stamps ?? [:]
    if let hlc, config(table)?.conflictMode == .hlc { for name in named.keys { stamps[name] = hlc } }
    _ = put(table, pk, (old?.columns ?? [:]).merging(named) { $1 }, stamps, now)
  }

  mutating func remove(_ table: String, _ pk: String, now: Int64) {
    guard let place = find(table, pk) else { return }
    bury(table, pk, bucketText(table, rows[place].columns) ?? "", now)
    rows.remove(at: place)
  }

  mutating func reapAll() {
    horizon = max(horizon, tombstones.map(\.number).max() ?? 0)
    tombstones = []
  }

  private mutating func put(
    _ table: String, _ pk: String, _ columns: [String: Value], _ stamps: [String: String], _ now: Int64
  ) -> Int64 {
    if let place = find(table, pk) {
      let old = bucketText(table, rows[place].columns)
      if old != bucketText(table, columns) { bury(table, pk, old ?? "", now) }
      rows.remove(at: place)
    }
    counter += 1
    rows.append(Row(table: table, pk: pk, columns: columns, number: counter, stamps: stamps))
    return counter
  }

  private mutating func bury(_ table: String, _ pk: String, _ bucket: String, _ now: Int64) {
    counter += 1
    tombstones.removeAll { $0.table == table && $0.pk == pk && $0.bucket == bucket }
    tombstones.append(Tombstone(table: table, pk: pk, bucket: bucket, number: counter, at: now))
  }

  // MARK: Gates

  private func isTooOld(_ version: Int64?, _ tables: [String]) -> Bool {
    guard let version else { return true }
    var minima = tables.compactMap { config($0)?.schemaVersionMin }
    if minima.isEmpty { minima = configuration.tables.values.map(\.schemaVersionMin) }
    return minima.contains { version < $0 }
  }

  // MARK: Pull

  mutating func pull(_ request: PullRequest, _ caller: Caller) throws(ErrorAnswer) -> PullAnswer {
    func refuse(_ code: TransportCode) -> ErrorAnswer { ErrorAnswer(code: code, message: "") }
    if let limit = request.limit, limit < 1 { throw refuse(.invalidParameter) }
    if request.buckets.count > configuration.limits.bucketEntryCountMax { throw refuse(.invalidParameter) }
    if isTooOld(request.schemaVersion, request.buckets.map(\.table)) {
      return PullAnswer(cursor: request.cursor, signal: "RESET_REQUIRED")
    }
    for entry in request.buckets {
      if let column = config(entry.table)?.bucketColumn, entry.params[column] == nil { throw refuse(.unscopedPull) }
    }
    guard let cursor = CursorToken(request.cursor) else { throw refuse(.invalidParameter) }
    let origin = cursor.start ?? cursor.high
    if origin > 0, origin < horizon { return PullAnswer(cursor: request.cursor, signal: "CHECKPOINT_EXPIRED") }
    return page(request, cursor, origin, caller)
  }

  private struct Candidate {
    var number: Int64
    var table: String
    var pk: String
    var tombstone: Tombstone?
  }

  private func isAskedFor(_ request: PullRequest, _ table: String, _ bucket: String?) -> Bool {
    request.buckets.contains { entry in
      guard entry.table == table else { return false }
      guard let column = config(table)?.bucketColumn else { return true }
      guard let wanted = entry.params[column]?.wireText else { return false }
      return wanted == bucket
    }
  }

  private func isDeliverable(_ table: String, _ pk: String, _ request: PullRequest, _ caller: Caller) -> Bool {
    guard let columns = rendered(table, pk, caller), let place = find(table, pk) else { return false }
    return request.buckets.contains { entry in
      entry.table == table
        && entry.params.allSatisfy { name, value in
          if name == config(table)?.bucketColumn {
            let text = bucketText(table, rows[place].columns)
            return text != nil && text == value.wireText
          }
          return (columns[name] ?? .null).equalsOnWire(value)
        }
    }
  }

  private mutating func page(
    _ request: PullRequest, _ cursor: CursorToken, _ origin: Int64, _ caller: Caller
  ) -> PullAnswer {
    var candidates: [Candidate] = []
    for row in rows where cursor.isUndelivered(row.number) {
      guard isAskedFor(request, row.table, bucketText(row.table, row.columns)) else { continue }
      candidates.append(Candidate(number: row.number, table: row.table, pk: row.pk))
    }
    for tombstone in tombstones where cursor.isUndelivered(tombstone.number) {
      guard isAskedFor(request, tombstone.table, tombstone.bucket),
        grants.contains([caller.userID, tombstone.table, tombstone.bucket])
      else { continue }
      candidates.append(
        Candidate(number: tombstone.number, table: tombstone.table, pk: tombstone.pk, tombstone: tombstone))
    }
    candidates.sort { $0.number < $1.number }
    let limit = request.limit.map { Int(clamping: $0) } ?? configuration.limits.pageEntryCount
    var answer = PullAnswer(cursor: "")
    var examined: [Int64] = []
    var taken: [Int64] = []
    var position: Int64?
    for candidate in candidates {
      if examined.count == configuration.limits.pullScanCountMax {
        position = examined.last
        break
      }
      examined.append(candidate.number)
      let isDeliverable = isDeliverable(candidate.table, candidate.pk, request, caller)
      if isDeliverable == (candidate.tombstone != nil) { continue }
      if taken.count == limit {
        position = taken.last
        break
      }
      taken.append(candidate.number)
      let (table, pk, seq) = (candidate.table, candidate.pk, String(candidate.number))
      if let tombstone = candidate.tombstone {
        answer.tombstones.append(.init(table: table, pk: pk, seq: seq, deletedAt: WireTime.text(tombstone.at)))
      } else {
        answer.rows.append(.init(table: table, pk: pk, row: rendered(table, pk, caller) ?? [:], seq: seq))
      }
    }
    for row in answer.rows {
      for entry in journal where entry.table == row.table && entry.pk == row.pk && String(entry.number) == row.seq {
        guard config(row.table)?.privileges[caller.role]?.readable.contains(entry.column) ?? true else { continue }
        answer.conflicts.append(
          .init(
            table: row.table, pk: row.pk, column: entry.column, loserValue: entry.loser,
            winnerMutationID: entry.winner, conflictMode: config(row.table)?.conflictMode.rawValue ?? "",
            winnerSeq: row.seq))
      }
      if let grant = grant(caller.userID, row.table, row.pk) { record(grant) }
    }
    answer.conflicts.sort { ($0.table, $0.pk, $0.column) < ($1.table, $1.pk, $1.column) }
    answer.hasMore = position != nil
    answer.cursor = position.map { "\(origin):\($0)" } ?? "\(max(cursor.high, counter))"
    return answer
  }

  private func grant(_ user: String, _ table: String, _ pk: String) -> [String]? {
    find(table, pk).map { [user, table, bucketText(table, rows[$0].columns) ?? ""] }
  }

  private mutating func record(_ grant: [String]) { if !grants.contains(grant) { grants.append(grant) } }

  // MARK: Push

  mutating func push(_ request: PushRequest, _ caller: Caller, now: Int64) throws(ErrorAnswer) -> PushAnswer {
    let mutations = request.mutations
    if isTooOld(request.schemaVersion, mutations.map(\.table)) { return PushAnswer(signal: .resetRequired) }
    func refuse(_ code: TransportCode) -> ErrorAnswer { ErrorAnswer(code: code, message: "") }
    if mutations.count > configuration.limits.mutationCountMax { throw refuse(.batchTooLarge) }
    if configuration.demandsAtomicPushes, !request.isAtomic { throw refuse(.atomicRequired) }
    if mutations.contains(where: { config($0.table) == nil }) { throw refuse(.featureNotSupported) }
    if mutations.contains(where: { config($0.table)?.isPullOnly == true }) { throw refuse(.tableIsPullOnly) }
    if mutations.contains(where: isMalformed) { throw refuse(.invalidParameter) }
    let before = self
    deletedJustNow = []
    var answers: [PushAnswer.Verdict] = []
    for mutation in mutations {
      let (verdict, grant) = decideOrReplay(mutation, caller, now)
      if request.isAtomic, let reason = verdict.reason {
        self = before
        // The row that the abort tells was delivered all the same.
        if let grant { record(grant) }
        return PushAnswer(
          abort: .init(
            outcome: "aborted", offenderMutationID: mutation.id, reason: reason, serverRow: verdict.serverRow))
      }
      if let grant { record(grant) }
      answers.append(verdict)
    }
    return PushAnswer(verdicts: answers)
  }

  private func isMalformed(_ mutation: Mutation) -> Bool {
    if mutation.id.isEmpty || !["insert", "update", "delete"].contains(mutation.operation) { return true }
    let keyCount = config(mutation.table)?.keyColumns.count ?? 1
    if RowKey.components(of: mutation.pk, count: keyCount) == nil { return true }
    for (name, transform) in mutation.transforms ?? [:] {
      if mutation.columns.keys.contains(name) || (try? Transform(transform, for: .server)) == nil { return true }
    }
    if config(mutation.table)?.conflictMode == .hlc {
      let needsStamp =
        mutation.operation == "insert" || (mutation.operation == "update" && !mutation.columns.isEmpty)
      if needsStamp, mutation.hlc.flatMap({ HybridTimestamp($0) }) == nil { return true }
    }
    return false
  }

  /// The verdict, and the grant of the row that it tells.
  private mutating func decideOrReplay(
    _ mutation: Mutation, _ caller: Caller, _ now: Int64
  ) -> (PushAnswer.Verdict, [String]?) {
    if let known = verdicts.first(where: { $0.id == mutation.id }) {
      if known.user != caller.userID { return (.rejected(mutation.id, .rowDenied, serverRow: nil), nil) }
      let tellsRow = known.reason != nil || known.carriedRow
      let row = tellsRow ? rendered(known.table, known.pk, caller) : nil
      let grant = row == nil ? nil : grant(caller.userID, known.table, known.pk)
      guard let reason = known.reason else { return (.applied(mutation.id, serverRow: row), grant) }
      return (.rejected(mutation.id, reason, serverRow: row), grant)
    }
    let verdict = decide(mutation, caller, now)
    verdicts.append(
      Verdict(
        id: mutation.id, user: caller.userID, reason: verdict.reason.flatMap(RejectionReason.init),
        table: mutation.table, pk: mutation.pk, carriedRow: verdict.reason == nil && verdict.serverRow != nil))
    return (verdict, verdict.serverRow == nil ? nil : grant(caller.userID, mutation.table, mutation.pk))
  }

  private mutating func decide(_ mutation: Mutation, _ caller: Caller, _ now: Int64) -> PushAnswer.Verdict {
    let (table, pk) = (mutation.table, mutation.pk)
    guard let config = config(table) else { preconditionFailure("checked") }
    let old = find(table, pk).map { rows[$0] }
    let shown = rendered(table, pk, caller)
    let transforms = mutation.transforms ?? [:]
    func reject(_ reason: RejectionReason) -> PushAnswer.Verdict {
      .rejected(mutation.id, reason, serverRow: shown)
    }
    // 1
    if deletedJustNow.contains([table, pk]) { return .rejected(mutation.id, .deleteWins, serverRow: nil) }
    // 2
    let newest = tombstones.filter { $0.table == table && $0.pk == pk }.max { $0.number < $1.number }
    if let newest, newest.number > old?.number ?? 0 {
      let holdsGrant = grants.contains([caller.userID, table, newest.bucket])
      return .rejected(mutation.id, holdsGrant ? .deleteWins : .rowDenied, serverRow: nil)
    }
    let isInsert = mutation.operation == "insert"
    let isUpdate = mutation.operation == "update"
    let named = Array(mutation.columns.keys) + Array(transforms.keys)
    // 3
    if isUpdate, named.contains(where: config.keyColumns.contains) { return reject(.columnDenied) }
    // 4
    if isInsert, let components = RowKey.components(of: pk, count: config.keyColumns.count) {
      for (column, component) in zip(config.keyColumns, components) {
        if let value = mutation.columns[column], value.wireText != component { return reject(.constraint) }
      }
    }
    func mayWrite(_ columns: [String: Value]) -> Bool { config.policy.mayWrite(caller, image(table, pk, columns)) }
    if !isInsert {
      // 5
      guard let old, shown != nil, mayWrite(old.columns) else { return reject(.rowDenied) }
    } else {
      // 6
      if let old {
        if shown == nil || !mayWrite(old.columns) { return reject(.rowDenied) }
      } else if !mayWrite(mutation.columns) {
        return reject(.rowDenied)
      }
    }
    if isInsert || isUpdate {
      // 7
      let writable = config.privileges[caller.role]?.writable ?? .all
      if named.contains(where: { config.deniedColumns.contains($0) || !writable.contains($0) }) {
        return reject(.columnDenied)
      }
    }
    // 8
    for (name, expected) in mutation.precondition ?? [:] {
      if !(shown?[name] ?? .null).equalsOnWire(expected) { return reject(.precondition) }
    }
    if mutation.operation == "delete" {
      remove(table, pk, now: now)
      deletedJustNow.append([table, pk])
      return .applied(mutation.id)
    }
    // 9
    if isInsert, !transforms.isEmpty { return reject(.constraint) }
    // 10
    if isUpdate || old != nil, named.isEmpty { return reject(.rowDenied) }
    var columns = old?.columns ?? [:]
    var stamps = old?.stamps ?? [:]
    var losers: [(String, Value)] = []
    var winners = 0
    for (name, value) in mutation.columns {
      if config.conflictMode == .hlc, let text = mutation.hlc, var stamp = HybridTimestamp(text) {
        if stamp.milliseconds > now + 5000 { stamp.milliseconds = now + 5000 }
        if let other = stamps[name].flatMap({ HybridTimestamp($0) }), !(stamp > other) { continue }
        stamps[name] = stamp.description
      }
      winners += 1
      let former = columns[name] ?? .null
      if old != nil, !former.isNull, !former.equalsOnWire(value), !config.keyColumns.contains(name) {
        losers.append((name, former))
      }
      columns[name] = value
    }
    // 11
    if winners == 0, !mutation.columns.isEmpty, transforms.isEmpty { return reject(.superseded) }
    // 12
    for (name, transform) in transforms {
      guard let value = (try? Transform(transform, for: .server))?.applied(to: columns[name]) else {
        return reject(.constraint)
      }
      columns[name] = value
    }
    if let rule = config.rule, !rule(image(table, pk, columns)) { return reject(.constraint) }
    // 13
    if old != nil, !mayWrite(columns) { return reject(.rowDenied) }
    let number = put(table, pk, columns, stamps, now)
    if config.keepsJournal {
      for (name, value) in losers {
        journal.append(
          Journal(table: table, pk: pk, column: name, number: number, loser: value, winner: mutation.id))
      }
    }
    return .applied(mutation.id, serverRow: transforms.isEmpty ? nil : rendered(table, pk, caller))
  }
}
