/// What ``Salvage`` kept of a damaged store and what it could not keep.
public struct SalvageReport: Hashable, Sendable {
  /// Absolute.
  public var source: String
  public var target: String
  /// The epoch that was saved.
  public var epoch: UInt64
  /// The highest epoch that any header, RESET or root of the source speaks of.
  public var highestEpoch: UInt64
  /// META of the source could be read and its layers and anchor were used.
  public var usedRoot = false
  /// The RESET that began the epoch was kept, or lies in front of what the source kept; false if it was lost with the records it
  /// carried.
  public var hasReset = true

  public var commitCount = 0
  public var recordCount = 0
  /// Bytes of the new store's segments.
  public var byteCount: Int64 = 0
  /// The first and last commit that were kept.
  public var firstSequence: SequenceNumber?
  public var lastSequence: SequenceNumber?

  /// Numbers that were lost, in order; GAP frames stand for them. At most 1,000 stretches are listed.
  public var gaps: [GapPayload] = []
  public var gapCount = 0
  public var lostSequenceCount: UInt64 = 0
  /// Commits of which something was found, but not all.
  public var brokenCommitCount = 0
  /// Whole commits of epochs that a reset had ended. Left behind.
  public var olderCommitCount = 0
  /// Bytes in which no frame could be read.
  public var unreadableByteCount: Int64 = 0
  /// The end of the log, if a sync had confirmed more than was found there; how many commits stood in it nobody can tell.
  public var lostEnd: LostEnd?

  /// Segment files that were read.
  public var segments: [String] = []
  /// Segment files that could not be used, and why.
  public var unusable: [Unusable] = []
  /// Ordinals in the chain for which there is no usable file.
  public var missingOrdinals: [ClosedRange<UInt64>] = []
  /// Layer files of which everything was kept.
  public var layers: [String] = []
  /// Layer files that are damaged and of which a part was kept.
  public var damagedLayers: [String] = []
  /// Layer files that the state needs and of which nothing could be kept: missing, of another size, or damaged throughout.
  public var lostLayers: [String] = []

  /// Bytes at the end of the last segment that a sync had confirmed and in which nothing was found.
  public struct LostEnd: Hashable, Sendable {
    public var file: String
    /// Behind the last frame that was found, or where the file ends now.
    public var offset: Int64
    /// As far as a sync had confirmed the file.
    public var confirmedEnd: Int64
  }

  public struct Unusable: Hashable, Sendable {
    public var file: String
    public var reason: String
  }

  /// Nothing is missing.
  public var isComplete: Bool {
    gapCount == 0 && lostLayers.isEmpty && damagedLayers.isEmpty && missingOrdinals.isEmpty && unusable.isEmpty
      && hasReset
      && brokenCommitCount == 0 && lostEnd == nil
  }

  init(source: String, target: String, epoch: UInt64, highestEpoch: UInt64) {
    self.source = source
    self.target = target
    self.epoch = epoch
    self.highestEpoch = highestEpoch
  }

  mutating func add(_ gap: GapPayload) {
    gapCount += 1
    lostSequenceCount += gap.last.rawValue - gap.first.rawValue + 1
    if gaps.count < 1000 { gaps.append(gap) }
  }
}
