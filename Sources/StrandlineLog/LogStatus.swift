/// How a log stands, as of one moment.
public struct LogStatus: Hashable, Sendable {
  /// Drawn when the store was made; its copies have the same.
  public var identifier: StoreIdentifier
  /// Another in every copy.
  public var incarnation: UInt64
  /// Resets so far.
  public var epoch: UInt64
  /// The last acknowledged commit.
  public var last: Position
  /// The last commit that a sync has covered; what readers, tails and copies see.
  public var durable: Position
  /// Of the last reset in the log; zero if none.
  public var resetSequence: SequenceNumber
  /// Ordinal of the first segment that is needed.
  public var firstLiveOrdinal: UInt64
  /// Ordinal of the segment that is written to.
  public var lastOrdinal: UInt64
  /// As META names them, top first.
  public var layers: [LayerEntry]
  /// Set once a sync or write has failed: nothing more is written until the log is reopened.
  public var poison: IOFailure?
  /// Commits that are acknowledged as `.buffered` and that no sync has covered yet.
  public var bufferedCommitCount: Int
  /// Since the log was opened.
  public var counters: Counters

  public struct Counters: Hashable, Sendable {
    public var commits = 0
    public var groups = 0
    public var syncs = 0
    public var writtenByteCount: Int64 = 0
    /// Commits that had to wait for space ahead of the tail.
    public var waitsForSpace = 0
    public var rolls = 0
  }
}
