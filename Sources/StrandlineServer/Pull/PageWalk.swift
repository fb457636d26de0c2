/// Makes one page: walks the candidates in order and takes what is deliverable, within the page's limits and the scan cap.
struct PageWalk {
  let configuration: ServerConfiguration
  let caller: Caller
  let scope: RequestedScope
  let state: any ServerState

  struct Page {
    var answer: PullAnswer
    /// For the rows that are sent and that the caller had none for.
    var newGrants: [DeliveryGrant]
  }

  func page(after cursor: CursorToken, limit: Int, highMark: Int64) throws(ServerStorageFailure) -> Page {
    var merge = try FeedMerge(scope, state, after: cursor, userID: caller.userID)
    var answer = PullAnswer(cursor: "")
    var grants: Set<DeliveryGrant> = []
    var examinedCount = 0
    var lastExamined: Int64 = 0
    var lastTaken: Int64 = 0
    var byteCount = 0
    var continuesAt: Int64?
    while let candidate = try merge.next() {
      let entry = candidate.entry
      if examinedCount == configuration.limits.pullScanCountMax {
        continuesAt = lastExamined
        break
      }
      examinedCount += 1
      lastExamined = entry.number
      guard let item = try item(candidate) else { continue }
      let entryCount = answer.rows.count + answer.tombstones.count
      if entryCount == limit {
        continuesAt = lastTaken
        break
      }
      var conflicts: [PullAnswer.Conflict] = []
      if case .row(let row) = item {
        conflicts = try self.conflicts(of: entry)
        byteCount += row.row.answeredByteCount
        for conflict in conflicts { byteCount += conflict.loserValue.storedByteCount() ?? 0 }
        if entryCount > 0, byteCount > configuration.limits.answerByteCountMax {
          continuesAt = lastTaken
          break
        }
      }
      lastTaken = entry.number
      switch item {
      case .row(let row):
        answer.rows.append(row)
        grants.insert(DeliveryGrant(userID: caller.userID, table: entry.row.table, bucket: candidate.bucket))
        answer.conflicts += conflicts
      case .tombstone(let tombstone): answer.tombstones.append(tombstone)
      }
    }
    answer.conflicts.sort(by: Self.precedes)
    if let continuesAt {
      answer.hasMore = true
      answer.cursor = CursorToken(start: cursor.origin, high: continuesAt).description
    } else {
      answer.cursor = CursorToken(high: max(cursor.high, highMark)).description
    }
    var newGrants: [DeliveryGrant] = []
    for grant in grants where try !state.holds(grant) { newGrants.append(grant) }
    return Page(answer: answer, newGrants: newGrants)
  }

  private enum Item {
    case row(PullAnswer.RowEntry)
    case tombstone(PullAnswer.Tombstone)
  }

  /// What is sent for a candidate; nil: it is withheld.
  private func item(_ candidate: FeedMerge.Candidate) throws(ServerStorageFailure) -> Item? {
    let entry = candidate.entry
    let row = try state.row(entry.row)
    let rendered = row.flatMap { scope.rendered($0, entry.row, for: caller) }
    guard entry.kind == .tombstone else {
      return rendered.map {
        .row(PullAnswer.RowEntry(table: entry.row.table, pk: entry.row.pk, row: $0, seq: String(entry.number)))
      }
    }
    // The row is elsewhere, and travels as a row: clients apply rows before tombstones.
    if rendered != nil { return nil }
    return .tombstone(
      PullAnswer.Tombstone(
        table: entry.row.table, pk: entry.row.pk, seq: String(entry.number), deletedAt: WireTime.text(entry.deletedAt)))
  }

  private func conflicts(of entry: FeedEntry) throws(ServerStorageFailure) -> [PullAnswer.Conflict] {
    guard let table = configuration.table(entry.row.table), table.keepsJournal else { return [] }
    let readable = table.privileges[caller.role]?.readable ?? .all
    return try state.journal(of: entry.row, number: entry.number).filter { readable.contains($0.column) }.map {
      PullAnswer.Conflict(
        table: entry.row.table, pk: entry.row.pk, column: $0.column, loserValue: $0.loserValue,
        winnerMutationID: $0.winnerMutationID, conflictMode: $0.mode.rawValue, winnerSeq: String(entry.number))
    }
  }

  private static func precedes(_ left: PullAnswer.Conflict, _ right: PullAnswer.Conflict) -> Bool {
    if !left.table.isSame(as: right.table) { return left.table.isOrdered(before: right.table) }
    if !left.pk.isSame(as: right.pk) { return left.pk.isOrdered(before: right.pk) }
    return left.column.isOrdered(before: right.column)
  }
}
