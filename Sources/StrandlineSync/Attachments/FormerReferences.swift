internal import StrandlineProtocol

/// References that rows and writes named before a commit changed them, and how it is known that they may be gone.
///
/// Gathered while a commit is made, and settled once the rows are what they will be.
struct FormerReferences: Sendable {
  private struct Former {
    /// The row that named it.
    var name: RowName
    /// Whether the server has said so; see ``ReferenceSettlement``.
    var isKnownFromServer: Bool
  }

  private var byReference: [AttachmentReference: Former] = [:]

  /// Notes what the row names now.
  mutating func note(rowAt name: RowName, fromServer: Bool, _ state: inout SyncState) throws {
    let table = state.tables.known(name.table)
    guard table.hasAttachments, let columns = try state.row(name)?.columns else { return }
    note(columns, of: table, name, fromServer: fromServer)
  }

  /// Notes what the rows in front of these writes named: for laying them over a new base makes that forgotten.
  mutating func note(preImagesOf entries: [OutboxEntry], fromServer: (RowName) -> Bool, _ tables: ClientTables) {
    for entry in entries {
      note(entry.preImage, of: tables.known(entry.name.table), entry.name, fromServer: fromServer(entry.name))
    }
  }

  /// Notes what a write took away that the server has applied.
  mutating func note(replacedBy entry: OutboxEntry, _ tables: ClientTables) {
    let replaced = entry.preImage?.filter { column, _ in
      entry.operation == .delete || entry.columns[column] != nil || entry.transforms?[column] != nil
    }
    note(replaced, of: tables.known(entry.name.table), entry.name, fromServer: true)
  }

  /// Notes what a write brought that did not stand, and what the row named before it.
  ///
  /// - Parameter fromServer: whether the server has refused the write, rather than the client given it up.
  mutating func note(introducedBy entry: OutboxEntry, fromServer: Bool, _ tables: ClientTables) {
    let table = tables.known(entry.name.table)
    let before = Set(table.references(in: entry.preImage).map(\.reference))
    for reference in table.references(in: entry.columns).map(\.reference) where !before.contains(reference) {
      note(reference, entry.name, fromServer: fromServer)
    }
    note(entry.preImage, of: table, entry.name, fromServer: false)
  }

  private mutating func note(
    _ columns: [String: Value]?, of table: ClientTable, _ name: RowName, fromServer: Bool
  ) {
    for reference in table.references(in: columns).map(\.reference) { note(reference, name, fromServer: fromServer) }
  }

  private mutating func note(_ reference: AttachmentReference, _ name: RowName, fromServer: Bool) {
    var former = byReference[reference] ?? Former(name: name, isKnownFromServer: false)
    former.isKnownFromServer = former.isKnownFromServer || fromServer
    byReference[reference] = former
  }

  /// Marks the files of those references that no row and no queued write names any more.
  func settle(now: Int64, _ state: inout SyncState) throws {
    var gone: Set<AttachmentReference> = []
    // Mostly the row still names it, and nothing has to be searched.
    for (reference, former) in byReference where try !state.names(reference, at: former.name) { gone.insert(reference) }
    gone.subtract(try state.named(among: gone))
    if gone.isEmpty { return }
    let owner = try state.metaText(.ownerSubject)
    for reference in gone.sorted() {
      guard var file = try state.attachment(reference.text), let former = byReference[reference] else { continue }
      let settlement = ReferenceSettlement(
        file.state, isKnownFromServer: former.isKnownFromServer, referenceOwner: reference.owner, storeOwner: owner)
      switch settlement {
      case .orphan: file.orphan()
      case .evict: file.evict()
      case .keep: continue
      }
      try state.put(file, now: now)
    }
  }
}

extension SyncState {
  fileprivate mutating func names(_ reference: AttachmentReference, at name: RowName) throws -> Bool {
    let table = tables.known(name.table)
    return table.references(in: try row(name)?.columns).contains { $0.reference == reference }
  }

  /// Which of these are named by any row, or by a queued write or the row in front of one.
  ///
  /// - Complexity: none for no references; otherwise one look at all rows of tables with attachments, and at the queue.
  mutating func named(among references: Set<AttachmentReference>) throws -> Set<AttachmentReference> {
    if references.isEmpty { return [] }
    var named: Set<AttachmentReference> = []
    for table in tables.all where table.hasAttachments {
      var reading = store.query(table.name)
      reading.plan.columns = table.attachmentColumns
      let rows = try reading.rows()
      while let row = try rows.next() {
        for (_, cell) in row {
          if let reference = AttachmentReference(cell), references.contains(reference) { named.insert(reference) }
        }
      }
    }
    if try outboxDepth() == 0 { return named }
    let queue = try store.query(StateTable.outbox).rows()
    while let row = try queue.next() {
      let entry = try OutboxEntry(row)
      for columns in [entry.columns, entry.preImage ?? [:]] {
        for cell in columns.values {
          if let reference = AttachmentReference(cell), references.contains(reference) { named.insert(reference) }
        }
      }
    }
    return named
  }
}
