/// How a log stands, as of one moment.
public struct LogStatus: Hashable, Sendable {
  public var identifier: StoreIdentifier
  public var incarnation: UInt64
  public var epoch: UInt64
  /// The last acknowledged commit.
  public var last: Position
  /// The last commit that a sync has covered; what readers, tails and copies see.
  public var durable: Position
  /// Of the last reset in the log; zero if none.
  public var resetSequence: SequenceNumber
  public var firstLiveOrdinal: UInt64
  public var lastOrdinal: UInt64
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
