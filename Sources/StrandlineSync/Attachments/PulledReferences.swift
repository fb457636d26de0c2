internal import StrandlineProtocol

/// What a pull does to the references of rows: those it took away, and those it brought.
struct PulledReferences: Sendable {
  private var former = FormerReferences()
  /// By row, the columns that came last.
  private var pulled: [RowName: [String: Value]] = [:]
  /// Rows that the server has spoken of in this pull.
  private var told: Set<RowName> = []

  /// In front of a row's being dropped with an old snapshot, or brought back to what was pulled before.
  mutating func drop(_ name: RowName, _ state: inout SyncState) throws {
    try former.note(rowAt: name, fromServer: false, &state)
  }

  /// In front of a pulled row's taking the place of what is there.
  mutating func replace(_ name: RowName, with columns: [String: Value], _ state: inout SyncState) throws {
    guard state.tables.known(name.table).hasAttachments else { return }
    try former.note(rowAt: name, fromServer: true, &state)
    told.insert(name)
    pulled[name] = columns
  }

  /// In front of a pulled tombstone's taking the row away.
  mutating func bury(_ name: RowName, _ state: inout SyncState) throws {
    guard state.tables.known(name.table).hasAttachments else { return }
    try former.note(rowAt: name, fromServer: true, &state)
    told.insert(name)
    pulled[name] = nil
  }

  /// In front of the overlay, which renews what queued writes remember.
  mutating func noteQueued(_ rows: ResetRows, _ state: inout SyncState) throws {
    guard state.tables.hasAttachments else { return }
    let tables = state.tables
    let names = rows.filter { tables.known($0.table).hasAttachments }
    let told = told
    for entries in try state.pending(of: names) {
      former.note(preImagesOf: entries, fromServer: { told.contains($0) }, tables)
    }
  }

  /// Behind the overlay: marks what is gone, and registers what came.
  func settle(now: Int64, _ state: inout SyncState) throws {
    try former.settle(now: now, &state)
    for (name, columns) in pulled.sorted(by: { $0.key < $1.key }) {
      let table = state.tables.known(name.table)
      for named in table.references(in: columns) {
        try DownloadRegistration.register(named, of: table, name, now: now, &state)
      }
    }
  }
}
