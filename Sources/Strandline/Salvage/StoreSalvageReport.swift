public import StrandlineLog

/// What ``StoreSalvage`` kept of a damaged store and what it could not keep.
public struct StoreSalvageReport: Hashable, Sendable {
  /// Of the log, and which layers were kept.
  public var log: SalvageReport
  /// One for each layer of the root, top first.
  public var layers: [SavedLayer] = []
  /// Tables whose secondary indexes were made anew, because entries or rows may be missing.
  public var reindexedTables: [String] = []
  /// Tables and columns that rows need and that lost their definitions, by number.
  public var lostDefinitions: [LostDefinition] = []
  /// Why the new store was not looked through and its indexes were not made anew, as it should have been; nil if it was, or need not.
  public var unsettled: StoreError?

  /// Nothing is missing.
  public var isComplete: Bool {
    var rest = log
    rest.lostLayers = []
    rest.damagedLayers = []
    return rest.isComplete && unsettled == nil && lostDefinitions.isEmpty && layers.allSatisfy(\.isComplete)
  }

  init(log: SalvageReport) { self.log = log }
}

/// One layer of a damaged store.
public struct SavedLayer: Hashable, Sendable {
  public enum Outcome: String, Hashable, Sendable {
    /// It verified and was copied.
    case whole
    /// It is damaged; what verified was written into a new one.
    case rebuilt
    /// Nothing of it could be used.
    case lost
  }

  /// Absolute path in the damaged store.
  public var file: String
  public var outcome: Outcome
  /// Commits whose facts the layer holds. Rows that they wrote last are missing, or older than they were, where versions were lost.
  public var commits: ClosedRange<SequenceNumber>
  public var versionCount: Int
  /// Whether the log still held all of those commits: then the new store has everything from there.
  public var isInLog: Bool
  public var damage: [CorruptionReport]
  /// What could not be read of the file.
  public var lost: [LostKeys]

  /// Nothing that the layer held is missing in the new store.
  public var isComplete: Bool { isInLog || outcome != .lost && lost.isEmpty }
}

/// Versions of keys that are lost together.
public struct LostKeys: Hashable, Sendable {
  /// `row`, `index`, `stream`, …; nil where nothing tells.
  public var family: String?
  /// Name of the table, or its number where the name is lost too.
  public var table: String?
  /// They come behind this key of the table; nil: from its beginning, or no row's key.
  public var after: String?
  /// They come in front of this key of the table; nil: to its end, or no row's key.
  public var before: String?
  /// Whether more of the layer may be lost behind them, of which nobody can tell what it was.
  public var isOpenEnded: Bool
  /// Bytes of the damaged file that held them.
  public var byteCount: Int
}
