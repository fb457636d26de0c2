internal import StrandlineProtocol

extension SyncState {
  /// Journals that a write did not stand. An entry of the same mutation is replaced, and shows again if it was dismissed.
  mutating func journal(
    _ entry: OutboxEntry, _ kind: Rejection.Kind, reason: String, serverRow: [String: Value]?, at now: Int64
  ) throws {
    let columns = entry.journalledColumns(tables)
    var row: Row = [
      "mutation_id": .string(entry.mutationID), "number": .int(try draw(.nextJournal)),
      "table": .string(entry.name.table), "pk": .string(entry.name.pk), "kind": .string(kind.rawValue),
      "reason": .string(reason), "changed_columns": .array(columns.map { .string($0) }), "at": .int(now),
      "dismissed": false,
    ]
    row["server_row"] = serverRow.map { .object($0) }
    try store.put(row, into: StateTable.rejections)
    tell(undone: entry, kind, reason: reason)
  }

  /// Journals a value that lost.
  mutating func journal(_ conflict: PullAnswer.Conflict, at now: Int64) throws {
    var row: Row = [
      "number": .int(try draw(.nextJournal)), "table": .string(conflict.table), "pk": .string(conflict.pk),
      "column": .string(conflict.column), "loser_value": conflict.loserValue,
      "winner_mutation_id": .string(conflict.winnerMutationID), "conflict_mode": .string(conflict.conflictMode),
      "at": .int(now), "dismissed": false,
    ]
    row["winner_seq"] = conflict.winnerSeq.map { .string($0) }
    try store.put(row, into: StateTable.overwrites)
  }

  mutating func keepDeadLetter(_ entry: OutboxEntry, reason: String, at now: Int64) throws {
    var row: Row = [
      "number": .int(try draw(.nextJournal)), "mutation_id": .string(entry.mutationID),
      "table": .string(entry.name.table), "pk": .string(entry.name.pk), "op": .string(entry.operation.rawValue),
      "columns": .object(entry.columns), "reason": .string(reason), "created_at": .int(entry.createdAt),
      "at": .int(now),
    ]
    row["precondition"] = entry.precondition.map { .object($0) }
    row["transforms"] = entry.transforms.map { .object($0) }
    row["batch_id"] = entry.batchID.map { .string($0) }
    row["hlc"] = entry.hlc.map { .string($0) }
    try store.put(row, into: StateTable.deadLetters)
  }

  // MARK: Pushed ids

  private static var pushedCountMax: Int64 { 1000 }

  /// Remembers mutations that the server has applied, the newest thousand.
  mutating func rememberPushed(_ ids: [String]) throws {
    if ids.isEmpty { return }
    let first = try metaNumber(.nextPushed) ?? 1
    let next = first + Int64(ids.count)
    for (place, id) in ids.enumerated() {
      try store.put(["number": .int(first + Int64(place)), "mutation_id": .string(id)], into: StateTable.pushed)
    }
    let firstKept = next - Self.pushedCountMax
    for number in max(1, first - Self.pushedCountMax)..<max(1, firstKept) {
      try store.delete(key: [.int(number)], from: StateTable.pushed)
    }
    try setMeta(.nextPushed, .int(next))
  }

  mutating func pushedIDs() throws -> Set<String> {
    var ids: Set<String> = []
    for row in try store.query(StateTable.pushed).all() {
      if case .string(let id)? = row["mutation_id"] { ids.insert(id) }
    }
    return ids
  }
}

extension OutboxEntry {
  /// What a journal has of the write: the columns that it set, sorted.
  func journalledColumns(_ tables: ClientTables) -> [String] {
    operation == .delete ? [] : changedColumns(without: tables.localOnlyColumns)
  }
}
