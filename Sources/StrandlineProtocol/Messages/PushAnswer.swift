/// What the server did with a push: exactly one of verdicts, an abort, a signal.
///
/// Words are kept as they came, and arms that no answer has together may be there: the client's guards speak about such an answer, not the
/// decoder.
public struct PushAnswer: WireMessage {
  public struct Verdict: Hashable, Sendable {
    public var mutationID: String
    /// A ``VerdictKind``, or a word to refuse; empty where it is missing.
    public var kind: String
    /// A ``RejectionReason``, or a word to refuse; nil where it is missing.
    public var reason: String?
    /// The row as the server has it. Of an applied verdict nil means that it says nothing of the row; of a rejected one that there is none.
    public var serverRow: [String: Value]?

    public init(mutationID: String, kind: String, reason: String? = nil, serverRow: [String: Value]? = nil) {
      self.mutationID = mutationID
      self.kind = kind
      self.reason = reason
      self.serverRow = serverRow
    }

    public static func applied(_ id: String, serverRow: [String: Value]? = nil) -> Verdict {
      Verdict(mutationID: id, kind: VerdictKind.applied.rawValue, serverRow: serverRow)
    }

    public static func rejected(_ id: String, _ reason: RejectionReason, serverRow: [String: Value]?) -> Verdict {
      Verdict(
        mutationID: id, kind: VerdictKind.rejected.rawValue, reason: reason.rawValue, serverRow: serverRow)
    }
  }

  /// An atomic batch of which nothing was applied.
  public struct Abort: Hashable, Sendable {
    /// A ``BatchOutcome``, or a word to refuse; empty where it is missing.
    public var outcome: String
    public var offenderMutationID: String
    public var reason: String
    public var serverRow: [String: Value]?

    public init(outcome: String, offenderMutationID: String, reason: String, serverRow: [String: Value]?) {
      self.outcome = outcome
      self.offenderMutationID = offenderMutationID
      self.reason = reason
      self.serverRow = serverRow
    }
  }

  public var verdicts: [Verdict]?
  public var abort: Abort?
  /// A ``LifecycleSignal``, or a word to refuse; empty where the arm has no type.
  public var signal: String?

  public init(verdicts: [Verdict]) { self.verdicts = verdicts }
  public init(abort: Abort) { self.abort = abort }
  public init(signal: LifecycleSignal) { self.signal = signal.rawValue }

  public init(json: Value) throws(MessageDefect) {
    let message = MessageMember(json, "")
    _ = try message.object()
    verdicts = try message.present("verdicts")?.list { (entry) throws(MessageDefect) in try Verdict(entry) }
    abort = try message.present("batch").map { (entry) throws(MessageDefect) in try Abort(entry) }
    signal = try message.signal()
  }

  public var json: Value {
    var members: [String: Value] = [:]
    if let verdicts { members["verdicts"] = .array(verdicts.map(\.json)) }
    if let abort { members["batch"] = abort.json }
    if let signal { members["signal"] = ["type": .string(signal)] }
    return .object(members)
  }
}

extension PushAnswer.Verdict {
  fileprivate init(_ entry: MessageMember) throws(MessageDefect) {
    _ = try entry.object()
    mutationID = try entry.present("mutation_id")?.text() ?? ""
    kind = try entry.present("verdict")?.text() ?? ""
    reason = try entry.present("reason")?.text()
    serverRow = try entry.present("server_row")?.object()
  }

  fileprivate var json: Value {
    var members: [String: Value] = ["mutation_id": .string(mutationID), "verdict": .string(kind)]
    if let reason {
      members["reason"] = .string(reason)
      members["server_row"] = .null
    }
    if let serverRow { members["server_row"] = .object(serverRow) }
    return .object(members)
  }
}

extension PushAnswer.Abort {
  fileprivate init(_ entry: MessageMember) throws(MessageDefect) {
    _ = try entry.object()
    outcome = try entry.present("outcome")?.text() ?? ""
    offenderMutationID = try entry.present("offender_mutation_id")?.text() ?? ""
    reason = try entry.present("reason")?.text() ?? ""
    serverRow = try entry.present("server_row")?.object()
  }

  fileprivate var json: Value {
    [
      "outcome": .string(outcome), "offender_mutation_id": .string(offenderMutationID), "reason": .string(reason),
      "server_row": serverRow.map { .object($0) } ?? .null,
    ]
  }
}
