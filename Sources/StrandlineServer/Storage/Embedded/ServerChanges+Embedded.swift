extension ServerChanges {
  /// Writes the changes as facts of one commit.
  func apply(to transaction: inout Transaction) throws(StoreError) {
    for change in rows { try apply(change, to: &transaction) }
    for change in tombstones { try apply(change, to: &transaction) }
    for tombstone in reaped {
      try transaction.delete(key: tombstone.key, from: "tombstones")
      try transaction.delete(key: tombstone.feedKey, from: "feed")
    }
    for grant in grants {
      try transaction.put(
        ["user": .string(grant.userID), "table": .string(grant.table), "bucket": .string(grant.bucket)], into: "grants")
    }
    for verdict in verdicts { try transaction.put(verdict.cells, into: "verdicts") }
    for id in forgottenVerdicts { try transaction.delete(.string(id), from: "verdicts") }
    for outdated in outdatedJournal { try transaction.removeJournal(of: outdated.row, number: outdated.number) }
    for entry in journal {
      try transaction.put(
        [
          "table": .string(entry.row.table), "pk": .string(entry.row.pk), "number": .int(entry.number),
          "column": .string(entry.column), "loser": entry.loserValue, "winner": .string(entry.winnerMutationID),
          "mode": .string(entry.mode.rawValue),
        ], into: "journal")
    }
    for number in forgottenTags { try transaction.delete(.int(number), from: "tags") }
    for client in clients { try transaction.put(client.cells, into: "clients") }
    for table in tables {
      try transaction.put(
        [
          "name": .string(table.name), "bucket_column": table.bucketColumn.map { .string($0) } ?? .null,
          "key_columns": .array(table.keyColumns.map { .string($0) }),
        ], into: "tables")
    }
    if let counter { try apply(counter, to: &transaction) }
  }

  private func apply(_ change: RowChange, to transaction: inout Transaction) throws(StoreError) {
    let id = change.id
    if let before = change.before, let bucket = before.bucket {
      try transaction.delete(key: id.feedKey(.change, bucket, before.number), from: "feed")
    }
    guard let after = change.after else {
      try transaction.delete(.string(id.table), .string(id.pk), from: "rows")
      return
    }
    var row: Row = [
      "table": .string(id.table), "pk": .string(id.pk), "number": .int(after.number),
      "columns": .object(after.columns),
    ]
    if !after.stamps.isEmpty { row["stamps"] = .object(after.stamps.mapValues { .string($0) }) }
    if let bucket = after.bucket {
      row["bucket"] = .string(bucket)
      try transaction.put(id.feedCells(.change, bucket, after.number), into: "feed")
    }
    try transaction.put(row, into: "rows")
  }

  private func apply(_ change: TombstoneChange, to transaction: inout Transaction) throws(StoreError) {
    if let replaced = change.replaced { try transaction.delete(key: replaced.feedKey, from: "feed") }
    let tombstone = change.tombstone
    try transaction.put(
      [
        "table": .string(tombstone.id.table), "pk": .string(tombstone.id.pk), "bucket": .string(tombstone.bucket),
        "number": .int(tombstone.number), "deleted_at": .int(tombstone.deletedAt),
      ], into: "tombstones")
    var cells = tombstone.id.feedCells(.tombstone, tombstone.bucket, tombstone.number)
    cells["deleted_at"] = .int(tombstone.deletedAt)
    try transaction.put(cells, into: "feed")
  }

  private func apply(_ counter: ServerCounter, to transaction: inout Transaction) throws(StoreError) {
    var row = try transaction.counterRow()
    if row["high_mark"] != .int(counter.highMark) {
      try transaction.put(
        [
          "number": .int(counter.highMark), "tag": .int(Int64(bitPattern: counter.tag)), "drawn_at": .int(time),
        ], into: "tags")
    }
    row["high_mark"] = .int(counter.highMark)
    row["tag"] = .int(Int64(bitPattern: counter.tag))
    row["reap_horizon"] = .int(counter.reapHorizon)
    try transaction.put(row, into: "counter")
  }
}

extension Transaction {
  fileprivate mutating func counterRow() throws(StoreError) -> Row {
    try get(.int(EmbeddedSchema.counterKey), in: "counter") ?? ["id": .int(EmbeddedSchema.counterKey)]
  }

  fileprivate mutating func removeJournal(of id: RowID, number: Int64) throws(StoreError) {
    let entries = try query("journal").where("table", .equals, .string(id.table)).where("pk", .equals, .string(id.pk))
      .where("number", .equals, .int(number)).select("column").all()
    for entry in entries {
      guard let column = entry["column"] else { continue }
      try delete(key: [.string(id.table), .string(id.pk), .int(number), column], from: "journal")
    }
  }

  /// Writes the counter as it is, so that there is a commit.
  mutating func touchCounter() throws(StoreError) { try put(try counterRow(), into: "counter") }

  mutating func putSalt(_ salt: UInt64) throws(StoreError) {
    var row = try counterRow()
    row["salt"] = .int(Int64(bitPattern: salt))
    try put(row, into: "counter")
  }
}

extension ServerTombstone {
  fileprivate var key: [Value] { [.string(id.table), .string(id.pk), .string(bucket)] }
  fileprivate var feedKey: [Value] { id.feedKey(.tombstone, bucket, number) }
}

extension RowID {
  fileprivate func feedKey(_ kind: FeedEntry.Kind, _ bucket: String, _ number: Int64) -> [Value] {
    [.string(table), .string(bucket), .int(kind.rawValue), .int(number), .string(pk)]
  }

  fileprivate func feedCells(_ kind: FeedEntry.Kind, _ bucket: String, _ number: Int64) -> Row {
    [
      "table": .string(table), "bucket": .string(bucket), "kind": .int(kind.rawValue), "number": .int(number),
      "pk": .string(pk),
    ]
  }
}

extension RecordedVerdict {
  fileprivate var cells: Row {
    [
      "mutation_id": .string(mutationID), "user": .string(userID),
      "reason": reason.map { .string($0.rawValue) } ?? .null,
      "table": .string(row.table), "pk": .string(row.pk), "carried_row": .bool(carriedRow),
      "decided_at": .int(decidedAt),
    ]
  }
}

extension RegisteredClient {
  fileprivate var cells: Row {
    [
      "client_id": .string(clientID), "user": .string(userID), "cursor": cursor.map { .string($0) } ?? .null,
      "last_mutation": lastMutationID.map { .string($0) } ?? .null,
      "schema_version": schemaVersion.map { .int($0) } ?? .null, "last_seen": .int(lastSeen),
    ]
  }
}
