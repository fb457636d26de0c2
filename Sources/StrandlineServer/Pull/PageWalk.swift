/// Makes one page: walks the candidates in order and takes what is deliverable, within the page's limit and the scan cap.
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
    var merge = FeedMerge(scope, state, after: cursor)
    var answer = PullAnswer(cursor: "")
    var grants = GrantBook(state: state, userID: caller.userID)
    var examinedCount = 0
    var lastExamined: Int64 = 0
    var lastTaken: Int64 = 0
    var continuesAt: Int64?
    while let candidate = try merge.next() {
      let entry = candidate.entry
      if entry.isTombstone, try !grants.holdsAtBegin(entry.row.table, candidate.bucket) { continue }
      if examinedCount == configuration.limits.pullScanCountMax {
        continuesAt = lastExamined
        break
      }
      examinedCount += 1
      lastExamined = entry.number
      guard let item = try item(candidate) else { continue }
      if answer.rows.count + answer.tombstones.count == limit {
        continuesAt = lastTaken
        break
      }
      lastTaken = entry.number
      switch item {
      case .row(let row):
        answer.rows.append(row)
        try grants.note(entry.row.table, candidate.bucket)
        answer.conflicts += try conflicts(of: entry)
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
    return Page(answer: answer, newGrants: grants.fresh)
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
    guard entry.isTombstone else {
      return rendered.map {
        .row(PullAnswer.RowEntry(table: entry.row.table, pk: entry.row.pk, row: $0, seq: String(entry.number)))
      }
    }
    // The row is elsewhere, and travels as a row: clients apply rows before tombstones.
    if rendered != nil { return nil }
    let tombstone = try state.tombstones(of: entry.row).first { $0.number == entry.number }
    return tombstone.map {
      .tombstone(
        PullAnswer.Tombstone(
          table: entry.row.table, pk: entry.row.pk, seq: String(entry.number), deletedAt: WireTime.text($0.deletedAt)))
    }
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

/// The caller's grants while a page is made: those of its begin, and those that its rows add, which count from the next page on.
private struct GrantBook {
  let state: any ServerState
  let userID: String
  private var held: [DeliveryGrant: Bool] = [:]
  private var noted: Set<DeliveryGrant> = []
  private(set) var fresh: [DeliveryGrant] = []

  init(state: any ServerState, userID: String) {
    self.state = state
    self.userID = userID
  }

  mutating func holdsAtBegin(_ table: String, _ bucket: String) throws(ServerStorageFailure) -> Bool {
    let grant = DeliveryGrant(userID: userID, table: table, bucket: bucket)
    if let known = held[grant] { return known }
    let found = try state.holds(grant)
    held[grant] = found
    return found
  }

  mutating func note(_ table: String, _ bucket: String) throws(ServerStorageFailure) {
    let grant = DeliveryGrant(userID: userID, table: table, bucket: bucket)
    guard try !holdsAtBegin(table, bucket), noted.insert(grant).inserted else { return }
    fresh.append(grant)
  }
}
