import StrandlineProtocol

/// What the server has to decide, kept the dull way: dictionaries, and the rules in the order of the protocol, for the tables of ``Schema``.
///
/// Every user has seen rows of every bucket that it may read before a run begins, so whether a removal is told needs no bookkeeping.
struct DullServer {
  struct Row: Equatable {
    var columns: [String: Value]
    var stamps: [String: HybridTimestamp] = [:]
  }

  struct Decision {
    var user: String
    var reason: RejectionReason?
    var place: Place
    var carriedRow: Bool
  }

  private(set) var rows: [Place: Row] = [:]
  /// Rows that were deleted and not reaped, with the bucket that they left.
  private(set) var removals: [Place: String] = [:]
  /// The first decision of each mutation, for ever.
  private(set) var decisions: [String: Decision] = [:]
  /// The highest number drawn.
  private(set) var counter: Int64 = 0
  var schemaVersionMin: Int64 = 1

  // MARK: What a user sees

  /// The rows that a pull asks for: those of the user, the shared ones, and those of one team.
  func visible(to user: String, team: String) -> [Place: [String: Value]] {
    var visible: [Place: [String: Value]] = [:]
    for (place, row) in rows where mayRead(user, place.table, row.columns) {
      if place.table == "teams", row.columns["team"] != .string(team) { continue }
      visible[place] = row.columns
    }
    return visible
  }

  private func mayRead(_ user: String, _ table: String, _ columns: [String: Value]) -> Bool {
    Schema.isOwned(table) ? columns["owner"] == .string(user) : true
  }

  private func rendered(_ place: Place, _ user: String) -> [String: Value]? {
    rows[place].flatMap { mayRead(user, place.table, $0.columns) ? $0.columns : nil }
  }

  private func bucket(_ table: String, _ columns: [String: Value]) -> String {
    guard let column = Schema.bucketColumn(table), case .string(let text)? = columns[column] else { return "" }
    return text
  }

  // MARK: Owner

  mutating func upsert(_ place: Place, _ columns: [String: Value]) {
    put(place, (rows[place]?.columns ?? [:]).merging(columns) { $1 }, rows[place]?.stamps ?? [:])
  }

  mutating func remove(_ place: Place) {
    guard let row = rows.removeValue(forKey: place) else { return }
    counter += 1
    removals[place] = bucket(place.table, row.columns)
  }

  mutating func reap() { removals = [:] }

  private mutating func put(_ place: Place, _ columns: [String: Value], _ stamps: [String: HybridTimestamp]) {
    if let old = rows[place], bucket(place.table, old.columns) != bucket(place.table, columns) { counter += 1 }
    counter += 1
    rows[place] = Row(columns: columns, stamps: stamps)
    removals[place] = nil
  }

  // MARK: Push

  enum Reply: Equatable {
    case answer(PushAnswer)
    case refused(TransportCode)
  }

  mutating func push(_ request: PushRequest, _ user: String, now: Int64) -> Reply {
    if request.schemaVersion ?? 0 < schemaVersionMin { return .answer(PushAnswer(signal: .resetRequired)) }
    if request.mutations.count > Schema.mutationCountMax { return .refused(.batchTooLarge) }
    let before = self
    var deleted: Set<Place> = []
    var verdicts: [PushAnswer.Verdict] = []
    for mutation in request.mutations {
      let verdict = answer(mutation, user, now, &deleted)
      if request.isAtomic, let reason = verdict.reason {
        self = before
        return .answer(
          PushAnswer(
            abort: .init(
              outcome: "aborted", offenderMutationID: mutation.id, reason: reason, serverRow: verdict.serverRow)))
      }
      verdicts.append(verdict)
    }
    return .answer(PushAnswer(verdicts: verdicts))
  }

  private mutating func answer(
    _ mutation: Mutation, _ user: String, _ now: Int64, _ deleted: inout Set<Place>
  ) -> PushAnswer.Verdict {
    if let known = decisions[mutation.id] {
      if known.user != user { return .rejected(mutation.id, .rowDenied, serverRow: nil) }
      let row = known.reason != nil || known.carriedRow ? rendered(known.place, user) : nil
      if let reason = known.reason { return .rejected(mutation.id, reason, serverRow: row) }
      return .applied(mutation.id, serverRow: row)
    }
    let place = Place(table: mutation.table, pk: mutation.pk)
    let shown = rendered(place, user)
    let verdict: PushAnswer.Verdict
    if let reason = decide(mutation, place, user, now, &deleted) {
      verdict = .rejected(mutation.id, reason, serverRow: shown)
    } else {
      verdict = .applied(mutation.id, serverRow: mutation.transforms == nil ? nil : rendered(place, user))
    }
    decisions[mutation.id] = Decision(
      user: user, reason: verdict.reason.flatMap(RejectionReason.init), place: place,
      carriedRow: verdict.reason == nil && verdict.serverRow != nil)
    return verdict
  }

  /// Does what the mutation says, or answers why not.
  private mutating func decide(
    _ mutation: Mutation, _ place: Place, _ user: String, _ now: Int64, _ deleted: inout Set<Place>
  ) -> RejectionReason? {
    let table = place.table
    if deleted.contains(place) { return .deleteWins }
    if let bucket = removals[place] { return !Schema.isOwned(table) || bucket == user ? .deleteWins : .rowDenied }
    let old = rows[place]
    if mutation.operation == "insert" {
      if let id = mutation.columns["id"], id != .string(place.pk) { return .constraint }
      if !mayRead(user, table, old?.columns ?? mutation.columns) { return .rowDenied }
    } else if old.map({ mayRead(user, table, $0.columns) }) != true {
      return .rowDenied
    }
    if mutation.operation != "delete", mutation.columns["locked"] != nil { return .columnDenied }
    for (column, value) in mutation.precondition ?? [:] where old?.columns[column] ?? .null != value {
      return .precondition
    }
    if mutation.operation == "delete" {
      remove(place)
      deleted.insert(place)
      return nil
    }
    if mutation.operation == "update" || old != nil, mutation.columns.isEmpty, mutation.transforms == nil {
      return .rowDenied
    }
    var new = old ?? Row(columns: [:])
    var winnerCount = 0
    for (column, value) in mutation.columns {
      if Schema.hasStamps(table), var stamp = mutation.hlc.flatMap({ HybridTimestamp($0) }) {
        stamp.milliseconds = min(stamp.milliseconds, now + 5000)
        if let standing = new.stamps[column], stamp <= standing { continue }
        new.stamps[column] = stamp
      }
      winnerCount += 1
      new.columns[column] = value
    }
    if winnerCount == 0, !mutation.columns.isEmpty, mutation.transforms == nil { return .superseded }
    DullTransform.apply(Schema.transforms(mutation.transforms), to: &new.columns)
    if new.columns["title"] == .string(Schema.forbiddenTitle) { return .constraint }
    if old != nil, !mayRead(user, table, new.columns) { return .rowDenied }
    put(place, new.columns, new.stamps)
    return nil
  }
}
