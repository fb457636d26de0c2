internal import StrandlineProtocol

/// Rows of writes that were carried over a switch and have been answered since.
///
/// Such an answer says little of the row as it is now: the server may have applied the write long before the switch, and others may have
/// overwritten it. The next closing pull tells: what it does not carry is as it was when the snapshot was pulled.
enum Confirmations {
  /// Notes the rows of answered entries, each with what the snapshot, or a later pull, had of it. Before the entries leave the queue.
  static func note(_ entries: [OutboxEntry], _ state: inout SyncState) throws {
    guard let through = try state.resetRecord()?.carriedThrough, entries.contains(where: { $0.seq <= through }) else {
      return
    }
    for name in Set(entries.filter { $0.seq <= through }.map(\.name)) {
      let key: [Value] = [.string(name.table), .string(name.pk)]
      if try state.store.get(key: key, in: StateTable.confirmations) != nil { continue }
      let first = try state.store.query(StateTable.outbox)
        .where("table", .equals, .string(name.table)).where("pk", .equals, .string(name.pk)).order(by: "seq").first()
      guard let first else { continue }
      var row: Row = ["table": .string(name.table), "pk": .string(name.pk)]
      row["base"] = try OutboxEntry(first).preImage.map { .object($0) }
      try state.store.put(row, into: StateTable.confirmations)
    }
  }

  /// Brings noted rows that a closing pull does not carry back to what they were, and forgets the notes.
  static func settle(besides carried: inout ResetRows, isRehydrating: Bool, _ state: inout SyncState) throws {
    let notes = try state.store.query(StateTable.confirmations).all()
    for note in notes {
      let cells = StateCells(note, "a note of a row to be confirmed")
      let name = RowName(table: try cells.text("table"), pk: try cells.text("pk"))
      try state.store.delete(key: [.string(name.table), .string(name.pk)], from: StateTable.confirmations)
      if isRehydrating || carried.contains(name) || state.tables.find(name.table) == nil { continue }
      if let base = try cells.objectIfPresent("base") {
        let present = try state.row(name)
        if present?.columns != base { try state.install(base, seq: present?.seq ?? RowImage.localSeq, at: name) }
        try state.clearTombstone(name)
      } else {
        if try state.row(name) != nil { try state.remove(name) }
        try state.clearLocalShadow(name)
      }
      carried.insert(name)
    }
  }
}
