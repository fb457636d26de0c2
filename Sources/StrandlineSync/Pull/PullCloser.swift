internal import StrandlineProtocol

/// Makes everything that an ended pull brought visible, in one commit.
enum PullCloser {
  /// - Parameters:
  ///   - page: the closing page; not staged.
  ///   - anchor: the server's place in its history as of this answer, where it says so.
  ///   - sentThrough: the highest seq of the outbox that a push has carried.
  ///   - now: milliseconds since 1970, for the journal.
  static func close(
    with page: PullAnswer, anchor: String?, sentThrough: Int64, now: Int64, _ state: inout SyncState
  ) throws {
    var reset: ResetRows = []
    var references = PulledReferences()
    let isRehydrating = try state.isRehydrating()
    if isRehydrating { try dropAbsent(page, &reset, &references, &state) }
    var conflicts: [PullAnswer.Conflict] = []
    try Staging.forEach(&state) { part, state in
      try apply(part, &reset, &references, &state)
      conflicts += part.conflicts
    }
    try apply(page, &reset, &references, &state)
    conflicts += page.conflicts
    try state.setMeta(.cursor, .string(page.cursor))
    if let anchor { try state.setMeta(.historyAnchor, .string(anchor)) }
    try state.recordPulledTables()
    try Staging.clear(&state)
    try state.setMeta(.pageCursor, nil)
    try state.setMeta(.isRehydrating, nil)
    try Confirmations.settle(besides: &reset, isRehydrating: isRehydrating, &references, &state)
    let overwrites = try journal(conflicts, now, &state)
    try references.noteQueued(reset, &state)
    try PendingOverlay.replay(onto: reset, sentThrough: sentThrough, &state)
    try references.settle(now: now, &state)
    try state.acknowledgeReset()
    state.raiseLocalChanged()
    state.events += overwrites
  }

  /// Rows first, then tombstones. What is of tables that this client does not have is left out.
  static func apply(
    _ page: PullAnswer, _ reset: inout ResetRows, _ references: inout PulledReferences, _ state: inout SyncState
  ) throws {
    for entry in page.rows where state.tables.find(entry.table) != nil {
      let name = RowName(table: entry.table, pk: entry.pk)
      if entry.isDeleted {
        try references.bury(name, &state)
        try bury(name, seq: entry.seq, deletedAt: nil, &state)
      } else {
        try WireRow.check(entry.row, "a pulled row of \(entry.table)")
        try references.replace(name, with: entry.row, &state)
        try state.install(entry.row, seq: entry.seq, at: name)
        try state.clearTombstone(name)
      }
      reset.insert(name)
    }
    for entry in page.tombstones where state.tables.find(entry.table) != nil {
      let name = RowName(table: entry.table, pk: entry.pk)
      try references.bury(name, &state)
      try bury(name, seq: entry.seq, deletedAt: entry.deletedAt, &state)
      reset.insert(name)
    }
  }

  private static func bury(_ name: RowName, seq: String, deletedAt: String?, _ state: inout SyncState) throws {
    try state.remove(name)
    try state.putTombstone(name, seq: seq, deletedAt: deletedAt)
  }

  /// Takes out the rows that a new snapshot does not carry.
  private static func dropAbsent(
    _ page: PullAnswer, _ reset: inout ResetRows, _ references: inout PulledReferences, _ state: inout SyncState
  ) throws {
    var carried: Set<RowName> = []
    func carry(_ page: PullAnswer) {
      for entry in page.rows where !entry.isDeleted { carried.insert(RowName(table: entry.table, pk: entry.pk)) }
    }
    try Staging.forEach(&state) { part, _ in carry(part) }
    carry(page)
    for table in state.tables.all {
      let rows = try state.store.query(table.name).select(HiddenColumn.pk).all()
      for row in rows {
        guard case .string(let pk)? = row[HiddenColumn.pk] else { continue }
        let name = RowName(table: table.name, pk: pk)
        if carried.contains(name) { continue }
        try references.drop(name, &state)
        try state.remove(name)
        reset.insert(name)
      }
    }
  }

  private static func journal(
    _ conflicts: [PullAnswer.Conflict], _ now: Int64, _ state: inout SyncState
  ) throws -> [SyncEvent] {
    if conflicts.isEmpty { return [] }
    let own = try state.pushedIDs()
    var events: [SyncEvent] = []
    for conflict in conflicts where !own.contains(conflict.winnerMutationID) {
      try state.journal(conflict, at: now)
      events.append(
        .columnOverwritten(
          ColumnOverwrite(
            table: conflict.table, pk: conflict.pk, column: conflict.column, loserValue: conflict.loserValue,
            winnerMutationID: conflict.winnerMutationID, conflictMode: conflict.conflictMode)))
    }
    return events
  }
}
