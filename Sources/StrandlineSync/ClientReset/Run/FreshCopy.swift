@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// The server's snapshot, pulled from the start into a store of its own inside the client's.
///
/// Every page is one commit of it, with the place to go on from, so that a crash loses nothing that has come.
struct FreshCopy: Sendable {
  /// Why what came cannot be used.
  enum Defect: Error {
    /// It does not fit this client's tables.
    case unfit(String)
    /// It is no page, or of another history: the copy has to begin again.
    case spoiled(String)
    /// The server breaks the protocol.
    case malformed(String)
  }

  /// How far it has come.
  struct Progress: Hashable, Sendable {
    var cursor = "0"
    var isComplete = false
    var pages = 0
    var since: Int64?
    var anchor: String?
    var unknownTables: [String] = []
    var isRecoveryForbidden = false
  }

  let store: Store
  let tables: ClientTables

  /// Opens the staging store of an attempt, and makes it where there is none. What cannot be opened is removed and made anew.
  static func open(_ id: String, in client: SyncClient) async throws -> FreshCopy {
    let main = client.store
    var options = client.configuration.storeOptions
    options.history = .none
    options.scrub = nil
    options.observer = nil
    options.log.createsIfMissing = true
    let schema = Schema(tables: StateTable.schemas + client.tables.all.map(\.schema) + (try formerTables(client)))
    let path = main.stagingPath(id)
    do {
      return FreshCopy(store: try await Store.open(at: path, schema: schema, options: options), tables: client.tables)
    } catch let error as StoreError {
      switch error {
      case .corrupt, .unsupportedFormat, .schemaMismatch, .undecodable, .noStore:
        try await main.removeInner("stage-\(id)")
        return FreshCopy(store: try await Store.open(at: path, schema: schema, options: options), tables: client.tables)
      default: throw error
      }
    }
  }

  /// Tables that an earlier configuration named: what is queued for them is still sent and undone.
  private static func formerTables(_ client: SyncClient) throws -> [TableSchema] {
    try client.store.view().tableNames.filter { !$0.hasPrefix(StateTable.prefix) && client.tables.find($0) == nil }
      .map { ClientTable($0, TableConfiguration()).schema }
  }

  func progress() throws -> Progress {
    let view = try store.view()
    var progress = Progress()
    progress.isComplete = try view.meta(.isFreshComplete) == .bool(true)
    progress.cursor = try view.metaText(progress.isComplete ? .cursor : .pageCursor) ?? "0"
    progress.pages = Int(try view.metaNumber(.freshPages) ?? 0)
    progress.since = try view.metaNumber(.freshSince)
    progress.anchor = try view.metaText(.historyAnchor)
    progress.isRecoveryForbidden = try view.meta(.isRecoveryForbidden) == .bool(true)
    if case .array(let names)? = try view.meta(.freshUnknownTables) {
      progress.unknownTables = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
    return progress
  }

  /// Takes a page.
  ///
  /// - Throws: ``Defect``, ``StoreError``; nothing of the page was taken then.
  func take(_ page: PullAnswer, _ notes: AnswerNotes, after progress: Progress, now: Int64) async throws {
    let anchor = notes.history.flatMap { HistoryAnchor($0) }
    if let found = anchor?.history, let first = progress.anchor.flatMap({ HistoryAnchor($0) })?.history, found != first
    {
      throw Defect.spoiled("the pages come from two histories of the server")
    }
    if page.hasMore, page.cursor == progress.cursor {
      throw Defect.malformed("the server answers the position \(page.cursor) with itself and says that there is more")
    }
    try check(page)
    do {
      try await store.write(cause: .pageStaged) { (transaction) throws in
        try SyncState.with(&transaction, tables) { state in
          var reset: ResetRows = []
          // What is named is settled by the switch.
          var references = PulledReferences()
          try PullCloser.apply(page, &reset, &references, &state)
          try state.setMeta(.freshPages, .int(Int64(progress.pages + 1)))
          if progress.since == nil { try state.setMeta(.freshSince, .int(now)) }
          if let anchor { try state.setMeta(.historyAnchor, .string(anchor.description)) }
          if notes.isRecoveryForbidden { try state.setMeta(.isRecoveryForbidden, true) }
          let unknown = Set(progress.unknownTables).union(notes.unknownTables)
          if unknown.count > progress.unknownTables.count {
            try state.setMeta(.freshUnknownTables, .array(unknown.sorted().map { .string($0) }))
          }
          if page.hasMore {
            try state.setMeta(.pageCursor, .string(page.cursor))
          } else {
            try state.setMeta(.pageCursor, nil)
            try state.setMeta(.cursor, .string(page.cursor))
            try state.setMeta(.isFreshComplete, true)
          }
        }
      }
    } catch let error as WriteError<any Error> {
      switch error {
      case .body(let error as StoreError): throw Self.defect(error) ?? error
      case .body(let error): throw error
      case .store(let error): throw Self.defect(error) ?? error
      }
    }
  }

  private static func defect(_ error: StoreError) -> (any Error)? {
    switch error {
    case .limitExceeded, .invalidKey, .typeMismatch: Defect.unfit("\(error)")
    default: nil
    }
  }

  /// Each row is named by its key columns, and decodes.
  private func check(_ page: PullAnswer) throws {
    for entry in page.rows {
      guard let table = tables.find(entry.table), !entry.isDeleted else { continue }
      do throws(SyncError) {
        try WireRow.check(entry.row, "a row of \(entry.table)")
      } catch {
        throw Defect.spoiled(error.message)
      }
      if entry.pk.utf8.count + table.name.utf8.count > KeySettlement.byteCountMax {
        throw Defect.unfit("table \(table.name): the key \(entry.pk.prefix(40))… is longer than the store can hold")
      }
      // A row without any key column is named by its pk alone, as a local insert without a key is.
      if table.loneKey != nil, table.key.allSatisfy({ entry.row[$0] == nil }) { continue }
      var components: [String] = []
      for column in table.key {
        guard let value = entry.row[column], let component = RowKey.component(RowKey.lowercasedUUID(value)) else {
          throw Defect.unfit("table \(table.name): the row \(entry.pk) has no key in column \(column)")
        }
        components.append(component)
      }
      let pk = RowKey.text(of: components)
      guard pk.utf8.elementsEqual(entry.pk.utf8) else {
        throw Defect.unfit(
          "table \(table.name): the row \(entry.pk) has the key \(pk) in \(table.key.joined(separator: ", "))")
      }
    }
  }

  /// Closes the store; what it holds stays.
  func close() async { try? await store.close() }
}
