/// Where a server keeps its state.
///
/// The rules are elsewhere: a storage reads, and makes the changes that it is handed one durable commit.
public protocol ServerStorage: Sendable {
  /// Runs `body` on the acknowledged state of one moment.
  func read<Result>(
    _ body: (any ServerState) throws(ServerStorageFailure) -> Result
  ) async throws(ServerStorageFailure) -> Result

  /// Runs `body` on the newest state, alone among writers, and makes what it answers one commit; returns when that survives power loss.
  ///
  /// No changes, no commit. `body` may be run again from the start where a storage finds out late that it was not alone.
  func write<Result>(
    _ body: (any ServerState) throws(ServerStorageFailure) -> (changes: ServerChanges, result: Result)
  ) async throws(ServerStorageFailure) -> Result

  /// Makes the storage a new history: ``ServerState/historyID()`` answers another name from then on.
  func beginNewHistory() async throws(ServerStorageFailure)

  func close() async throws(ServerStorageFailure)
}

/// The state of one moment, to be asked while the closure runs that it was handed to.
public protocol ServerState {
  /// Names the history: 32 lower-case hex digits, other ones after a restored backup or a reset of the storage, never after a restart.
  func historyID() throws(ServerStorageFailure) -> String
  func counter() throws(ServerStorageFailure) -> ServerCounter
  func row(_ id: RowID) throws(ServerStorageFailure) -> ServerRow?
  /// All of one row, in no order.
  func tombstones(of id: RowID) throws(ServerStorageFailure) -> [ServerTombstone]
  func holds(_ grant: DeliveryGrant) throws(ServerStorageFailure) -> Bool
  func verdict(of mutationID: String) throws(ServerStorageFailure) -> RecordedVerdict?
  /// At most `count` entries of one kind with numbers from `number` on, ascending.
  ///
  /// - Parameter bucket: empty on a table without buckets.
  func feed(
    _ kind: FeedEntry.Kind, of table: String, bucket: String, from number: Int64, count: Int
  ) throws(ServerStorageFailure) -> [FeedEntry]
  /// The entries of a row that a write of this number won, in no order.
  func journal(of id: RowID, number: Int64) throws(ServerStorageFailure) -> [JournalEntry]
  /// The tag that was drawn with the commit whose last number this is; nil where it is not kept.
  func tag(at number: Int64) throws(ServerStorageFailure) -> UInt64?
  /// Whether the tag of a commit is kept that ended with a lower number. Tags are forgotten in the order of their numbers.
  func keepsTag(below number: Int64) throws(ServerStorageFailure) -> Bool
  func client(_ clientID: String) throws(ServerStorageFailure) -> RegisteredClient?
  /// What was recorded of a table; nil where nothing was.
  func table(_ name: String) throws(ServerStorageFailure) -> TableRecord?
  /// At most `count` tombstones of a table that are older than `time`, in no order; nil: any age.
  func tombstones(
    of table: String, before time: Int64?, count: Int
  ) throws(ServerStorageFailure) -> [ServerTombstone]
  /// At most `count` ids of verdicts that are older than `time`.
  func verdicts(before time: Int64, count: Int) throws(ServerStorageFailure) -> [String]
  /// At most `count` numbers of tags that are older than `time`, ascending.
  func tags(before time: Int64, count: Int) throws(ServerStorageFailure) -> [Int64]
}

/// What one commit changes. Each key at most once.
public struct ServerChanges: Sendable {
  /// Nil after: the row is gone. A change entry goes with its row.
  public struct RowChange: Sendable {
    public var id: RowID
    public var before: ServerRow?
    public var after: ServerRow?
  }

  /// One of the same row and bucket value takes the place of `replaced`.
  public struct TombstoneChange: Sendable {
    public var tombstone: ServerTombstone
    public var replaced: ServerTombstone?
  }

  public var rows: [RowChange] = []
  public var tombstones: [TombstoneChange] = []
  public var reaped: [ServerTombstone] = []
  public var grants: [DeliveryGrant] = []
  public var verdicts: [RecordedVerdict] = []
  public var forgottenVerdicts: [String] = []
  public var journal: [JournalEntry] = []
  /// Rows and numbers whose entries no page shows any more, because the row was written again or is gone.
  public var outdatedJournal: [(row: RowID, number: Int64)] = []
  public var forgottenTags: [Int64] = []
  public var clients: [RegisteredClient] = []
  public var tables: [TableRecord] = []
  /// Nil: it stays. A higher high mark comes with its tag.
  public var counter: ServerCounter?
  /// When the commit is made, milliseconds since 1970 in UTC.
  public var time: Int64

  public init(time: Int64) { self.time = time }

  public var isEmpty: Bool {
    rows.isEmpty && tombstones.isEmpty && reaped.isEmpty && grants.isEmpty && verdicts.isEmpty
      && forgottenVerdicts.isEmpty && journal.isEmpty && outdatedJournal.isEmpty && forgottenTags.isEmpty
      && clients.isEmpty && tables.isEmpty
      && counter == nil
  }
}

/// The storage could not do what was asked; nothing of it was done, unless `outcomeIsUnknown`.
public struct ServerStorageFailure: Error, Sendable, CustomStringConvertible {
  public var reason: String
  /// Whether the changes were too large for one commit.
  public var isTooLarge: Bool
  public var outcomeIsUnknown: Bool
  public var underlying: (any Error)?

  public init(
    _ reason: String, isTooLarge: Bool = false, outcomeIsUnknown: Bool = false, underlying: (any Error)? = nil
  ) {
    self.reason = reason
    self.isTooLarge = isTooLarge
    self.outcomeIsUnknown = outcomeIsUnknown
    self.underlying = underlying
  }

  public var description: String { reason }
}
