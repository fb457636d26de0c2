/// A push at work: the state it found, and over it what its mutations have done so far. A value: a copy is a point to go back to.
struct PushWork {
  private struct Slot {
    var before: ServerRow?
    var now: ServerRow?
    /// Newest first is not promised. Loaded when they are first needed.
    var tombstonesBefore: [ServerTombstone]?
    var tombstones: [ServerTombstone] = []
    var wasDeletedJustNow = false
    /// Whether entries of the journal that the row had before can be shown no more.
    var outdatesJournal = false
  }

  let state: any ServerState
  /// Milliseconds since 1970, in UTC.
  let now: Int64
  private(set) var counter: ServerCounter
  private var slots: [RowID: Slot] = [:]
  private var grants: Set<DeliveryGrant> = []
  private var verdicts: [ExactText: RecordedVerdict] = [:]
  private var journal: [JournalEntry] = []

  init(_ state: any ServerState, now: Int64) throws(ServerStorageFailure) {
    self.state = state
    self.now = now
    counter = try state.counter()
  }

  // MARK: Reading

  mutating func row(_ id: RowID) throws(ServerStorageFailure) -> ServerRow? { try slot(id).now }

  mutating func subject(_ id: RowID, userID: String) throws(ServerStorageFailure) -> MutationSubject {
    let slot = try slot(id)
    var subject = MutationSubject(
      row: slot.now, removal: nil, holdsGrant: false, wasDeletedJustNow: slot.wasDeletedJustNow)
    if slot.now == nil, !slot.wasDeletedJustNow,
      let newest = try tombstones(of: id).max(by: { $0.number < $1.number })
    {
      subject.removal = newest
      subject.holdsGrant = try holds(DeliveryGrant(userID: userID, table: id.table, bucket: newest.bucket))
    }
    return subject
  }

  func verdict(of mutationID: String) throws(ServerStorageFailure) -> RecordedVerdict? {
    if let verdict = verdicts[ExactText(mutationID)] { return verdict }
    return try state.verdict(of: mutationID)
  }

  private func holds(_ grant: DeliveryGrant) throws(ServerStorageFailure) -> Bool {
    if grants.contains(grant) { return true }
    return try state.holds(grant)
  }

  private mutating func slot(_ id: RowID) throws(ServerStorageFailure) -> Slot {
    if let slot = slots[id] { return slot }
    let row = try state.row(id)
    let slot = Slot(before: row, now: row)
    slots[id] = slot
    return slot
  }

  private mutating func tombstones(of id: RowID) throws(ServerStorageFailure) -> [ServerTombstone] {
    var slot = try slot(id)
    if slot.tombstonesBefore == nil {
      let found = try state.tombstones(of: id)
      slot.tombstonesBefore = found
      slot.tombstones = found
      slots[id] = slot
    }
    return slot.tombstones
  }

  // MARK: Changing

  /// Writes the row, and first the tombstone of the bucket value that it leaves, if it leaves one. Answers the write's number.
  @discardableResult
  mutating func put(
    _ columns: [String: Value], _ stamps: [String: String], at id: RowID, in table: ServerTable
  ) throws(ServerStorageFailure) -> Int64 {
    let bucket = table.bucket(of: columns)
    if let old = try slot(id).now, !Self.isSame(old.bucket, bucket) {
      try bury(id, bucket: old.bucket ?? "")
    }
    let number = try draw()
    slots[id]?.now = ServerRow(columns: columns, number: number, bucket: bucket, stamps: stamps)
    slots[id]?.outdatesJournal = table.keepsJournal
    return number
  }

  /// Removes a row that is there.
  mutating func delete(_ id: RowID, in table: ServerTable) throws(ServerStorageFailure) {
    guard let old = try slot(id).now else { return }
    try bury(id, bucket: old.bucket ?? "")
    slots[id]?.now = nil
    slots[id]?.wasDeletedJustNow = true
    slots[id]?.outdatesJournal = table.keepsJournal
  }

  mutating func grant(_ grant: DeliveryGrant) { grants.insert(grant) }

  mutating func record(_ verdict: RecordedVerdict) { verdicts[ExactText(verdict.mutationID)] = verdict }

  mutating func note(_ entry: JournalEntry) { journal.append(entry) }

  private mutating func bury(_ id: RowID, bucket: String) throws(ServerStorageFailure) {
    let tombstone = ServerTombstone(id: id, bucket: bucket, number: try draw(), deletedAt: now)
    var tombstones = try tombstones(of: id)
    tombstones.removeAll { $0.bucket.isSame(as: bucket) }
    slots[id]?.tombstones = tombstones + [tombstone]
  }

  private mutating func draw() throws(ServerStorageFailure) -> Int64 {
    let (number, isBeyond) = counter.highMark.addingReportingOverflow(1)
    if isBeyond { throw ServerStorageFailure("the server has drawn its last number, \(counter.highMark)") }
    counter.highMark = number
    return number
  }

  private static func isSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.isSame(as: right)
  }

  // MARK: End

  /// What the commit has to change.
  ///
  /// - Parameter tag: drawn for the commit; kept if the commit drew numbers.
  func changes(tag: UInt64) throws(ServerStorageFailure) -> ServerChanges {
    var changes = ServerChanges(time: now)
    for (id, slot) in slots {
      if slot.before != slot.now {
        changes.rows.append(ServerChanges.RowChange(id: id, before: slot.before, after: slot.now))
        if slot.outdatesJournal, let before = slot.before { changes.outdatedJournal.append((id, before.number)) }
      }
      guard let before = slot.tombstonesBefore else { continue }
      for tombstone in slot.tombstones where !before.contains(tombstone) {
        let replaced = before.first { $0.bucket.isSame(as: tombstone.bucket) }
        changes.tombstones.append(ServerChanges.TombstoneChange(tombstone: tombstone, replaced: replaced))
      }
    }
    for grant in grants where try !state.holds(grant) { changes.grants.append(grant) }
    changes.verdicts = Array(verdicts.values)
    changes.journal = journal.filter { slots[$0.row]?.now?.number == $0.number }
    var counter = counter
    if try counter.highMark != state.counter().highMark {
      counter.tag = tag
      changes.counter = counter
    }
    return changes
  }
}
