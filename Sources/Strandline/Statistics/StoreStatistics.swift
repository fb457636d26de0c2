@_spi(Engine) public import StrandlineLog

/// What a store consists of, as of one moment.
public struct StoreStatistics: Sendable {
  /// One layer of the state.
  public struct Layer: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
      /// Where commits go.
      case memory
      /// Full, being written out.
      case frozen
      case disk
    }

    public var kind: Kind
    /// Name in the store's directory; nil for one in memory.
    public var file: String?
    /// How often its content has grown fourfold since it left memory.
    public var level: Int
    /// Commits that it covers; nil: none.
    public var sequences: ClosedRange<SequenceNumber>?
    public var byteCount: UInt64
    public var versionCount: UInt64
    public var deleteCount: UInt64
  }

  /// What all layers hold of one family, of one table where it has tables.
  public struct Content: Hashable, Sendable {
    /// `row`, `index`, `stream`, `catalog`, …
    public var family: String
    /// Nil where the family has no tables, or the table's definition is gone.
    public var table: String?
    /// Versions, deletes among them.
    public var versionCount: UInt64 = 0
    public var deleteCount: UInt64 = 0
    /// Keys and values of all versions.
    public var byteCount: UInt64 = 0
    /// What a view of now shows of them; nil unless it was counted.
    public var live: Live?

    public struct Live: Hashable, Sendable {
      public var count: UInt64 = 0
      /// Keys and values.
      public var byteCount: UInt64 = 0
    }
  }

  /// The cache of decoded blocks, since the store was opened.
  public struct Cache: Hashable, Sendable {
    public var byteCountMax: Int
    public var byteCount: Int
    public var hitCount: UInt64
    public var missCount: UInt64
    public var evictedCount: UInt64
  }

  public var epoch: UInt64
  /// The newest acknowledged commit.
  public var sequence: SequenceNumber
  /// Top first.
  public var layers: [Layer]
  /// By family and table.
  public var contents: [Content]
  public var cache: Cache
  /// The oldest commit right behind which ``Store/view(at:)`` can look.
  public var oldestView: SequenceNumber
  /// The first commit that the log still holds.
  public var oldestCommit: SequenceNumber
  /// Segments of the log, and their bytes up to what is durable.
  public var segmentCount: Int
  public var logByteCount: UInt64
  /// Bytes on disk that only held views of this process keep.
  public var pinnedByteCount: UInt64
  /// How writers were held up, since the store was opened.
  public var waits: WriteWaits
  public var log: LogStatus
}

extension Store {
  /// What the store consists of.
  ///
  /// - Parameters:
  ///   - countsLive: whether to count what a view of now shows, which reads everything.
  ///   - progress: told the number of versions that were looked at, from time to time.
  /// - Throws: ``StoreError/closed``; ``StoreError/corrupt(_:)`` or ``StoreError/ioFailed(_:)`` where something cannot be read.
  /// - Complexity: O(versions in memory), and with `countsLive` a scan of everything.
  @available(*, noasync, message: "may read everything")
  public func statistics(
    countsLive: Bool = false, progress: (UInt64) -> Void = { _ in }
  ) throws(StoreError) -> StoreStatistics {
    let snapshot = try engine.snapshot()
    var contents = ContentCounter(tables: snapshot.state.tables)
    var layers: [StoreStatistics.Layer] = []
    let stack = snapshot.state.stack
    for (place, memory) in stack.memory.enumerated() {
      let counted = contents.count(memory)
      layers.append(
        StoreStatistics.Layer(
          kind: place == 0 ? .memory : .frozen, file: nil, level: 0, sequences: counted.sequences,
          byteCount: UInt64(memory.byteCount), versionCount: counted.versions, deleteCount: counted.deletes))
    }
    for disk in stack.disk {
      contents.count(disk)
      layers.append(
        StoreStatistics.Layer(
          kind: .disk, file: disk.entry.fileName, level: Int(disk.entry.level),
          sequences: disk.entry.firstSequence...disk.entry.lastSequence, byteCount: disk.entry.byteCount,
          versionCount: UInt64(disk.versionCount), deleteCount: UInt64(disk.deleteCount)))
    }
    if countsLive { try contents.countLive(snapshot, progress) }
    let extents = engine.log.segmentExtents
    let status = engine.log.status
    return StoreStatistics(
      epoch: stack.epoch, sequence: SequenceNumber(snapshot.sequence), layers: layers, contents: contents.sorted,
      cache: cacheStatistics, oldestView: max(SequenceNumber(stack.horizon), status.resetSequence),
      oldestCommit: max(extents.first?.first ?? .zero, status.resetSequence), segmentCount: extents.count,
      logByteCount: extents.reduce(0) { $0 + $1.byteCount }, pinnedByteCount: engine.pinnedByteCount,
      waits: engine.waits.withLock { $0 }, log: status)
  }

  private var cacheStatistics: StoreStatistics.Cache {
    let cache = engine.cache.statistics
    return StoreStatistics.Cache(
      byteCountMax: cache.byteCountMax, byteCount: cache.byteCount, hitCount: cache.hitCount,
      missCount: cache.missCount,
      evictedCount: cache.evictedCount)
  }
}
