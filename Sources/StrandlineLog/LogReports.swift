/// What a reset did.
public struct ResetReport: Hashable, Sendable {
  /// The epoch that began.
  public var epoch: UInt64
  /// Of the RESET.
  public var position: Position
  /// Directory of the kept copy, absolute; nil if none was asked for.
  public var keptCopy: String?
  /// Segments in front of the reset, removed in the background.
  public var voidedSegmentCount: Int
  /// Bytes of log that the reset voided.
  public var voidedByteCount: UInt64
}

/// What a backup wrote.
public struct BackupReport: Hashable, Sendable {
  /// Directory of the copy, absolute.
  public var path: String
  /// The last commit in it.
  public var position: Position
  public var byteCount: Int64
  public var segmentCount: Int
}
