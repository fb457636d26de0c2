/// Why a commit was made: for people, auditing and consumers of changes. Replay does not need it.
///
/// Numbers are part of the format. One that this version does not know is kept and shown as it is.
public struct Cause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A transaction of the application.
  public static let transaction = Cause(rawValue: 1)
  /// Tables, columns or indexes were declared, renamed or dropped.
  public static let schemaChanged = Cause(rawValue: 2)
  /// A secondary index was filled from rows that were there before it.
  public static let indexBuilt = Cause(rawValue: 3)
  /// Rows were brought in from outside.
  public static let imported = Cause(rawValue: 4)
  /// Everything was voided.
  public static let reset = Cause(rawValue: 5)
  public static let localWrite = Cause(rawValue: 16)
  public static let verdictsReconciled = Cause(rawValue: 17)
  public static let batchAborted = Cause(rawValue: 18)
  public static let deadLettered = Cause(rawValue: 19)
  public static let deadLetterRequeued = Cause(rawValue: 20)
  public static let deadLetterDropped = Cause(rawValue: 21)
  public static let pageStaged = Cause(rawValue: 22)
  public static let stagingDropped = Cause(rawValue: 23)
  public static let pullClosed = Cause(rawValue: 24)
  public static let checkpointExpired = Cause(rawValue: 25)
  public static let resetRequired = Cause(rawValue: 26)
  public static let identityMinted = Cause(rawValue: 27)
  public static let identityChanged = Cause(rawValue: 28)
  public static let ownerRecorded = Cause(rawValue: 29)
  public static let ownerResumed = Cause(rawValue: 30)
  public static let scopeChanged = Cause(rawValue: 31)
  public static let journalDismissed = Cause(rawValue: 32)
  public static let journalPruned = Cause(rawValue: 33)
  public static let cursorSeeded = Cause(rawValue: 34)
  public static let attachmentStep = Cause(rawValue: 35)
  public static let resetDemanded = Cause(rawValue: 36)
  public static let resetPhase = Cause(rawValue: 37)
  public static let resetMarked = Cause(rawValue: 38)
  public static let resetAcknowledged = Cause(rawValue: 39)
  public static let resetAction = Cause(rawValue: 40)

  private static let names: [UInt32: String] = [
    1: "transaction", 2: "schemaChanged", 3: "indexBuilt", 4: "imported", 5: "reset", 16: "localWrite",
    17: "verdictsReconciled", 18: "batchAborted", 19: "deadLettered", 20: "deadLetterRequeued", 21: "deadLetterDropped",
    22: "pageStaged", 23: "stagingDropped", 24: "pullClosed", 25: "checkpointExpired", 26: "resetRequired",
    27: "identityMinted", 28: "identityChanged", 29: "ownerRecorded", 30: "ownerResumed", 31: "scopeChanged",
    32: "journalDismissed", 33: "journalPruned", 34: "cursorSeeded", 35: "attachmentStep", 36: "resetDemanded",
    37: "resetPhase", 38: "resetMarked", 39: "resetAcknowledged", 40: "resetAction",
  ]

  /// The name, or `cause(N)` for one that this version does not know.
  public var description: String { Self.names[rawValue] ?? "cause(\(rawValue))" }
}
