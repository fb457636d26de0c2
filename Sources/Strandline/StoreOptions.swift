public import StrandlineLog

/// How a store is opened and run. Checked at open; a value outside its range is ``StoreError/invalidOption(name:reason:)``.
public struct StoreOptions: Sendable {
  /// How long old versions of rows, and the commits behind them, can be read: by ``Store/view(at:)``, ``Store/history(of:in:)`` and
  /// ``Store/changes(since:)``.
  ///
  /// What is older goes with the next compaction that meets it.
  public enum History: Hashable, Sendable {
    /// Nothing beyond what the memory layer happens to hold.
    case none
    /// The newest this many commits; 1 or more.
    case commits(UInt64)
    /// Commits younger than this, by the clock of the machine that wrote them; 1 s or more.
    case age(Duration)
    /// As many of the newest commits as fit in this many bytes of log, whole segments at a time; 1 MiB or more.
    case bytes(UInt64)
  }

  /// How everything is read again and again, to find what has rotted before it is needed.
  public struct Scrub: Hashable, Sendable {
    /// Bytes read in a second at most, on average; 4 KiB or more. More ends a round sooner and takes more of the device.
    public var bytesPerSecond: Int
    /// From the end of a round to the beginning of the next; 1 s or more. The first begins with the open.
    public var interval: Duration

    public init(bytesPerSecond: Int = 4 << 20, interval: Duration = .seconds(86_400)) {
      self.bytesPerSecond = bytesPerSecond
      self.interval = interval
    }
  }

  /// Default `.none`: the least space.
  public var history: History = .none
  /// Bytes of the memory layer at which it is written out. Bounds memory (twice this, and what one commit adds), the log that an open
  /// replays, and so the time to open. Default 32 MiB, at least 64 KiB, at most 16 GiB. More means fewer, larger merges.
  public var memoryLayerByteCountMax = 32 << 20
  /// Bytes of decoded blocks kept in memory. Default 64 MiB, at least 1 MiB, at most 1 TiB.
  public var cacheByteCountMax = 64 << 20
  /// Durability of a write that names none. Default `.synced`.
  public var durability: Durability = .synced
  /// Whether layers are written out and merged as they grow. Default on; off, only ``Store/compact()`` does it, and memory grows.
  public var compactsInBackground = true
  /// Whether everything is read in the background, on a thread of its own. Default nil: only ``Store/scrub(bytesPerSecond:progress:)`` and
  /// ``Store/verify(progress:)`` do it. Findings go to the observer. Nothing where ``LogOptions/helpers`` is `.callerRuns`.
  public var scrub: Scrub?
  /// What happens in the store that an operator may want to see.
  public var observer: (any StoreObserver)?
  /// Of the log below. Its observer is the store's business and is called besides.
  public var log = LogOptions()

  /// The defaults.
  public init() {}

  func checked() throws(StoreError) -> StoreOptions {
    func require(_ isFine: Bool, _ name: String, _ range: String) throws(StoreError) {
      guard isFine else { throw .invalidOption(name: name, reason: "must be \(range)") }
    }
    try require(
      (64 << 10...16 << 30).contains(memoryLayerByteCountMax), "memoryLayerByteCountMax", "64 KiB to 16 GiB")
    try require((1 << 20...1 << 40).contains(cacheByteCountMax), "cacheByteCountMax", "1 MiB to 1 TiB")
    if let scrub {
      try require(scrub.bytesPerSecond >= 4 << 10, "scrub.bytesPerSecond", "4 KiB or more")
      try require(scrub.interval >= .seconds(1), "scrub.interval", "1 s or more")
    }
    switch history {
    case .none: break
    case .commits(let count): try require(count >= 1, "history", "1 commit or more")
    case .age(let age): try require(age >= .seconds(1), "history", "1 s or more")
    case .bytes(let count): try require(count >= 1 << 20, "history", "1 MiB or more")
    }
    return self
  }
}

/// Takes note of what a store does, for logs and metrics. Called on any thread; must return soon and must not call the store back.
public protocol StoreObserver: Sendable {
  func note(_ event: StoreEvent)
}

/// Something an operator may want to see, at the level of swift-log it would have.
@nonexhaustive
public enum StoreEvent: Hashable, Sendable {
  /// Of the log below: syncs, cuts, full disks, poison.
  case log(LogEvent)
  /// A layer was written out or layers were merged.
  case compacted(CompactionStep)
  /// A compaction failed; the state is as before, and it is tried again.
  case compactionFailed(StoreError)
  /// A commit was held up because writers are faster than compaction.
  case slowed(nanoseconds: UInt64)
  /// A commit waited because the memory layer was full and the one in front of it was still being written.
  case stalled(nanoseconds: UInt64)
  /// A walk over everything has found damage, or a read that fails. Nothing was changed.
  case scrubFound(ScrubFinding)
  /// A walk over everything has ended.
  case scrubbed(ScrubReport)
  /// Everything was voided.
  case reset(epoch: UInt64)
}

/// What one step of compaction did.
public struct CompactionStep: Hashable, Sendable {
  /// Layers that went in; 1 and from memory, or merged ones.
  public var inputLayerCount: Int
  public var isFromMemory: Bool
  public var inputByteCount: UInt64
  public var outputByteCount: UInt64
  public var versionCount: UInt64
  public var nanoseconds: UInt64
}
