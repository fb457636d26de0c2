/// What opening a log found and did.
public struct OpenReport: Hashable, Sendable {
  /// The store did not exist and was made.
  public var isNew = false
  /// The store was closed cleanly before; its tail was taken as it is.
  public var wasClosedCleanly = false
  public var epoch: UInt64 = 0
  /// The last commit that was recovered.
  public var last: Position = .start
  /// Commits, records and bytes that were replayed.
  public var commitCount = 0
  public var recordCount = 0
  public var storedByteCount: Int64 = 0
  public var rawByteCount: Int64 = 0
  /// What was cut from the end: written, never acknowledged as synced.
  public var cut: Cut?
  /// A reset whose last steps had not been taken, and were now.
  public var finishedReset = false
  /// Files of ours that nothing needs any more and that were removed.
  public var removed: [String] = []
  /// Names in the directory that are not ours. Left alone.
  public var unknown: [String] = []
  /// Read-only opens only: the damage behind which nothing was delivered.
  public var damage: CorruptionReport?
  public var warnings: [LogEvent] = []
  /// From the call to the return, replay included.
  public var nanoseconds: UInt64 = 0

  /// A tail that was cut.
  public struct Cut: Hashable, Sendable {
    /// File name of the segment.
    public var file: String
    /// Where the file ends now.
    public var offset: Int64
    /// What was cut, without the zeros behind it.
    public var byteCount: Int64
    /// Highest sequence number seen in it; zero if nothing in it could be read.
    public var lastSequence: SequenceNumber

    public init(file: String, offset: Int64, byteCount: Int64, lastSequence: SequenceNumber) {
      self.file = file
      self.offset = offset
      self.byteCount = byteCount
      self.lastSequence = lastSequence
    }
  }
}
