/// How often and for how long writers were held up by compaction, since the store was opened.
public struct WriteWaits: Hashable, Sendable {
  /// Commits that were slowed because compaction was behind.
  public var slowedCount: UInt64 = 0
  public var slowedNanoseconds: UInt64 = 0
  /// Commits that waited because the memory layer was full and the one in front of it was still being written.
  public var stalledCount: UInt64 = 0
  public var stalledNanoseconds: UInt64 = 0
  /// Writers that wait at this moment: for compaction, or for a reset that is under way.
  public var waitingCount = 0
  /// The longest of all.
  public var longestNanoseconds: UInt64 = 0

  mutating func noteSlowed(_ nanoseconds: UInt64) {
    slowedCount += 1
    slowedNanoseconds &+= nanoseconds
    longestNanoseconds = max(longestNanoseconds, nanoseconds)
  }

  mutating func noteStalled(_ nanoseconds: UInt64) {
    stalledCount += 1
    stalledNanoseconds &+= nanoseconds
    longestNanoseconds = max(longestNanoseconds, nanoseconds)
  }
}
