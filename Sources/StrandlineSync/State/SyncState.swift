internal import StrandlineProtocol

/// What a client knows, inside one transaction of its store: what the rules read and write.
///
/// Knows no clock, no chance and no network. What is told to the application once the commit is made is gathered in ``events``.
struct SyncState: ~Copyable {
  var store: Transaction
  let tables: ClientTables
  let queued: QueuedRows
  /// What this commit has taken out of the queue.
  var dequeued: [QueuedRows.Entry] = []
  /// Whether ``queued`` has to be read anew if this commit fails.
  var touchesQueue = false
  var writer = RowWriter()
  /// To be raised behind the commit, in this order.
  var events: [SyncEvent] = []
  /// To be told to the error handler behind the events.
  private var blocks: [SyncError] = []
  private var undone: [RejectedWrite] = []
  /// Whether the soft block may be another one.
  var changesBlock = false
  /// Files that a refused write named; see ``guardAgainstResurrection(_:at:)``.
  var refusedReferences: [String] = []
  /// Rows that this commit touched so far; raised with ``raiseLocalChanged()``.
  private(set) var touched = LocalChanges()

  init(_ store: consuming Transaction, _ tables: ClientTables, _ queued: QueuedRows) {
    self.store = store
    self.tables = tables
    self.queued = queued
  }

  /// Runs `body` on the state inside a transaction.
  ///
  /// - Parameter queued: of the store, where one is kept.
  static func with<Result>(
    _ transaction: inout Transaction, _ tables: ClientTables, _ queued: QueuedRows = QueuedRows(),
    _ body: (inout SyncState) throws -> Result
  ) throws -> Result {
    var state = SyncState(transaction, tables, queued)
    do {
      let result = try body(&state)
      transaction = state.intoTransaction()
      return result
    } catch {
      transaction = state.intoTransaction()
      throw error
    }
  }

  private consuming func intoTransaction() -> Transaction { store }

  /// What the error handler is told behind the events: blocks, and all that was undone as one.
  var errors: [SyncError] { blocks + (undone.isEmpty ? [] : [.rejected(undone)]) }

  mutating func tell(_ block: SyncError) { blocks.append(block) }

  /// Tells of a write that did not stand.
  mutating func tell(undone entry: OutboxEntry, _ kind: Rejection.Kind, reason: String) {
    undone.append(
      RejectedWrite(
        mutationID: entry.mutationID, table: entry.name.table, pk: entry.name.pk, kind: kind, reason: reason,
        columns: entry.journalledColumns(tables)))
  }

  mutating func touch(_ name: RowName) { touched.insert(name) }

  /// Says that rows changed: those touched since the last time, which may be none.
  mutating func raiseLocalChanged() {
    events.append(.localChanged(touched))
    touched = LocalChanges()
  }
}
