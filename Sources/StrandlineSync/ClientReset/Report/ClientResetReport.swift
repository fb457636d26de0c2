internal import StrandlineProtocol

/// What a client reset did, or would do.
///
/// `entries.pending` is the sum of all others of ``Entries``. What is dropped is in the dead letters under the same ids, what is kept or
/// deferred is in the outbox.
public struct ClientResetReport: Hashable, Codable, Sendable {
  /// Why a write was dropped or deferred.
  public enum Reason: String, Hashable, Codable, Sendable, CaseIterable {
    case deletedOnServer, missingOnServer, deletedLocally, typeChangedOnServer, tableIsPullOnly, tooLarge
    /// Another member of its atomic batch was dropped.
    case batch
    case outOfScope, tableNotConfigured
  }

  /// A failure or a refusal on the way to the mode that was run in the end.
  public struct Fallback: Hashable, Codable, Sendable {
    public var mode: ClientResetMode.Name
    public var reason: ClientResetInfo.Reason
    public var message: String
  }

  /// Counts of queued writes by what became of them.
  public struct Entries: Hashable, Codable, Sendable {
    public var pending = 0
    public var kept = 0
    /// Of the kept: inserts that became updates.
    public var merged = 0
    public var settled = 0
    /// Of the settled: made void by a later write of this device.
    public var withdrawn = 0
    public var dropped = 0
    public var deferred = 0
    public var discarded = 0

    public init() {}
  }

  public struct Dropped: Hashable, Codable, Sendable {
    public var mutationID: String
    public var table: String
    /// The key's text.
    public var pk: String
    public var operation: String
    /// The column that is the cause, where one is.
    public var column: String?
    public var reason: Reason
    public var batchID: String?
    /// Of a member that fell with its batch: the member that was the cause.
    public var culprit: String?
  }

  public struct Deferred: Hashable, Codable, Sendable {
    public var mutationID: String
    public var table: String
    /// The key's text.
    public var pk: String
    public var reason: Reason
  }

  /// Counts of rows that read differently behind the switch.
  public struct Rows: Hashable, Codable, Sendable {
    public var added = 0
    public var changed = 0
    public var removed = 0
    /// Of the removed: with values in columns that are this device's own.
    public var localOnlyLost = 0

    public init() {}
    var isEmpty: Bool { added == 0 && changed == 0 && removed == 0 }
  }

  /// The store as it was.
  public struct Copy: Hashable, Codable, Sendable {
    /// Nil: there is none, see ``absence``.
    public var path: String?
    /// Why there is none.
    public var absence: String?
  }

  /// How a callback ended.
  public enum Callback: Hashable, Codable, Sendable {
    case none
    case running
    case returned
    case threw(String)
    case timedOut
    /// Two crashes fell into it.
    case gaveUp
  }

  /// Entries of ``dropped`` and of ``deferred`` at most.
  public static let entryCountMax = 1000

  public var attemptID: String
  public var demand: ClientResetDemand
  public var configuredMode: ClientResetMode.Name
  /// What was run in the end: recover, discard, or manual for an action.
  public var effectiveMode: ClientResetMode.Name
  public var didRecover: Bool { effectiveMode == .recover }
  public var isPreview = false
  public var fallbacks: [Fallback] = []
  /// Milliseconds since 1970, as ``switchedAt``.
  public var startedAt: Int64
  public var switchedAt: Int64 = 0
  /// For how long local writes had to wait, in nanoseconds.
  public var writersBlockedFor: UInt64 = 0
  /// Of the fresh copy, as ``bytesDownloaded``.
  public var pages = 0
  /// Bytes of the bodies that the pages came in, unpacked; of remotes that have none, 0.
  public var bytesDownloaded: Int64 = 0
  public var oldClientID: String?
  public var newClientID: String?
  public var oldAnchor: String?
  public var newAnchor: String?
  public var epoch: UInt64 = 0
  public var sequenceBefore: UInt64 = 0
  public var sequenceAfter: UInt64 = 0
  public var entries = Entries()
  public var entriesByTable: [String: Entries] = [:]
  /// In the order of the queue.
  public var dropped: [Dropped] = []
  public var droppedTruncated = false
  /// In the order of the queue.
  public var deferred: [Deferred] = []
  public var deferredTruncated = false
  /// Tables of an earlier configuration too, whose rows no reset brings back.
  public var rowsByTable: [String: Rows] = [:]
  /// Configured tables that had rows of the server before, and have none now.
  public var emptiedTables: [String] = []
  public var outboxDepth = 0
  public var keptCopy = Copy()
  /// Files of attachments that nothing names any more.
  public var strandedFiles: [String] = []
  public var beforeCallback: Callback = .none
  public var beforeCallCount = 0
  public var afterCallback: Callback = .none
  /// Calls that have begun, the present one among them; what a crash may have cut off counts.
  public var afterCallCount = 0

  init(
    attemptID: String, demand: ClientResetDemand, configuredMode: ClientResetMode.Name,
    effectiveMode: ClientResetMode.Name, startedAt: Int64
  ) {
    self.attemptID = attemptID
    self.demand = demand
    self.configuredMode = configuredMode
    self.effectiveMode = effectiveMode
    self.startedAt = startedAt
  }

  /// The same without keys and ids of rows, which may be another user's.
  var redacted: ClientResetReport {
    var report = self
    report.dropped = []
    report.droppedTruncated = !dropped.isEmpty
    report.deferred = []
    report.deferredTruncated = !deferred.isEmpty
    report.strandedFiles = []
    report.oldClientID = nil
    report.newClientID = nil
    return report
  }
}
