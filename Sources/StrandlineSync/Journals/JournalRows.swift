internal import StrandlineProtocol

extension Rejection {
  /// Reads a row of `strandline.rejections`.
  init(_ row: Row) throws(SyncError) {
    let cells = StateCells(row, "an entry of the rejections")
    mutationID = try cells.text("mutation_id")
    table = try cells.text("table")
    pk = try cells.text("pk")
    let word = try cells.text("kind")
    guard let kind = Kind(rawValue: word) else {
      throw SyncError(
        .store, "the journal entry of mutation \(mutationID) has the kind \"\(word)\", which there is not")
    }
    self.kind = kind
    reason = try cells.text("reason")
    changedColumns = try cells.texts("changed_columns")
    serverRow = try cells.objectIfPresent("server_row")
    at = try cells.number("at")
    isDismissed = try cells.flag("dismissed")
  }
}

extension Overwrite {
  /// Reads a row of `strandline.overwrites`.
  init(_ row: Row) throws(SyncError) {
    let cells = StateCells(row, "an entry of the overwrites")
    id = try cells.number("number")
    table = try cells.text("table")
    pk = try cells.text("pk")
    column = try cells.text("column")
    loserValue = row["loser_value"] ?? .null
    winnerMutationID = try cells.text("winner_mutation_id")
    conflictMode = try cells.text("conflict_mode")
    winnerSeq = try cells.textIfPresent("winner_seq")
    at = try cells.number("at")
    isDismissed = try cells.flag("dismissed")
  }
}

extension DeadLetter {
  /// Reads a row of `strandline.dead_letters`.
  init(_ row: Row) throws(SyncError) {
    let cells = StateCells(row, "a dead letter")
    mutationID = try cells.text("mutation_id")
    table = try cells.text("table")
    pk = try cells.text("pk")
    let word = try cells.text("op")
    guard let operation = MutationOperation(rawValue: word) else {
      throw SyncError(
        .unknownOperation, "the dead letter \(mutationID) has the operation \"\(word)\", which there is not")
    }
    self.operation = operation
    columns = try cells.object("columns")
    precondition = try cells.objectIfPresent("precondition")
    transforms = try cells.objectIfPresent("transforms")
    batchID = try cells.textIfPresent("batch_id")
    hlc = try cells.textIfPresent("hlc")
    reason = try cells.text("reason")
    createdAt = try cells.number("created_at")
  }
}
