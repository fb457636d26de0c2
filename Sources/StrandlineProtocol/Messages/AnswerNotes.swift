/// What travels beside the body of an answer: fields of the in-process remote, headers over HTTP.
///
/// The bodies stay those of the published protocol. A server of another make sends none of these, and then nothing is different.
public struct AnswerNotes: Hashable, Sendable {
  /// `Strandline-History`: the server's place in its history as of this answer, refusals too. Kept as the text it came as.
  public var history: String?
  /// `Strandline-Reset-Cause`: `history`, only beside ``LifecycleSignal/resetRequired``.
  public var resetCause: String?
  /// `Strandline-Recovery`: whether the server forbids recovery of unsynced changes.
  public var isRecoveryForbidden: Bool
  /// `Strandline-Unknown-Tables`: tables that a pull names and the server does not know.
  public var unknownTables: [String]
  /// `Retry-After`: seconds that the server asks to be left alone; nil where it does not ask.
  public var retryAfter: Int?
  /// Bytes of the body that the request went out in; nil where there was none. Travels nowhere.
  public var sentByteCount: Int?
  /// Bytes of the body that the answer came in, unpacked; nil where there was none. Travels nowhere.
  public var receivedByteCount: Int?

  public init(
    history: String? = nil, resetCause: String? = nil, isRecoveryForbidden: Bool = false, unknownTables: [String] = [],
    retryAfter: Int? = nil
  ) {
    self.history = history
    self.resetCause = resetCause
    self.isRecoveryForbidden = isRecoveryForbidden
    self.unknownTables = unknownTables
    self.retryAfter = retryAfter
  }

  /// The one value that ``resetCause`` has.
  public static let historyCause = "history"
  public static let historyName = "Strandline-History"
  public static let resetCauseName = "Strandline-Reset-Cause"
  public static let recoveryName = "Strandline-Recovery"
  public static let unknownTablesName = "Strandline-Unknown-Tables"
  public static let retryAfterName = "Retry-After"
}
