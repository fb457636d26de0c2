internal import StrandlineProtocol

/// Rows of writes whose answer says nothing of the row as it is now, for it may be an old one.
///
/// The server may have applied such a write long ago, and others may have overwritten it, before the row was last pulled: the write was
/// carried over a switch, or it was sent and its answer lost. The row goes on showing the write until the next closing pull, which tells:
/// what it does not carry is as it was when it was last pulled.
enum Confirmations {
  /// Notes the rows of answered entries, each with what the snapshot, or a later pull, had of it. Before the entries leave the queue.
  ///
  /// - Parameter appliedInSilence: those of them that were applied, and no row came with the verdict.
  static func note(
    _ entries: [OutboxEntry], appliedInSilence: [OutboxEntry] = [], _ state: inout SyncState
  ) throws {
    let through = try state.resetRecord()?.carriedThrough ?? 0
    let doubtful = entries.filter { $0.seq <= through } + appliedInSilence.filter(\.isPerhapsInBase)
    for entries in try state.pending(of: Set(doubtful.map(\.name))) {
      guard let first = entries.first else { continue }
      let key: [Value] = [.string(first.name.table), .string(first.name.pk)]
      if try state.store.get(key: key, in: StateTable.confirmations) != nil { continue }
      var row: Row = ["table": key[0], "pk": key[1]]
      row["base"] = first.preImage.map { .object($0) }
      try state.store.put(row, into: StateTable.confirmations)
      try state.setMeta(.hasUnconfirmed, true)
    }
  }

  /// Brings noted rows that a closing pull does not carry back to what they were, and forgets the notes.
  static func settle(
    besides carried: inout ResetRows, isRehydrating: Bool, _ references: inout PulledReferences,
    _ state: inout SyncState
  ) throws {
    guard try state.meta(.hasUnconfirmed) != nil else { return }
    try state.setMeta(.hasUnconfirmed, nil)
    let notes = try state.store.query(StateTable.confirmations).all()
    for note in notes {
      let cells = StateCells(note, "a note of a row to be confirmed")
      let name = RowName(table: try cells.text("table"), pk: try cells.text("pk"))
      try state.store.delete(key: [.string(name.table), .string(name.pk)], from: StateTable.confirmations)
      if isRehydrating || carried.contains(name) || state.tables.find(name.table) == nil { continue }
      try references.drop(name, &state)
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
