/// The state of a server as it lies in the tables of ``EmbeddedSchema``.
struct EmbeddedState<Source: EmbeddedSource>: ServerState {
  let source: Source
  let identity: EmbeddedIdentity
  let epoch: UInt64

  func historyID() throws(ServerStorageFailure) -> String {
    let salt = try storage { () throws(StoreError) in
      try source.get(key: [.int(EmbeddedSchema.counterKey)], in: "counter")?.integer("salt") ?? 0
    }
    return identity.historyID(epoch: epoch, salt: UInt64(bitPattern: salt))
  }

  func counter() throws(ServerStorageFailure) -> ServerCounter {
    try storage { () throws(StoreError) in
      var counter = ServerCounter()
      guard let row = try source.get(key: [.int(EmbeddedSchema.counterKey)], in: "counter") else { return counter }
      counter.highMark = row.integer("high_mark") ?? 0
      counter.tag = UInt64(bitPattern: row.integer("tag") ?? 0)
      counter.reapHorizon = row.integer("reap_horizon") ?? 0
      return counter
    }
  }

  func row(_ id: RowID) throws(ServerStorageFailure) -> ServerRow? {
    guard id.isStorable else { return nil }
    return try storage { () throws(StoreError) in
      guard let row = try source.get(key: [.string(id.table), .string(id.pk)], in: "rows") else { return nil }
      guard case .object(let columns)? = row["columns"], let number = row.integer("number") else {
        throw .undecodable(what: "row \(id.pk) of \(id.table)", reason: "it has no columns or no number")
      }
      var stamps: [String: String] = [:]
      if case .object(let cells)? = row["stamps"] {
        for (column, stamp) in cells { if case .string(let text) = stamp { stamps[column] = text } }
      }
      return ServerRow(columns: columns, number: number, bucket: row.text("bucket"), stamps: stamps)
    }
  }

  func tombstones(of id: RowID) throws(ServerStorageFailure) -> [ServerTombstone] {
    guard id.isStorable else { return [] }
    return try storage { () throws(StoreError) in
      try source.query("tombstones").where("table", .equals, .string(id.table)).where("pk", .equals, .string(id.pk))
        .tombstones()
    }
  }

  func tombstones(
    of table: String, before time: Int64?, count: Int
  ) throws(ServerStorageFailure) -> [ServerTombstone] {
    try storage { () throws(StoreError) in
      var query = try source.query("tombstones").where("table", .equals, .string(table)).limit(count)
      if let time { query = query.where("deleted_at", .lessThan, .int(time)) }
      return try query.tombstones()
    }
  }

  func holds(_ grant: DeliveryGrant) throws(ServerStorageFailure) -> Bool {
    guard grant.bucket.storedByteCount <= StorageLimits.bucketByteCountMax else { return false }
    return try storage { () throws(StoreError) in
      try source.get(key: [.string(grant.userID), .string(grant.table), .string(grant.bucket)], in: "grants") != nil
    }
  }

  func verdict(of mutationID: String) throws(ServerStorageFailure) -> RecordedVerdict? {
    try storage { () throws(StoreError) in
      guard let row = try source.get(key: [.string(mutationID)], in: "verdicts") else { return nil }
      let reason = row.text("reason")
      guard let user = row.text("user"), let table = row.text("table"), let pk = row.text("pk"),
        reason == nil || reason.flatMap(RejectionReason.init) != nil
      else {
        throw .undecodable(what: "verdict of \(mutationID)", reason: "a cell is missing or no reason there is")
      }
      return RecordedVerdict(
        mutationID: mutationID, userID: user, reason: reason.flatMap(RejectionReason.init),
        row: RowID(table: table, pk: pk), carriedRow: row["carried_row"] == true,
        decidedAt: row.integer("decided_at") ?? 0)
    }
  }

  func feed(
    _ kind: FeedEntry.Kind, of table: String, bucket: String, from number: Int64, count: Int
  ) throws(ServerStorageFailure) -> [FeedEntry] {
    guard bucket.storedByteCount <= StorageLimits.bucketByteCountMax else { return [] }
    return try storage { () throws(StoreError) in
      let rows = try source.query("feed").where("table", .equals, .string(table))
        .where("bucket", .equals, .string(bucket)).where("kind", .equals, .int(kind.rawValue))
        .where("number", .greaterThanOrEquals, .int(number)).limit(count).rows()
      var entries: [FeedEntry] = []
      while let row = try rows.next() {
        guard let number = row.integer("number"), let pk = row.text("pk") else { continue }
        entries.append(
          FeedEntry(
            kind: kind, number: number, row: RowID(table: table, pk: pk), deletedAt: row.integer("deleted_at") ?? 0))
      }
      return entries
    }
  }

  func journal(of id: RowID, number: Int64) throws(ServerStorageFailure) -> [JournalEntry] {
    try storage { () throws(StoreError) in
      let rows = try source.query("journal").where("table", .equals, .string(id.table))
        .where("pk", .equals, .string(id.pk)).where("number", .equals, .int(number)).rows()
      var entries: [JournalEntry] = []
      while let row = try rows.next() {
        guard let column = row.text("column"), let winner = row.text("winner"),
          let mode = row.text("mode").flatMap(ConflictMode.init)
        else {
          throw .undecodable(
            what: "journal of \(id.pk) in \(id.table)", reason: "a cell is missing or no mode there is")
        }
        entries.append(
          JournalEntry(
            row: id, column: column, number: number, loserValue: row["loser"] ?? .null, winnerMutationID: winner,
            mode: mode))
      }
      return entries
    }
  }

  func tag(at number: Int64) throws(ServerStorageFailure) -> UInt64? {
    try storage { () throws(StoreError) in
      try source.get(key: [.int(number)], in: "tags")?.integer("tag").map { UInt64(bitPattern: $0) }
    }
  }

  func keepsTag(below number: Int64) throws(ServerStorageFailure) -> Bool {
    try storage { () throws(StoreError) in
      try source.query("tags").order(by: "number").first()?.integer("number").map { $0 < number } ?? false
    }
  }

  func client(_ clientID: String) throws(ServerStorageFailure) -> RegisteredClient? {
    try storage { () throws(StoreError) in
      guard let row = try source.get(key: [.string(clientID)], in: "clients"), let user = row.text("user") else {
        return nil
      }
      return RegisteredClient(
        clientID: clientID, userID: user, cursor: row.text("cursor"), lastMutationID: row.text("last_mutation"),
        schemaVersion: row.integer("schema_version"), lastSeen: row.integer("last_seen") ?? 0)
    }
  }

  func table(_ name: String) throws(ServerStorageFailure) -> TableRecord? {
    try storage { () throws(StoreError) in
      guard let row = try source.get(key: [.string(name)], in: "tables") else { return nil }
      var record = TableRecord(name: name, bucketColumn: row.text("bucket_column"), keyColumns: [])
      if case .array(let columns)? = row["key_columns"] { record.keyColumns = columns.compactMap(\.wireText) }
      return record
    }
  }

  func verdicts(before time: Int64, count: Int) throws(ServerStorageFailure) -> [String] {
    try storage { () throws(StoreError) in
      try source.query("verdicts").where("decided_at", .lessThan, .int(time)).limit(count).all()
        .compactMap { $0.text("mutation_id") }
    }
  }

  func tags(before time: Int64, count: Int) throws(ServerStorageFailure) -> [Int64] {
    try storage { () throws(StoreError) in
      let rows = try source.query("tags").order(by: "number").limit(count).rows()
      var numbers: [Int64] = []
      // Numbers rise with time; a clock that was put back makes some stay longer.
      while let row = try rows.next(), let number = row.integer("number"), row.integer("drawn_at") ?? 0 < time {
        numbers.append(number)
      }
      return numbers
    }
  }
}

extension RowID {
  /// Whether the key fits into those of a storage; no row has another.
  var isStorable: Bool {
    pk.storedByteCount <= StorageLimits.pkByteCountMax
      && table.storedByteCount <= ServerConfiguration.tableNameByteCountMax
  }
}

extension Row {
  fileprivate func integer(_ column: String) -> Int64? {
    if case .int(let number)? = self[column] { number } else { nil }
  }

  fileprivate func text(_ column: String) -> String? {
    if case .string(let text)? = self[column] { text } else { nil }
  }
}

extension Query {
  fileprivate func tombstones() throws(StoreError) -> [ServerTombstone] {
    var tombstones: [ServerTombstone] = []
    let rows = try rows()
    while let row = try rows.next() {
      guard let table = row.text("table"), let pk = row.text("pk"), let bucket = row.text("bucket"),
        let number = row.integer("number"), let time = row.integer("deleted_at")
      else { continue }
      tombstones.append(
        ServerTombstone(id: RowID(table: table, pk: pk), bucket: bucket, number: number, deletedAt: time))
    }
    return tombstones
  }
}

/// Runs a piece of work on the store and turns its errors into those of a storage.
func storage<Result>(
  _ body: () throws(StoreError) -> Result
) throws(ServerStorageFailure) -> Result {
  do throws(StoreError) { return try body() } catch { throw ServerStorageFailure(error) }
}

extension ServerStorageFailure {
  init(_ error: StoreError) {
    var isTooLarge = false
    var isUnknown = false
    switch error {
    case .limitExceeded: isTooLarge = true
    case .poisoned: isUnknown = true
    default: break
    }
    self.init(
      "the server's store: \(error)", isTooLarge: isTooLarge, outcomeIsUnknown: isUnknown, underlying: error)
  }
}
