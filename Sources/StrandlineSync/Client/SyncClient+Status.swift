internal import StrandlineProtocol

/// How far a client has come.
public struct Checkpoint: Hashable, Sendable {
  /// `"0"` before the first pull has closed; moves only when one closes.
  public var cursor: String
  /// Why no requests are made; nil: they are.
  public var softBlockReason: SoftBlockReason?

  public init(cursor: String, softBlockReason: SoftBlockReason?) {
    self.cursor = cursor
    self.softBlockReason = softBlockReason
  }

  public var isSoftBlocked: Bool { softBlockReason != nil }
}

/// A client's queue and place, as of one moment.
public struct SyncInspection: Hashable, Sendable {
  /// A write that waits for an answer.
  public struct QueuedMutation: Hashable, Sendable {
    public var mutationID: String
    public var table: String
    /// The key's text.
    public var pk: String
    /// ``MutationOperation``'s word; as it stands, should it be none.
    public var operation: String
    /// Nil outside of atomic batches.
    public var batchID: String?
    /// Milliseconds since 1970.
    public var createdAt: Int64
  }

  /// Entries that ``head`` shows at most.
  public static let headCountMax = 50

  /// The front of the queue.
  public var head: [QueuedMutation]
  public var depth: Int
  /// The newest applied mutation; nil before the first.
  public var lastMutationID: String?
  public var cursor: String
  /// Nil where the store could not keep one yet.
  public var clientID: String?
  /// The user that the store belongs to; nil: nobody yet.
  public var owner: String?
}

extension SyncClient {
  /// Local writes that wait for the server's answer.
  public func outboxDepth() async throws -> Int { try read { try $0.outboxDepth() } }

  public func checkpoint() async throws -> Checkpoint {
    try read { view in
      Checkpoint(cursor: try view.metaText(.cursor) ?? "0", softBlockReason: try view.softBlock())
    }
  }

  /// Makes any text the cursor that the next pull goes on from; for tests and for moving to this client from another. Rows stay.
  public func seedCheckpoint(_ cursor: String) async throws {
    try ensureOpen()
    try refuseInCallback("seedCheckpoint")
    try await networkGate.pass {
      try await commit(.cursorSeeded) { state in try state.setMeta(.cursor, .string(cursor)) }
    }
  }

  public func inspect() async throws -> SyncInspection {
    try read { view in
      let head = try view.query(StateTable.outbox).limit(SyncInspection.headCountMax).all().map { row in
        let cells = StateCells(row, "an entry of the outbox")
        return SyncInspection.QueuedMutation(
          mutationID: try cells.text("mutation_id"), table: try cells.text("table"), pk: try cells.text("pk"),
          operation: try cells.text("op"), batchID: try cells.textIfPresent("batch_id"),
          createdAt: try cells.number("created_at"))
      }
      return SyncInspection(
        head: head, depth: try view.outboxDepth(), lastMutationID: try view.metaText(.lastMutationID),
        cursor: try view.metaText(.cursor) ?? "0", clientID: try view.metaText(.clientID),
        owner: try view.metaText(.ownerSubject))
    }
  }
}
