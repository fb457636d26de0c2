@_spi(Engine) internal import Strandline
public import StrandlineProtocol

/// A client's state at one moment, for the callbacks of a client reset. Nothing can be changed through it.
///
/// Costs nothing until it is read. While it is held the space of what was replaced is not given back.
public struct ClientView: Sendable {
  private let view: ReadView
  private let clientTables: ClientTables
  /// Of a view of a kept copy: what keeps it open.
  private let store: Store?

  init(_ view: ReadView, _ tables: ClientTables, store: Store? = nil) {
    self.view = view
    clientTables = tables
    self.store = store
  }

  /// The newest commit that the view shows.
  public var sequence: SequenceNumber { view.sequence }

  /// The configured tables, by name.
  public var tables: [String] { clientTables.all.map(\.name) }

  /// As ``SyncClient/query(_:_:includeDeleted:)``.
  public func query(_ table: String, _ plan: QueryPlan, includeDeleted: Bool = false) throws -> SelectAnswer {
    try SyncView(view, clientTables).query(table, plan, includeDeleted: includeDeleted)
  }

  /// Local writes that the server had not answered, in the order of the queue.
  public func pendingMutations() throws -> [PendingMutation] { try reading { try PendingMutation.all(in: $0) } }

  public func outboxDepth() throws -> Int { try reading { try $0.outboxDepth() } }

  /// Local writes that did not stand, the newest first.
  public func rejections() throws -> [Rejection] {
    try reading { view in
      try view.query(StateTable.rejections).order(by: "at", ascending: false).order(by: "number", ascending: false)
        .all().map { (row) throws(SyncError) in try Rejection(row) }
    }
  }

  /// Local writes that were given up, the oldest first.
  public func deadLetters() throws -> [DeadLetter] {
    try reading { view in
      try view.query(StateTable.deadLetters).all().map { (row) throws(SyncError) in try DeadLetter(row) }
    }
  }

  private func reading<Result>(_ body: (ReadView) throws -> Result) throws -> Result {
    do { return try body(view) } catch { throw SyncError.thrown(for: error) }
  }
}

/// A local write that waits for the server's answer.
public struct PendingMutation: Hashable, Sendable {
  public var mutationID: String
  public var table: String
  /// The key's text.
  public var pk: String
  public var operation: MutationOperation
  public var columns: [String: Value]
  public var transforms: [String: Value]?
  public var precondition: [String: Value]?
  /// Nil outside of atomic batches.
  public var batchID: String?
  public var hlc: String?
  /// Milliseconds since 1970.
  public var createdAt: Int64

  static func all(in view: ReadView) throws -> [PendingMutation] {
    try view.query(StateTable.outbox).all().map { (row) throws(SyncError) in
      let entry = try OutboxEntry(row)
      return PendingMutation(
        mutationID: entry.mutationID, table: entry.name.table, pk: entry.name.pk, operation: entry.operation,
        columns: entry.columns, transforms: entry.transforms, precondition: entry.precondition, batchID: entry.batchID,
        hlc: entry.hlc, createdAt: entry.createdAt)
    }
  }
}
