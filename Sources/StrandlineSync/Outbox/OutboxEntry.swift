internal import StrandlineProtocol

/// A local write that the server has not answered.
struct OutboxEntry: Sendable {
  /// Place in the queue.
  var seq: Int64
  var mutationID: String
  var name: RowName
  var operation: MutationOperation
  var columns: [String: Value]
  var precondition: [String: Value]?
  var transforms: [String: Value]?
  /// Entries of one atomic batch stand behind each other and have the same.
  var batchID: String?
  /// The row in front of the write; nil where there was none.
  var preImage: [String: Value]?
  var hlc: String?
  /// Milliseconds since 1970.
  var createdAt: Int64
  /// Whether the row's base may hold the write already: it may have been sent, and decided, when the base was pulled.
  var isPerhapsInBase = false
  /// A client reset could not judge it: it changes a row that is there, and never makes one.
  var isDeferred = false
}

extension OutboxEntry {
  /// Reads a row of `strandline.outbox`.
  ///
  /// - Throws: ``SyncErrorCode/unknownOperation`` for an operation that there is not, ``SyncErrorCode/json`` for anything else amiss.
  init(_ row: Row) throws(SyncError) {
    let cells = StateCells(row, "an entry of the outbox")
    seq = try cells.number("seq")
    mutationID = try cells.text("mutation_id")
    name = RowName(table: try cells.text("table"), pk: try cells.text("pk"))
    let word = try cells.text("op")
    guard let operation = MutationOperation(rawValue: word) else {
      throw SyncError(
        .unknownOperation, "the queued mutation \(mutationID) has the operation \"\(word)\", which there is not")
    }
    self.operation = operation
    columns = try cells.object("columns")
    precondition = try cells.objectIfPresent("precondition")
    transforms = try cells.objectIfPresent("transforms")
    batchID = try cells.textIfPresent("batch_id")
    preImage = try cells.objectIfPresent("pre_image")
    hlc = try cells.textIfPresent("hlc")
    createdAt = try cells.number("created_at")
    isPerhapsInBase = row["perhaps_in_base"] == .bool(true)
    isDeferred = row["deferred"] == .bool(true)
  }

  var row: Row {
    var row: Row = [
      "seq": .int(seq), "mutation_id": .string(mutationID), "table": .string(name.table), "pk": .string(name.pk),
      "op": .string(operation.rawValue), "columns": .object(columns), "created_at": .int(createdAt),
    ]
    row["precondition"] = precondition.map { .object($0) }
    row["transforms"] = transforms.map { .object($0) }
    row["batch_id"] = batchID.map { .string($0) }
    row["pre_image"] = preImage.map { .object($0) }
    row["hlc"] = hlc.map { .string($0) }
    if isPerhapsInBase { row["perhaps_in_base"] = true }
    if isDeferred { row["deferred"] = true }
    return row
  }

  /// Names of the columns that the server is sent, sorted; transforms are not among them.
  func changedColumns(without localOnly: Set<String>) -> [String] {
    columns.keys.filter { !localOnly.contains($0) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// As it travels: without the columns that stay on this device.
  func mutation(without localOnly: Set<String>) -> Mutation {
    func stripped(_ map: [String: Value]?) -> [String: Value]? {
      localOnly.isEmpty ? map : map?.filter { !localOnly.contains($0.key) }
    }
    return Mutation(
      id: mutationID, table: name.table, pk: name.pk, operation: operation.rawValue, columns: stripped(columns) ?? [:],
      precondition: stripped(precondition), hlc: hlc, transforms: stripped(transforms))
  }
}

extension OutboxEntry {
  /// About how many bytes the entry is in a request; never much less than it is.
  func encodedByteCount(without localOnly: Set<String>) -> Int {
    [columns, precondition ?? [:], transforms ?? [:]].joined().reduce(256 + name.pk.utf8.count + mutationID.utf8.count)
    {
      localOnly.contains($1.key) ? $0 : $0 + JSONSize.of($1.key) + $1.value.encodedByteCount + 2
    }
  }
}
