internal import StrandlineProtocol

/// What an answer to a push says, once it is known to be one.
enum PushReply: Sendable {
  case verdicts([CheckedVerdict])
  case abort(offender: OutboxEntry, reason: String, serverRow: [String: Value]?)
  case resetRequired
}

struct CheckedVerdict: Sendable {
  enum Decision: Sendable {
    case applied(serverRow: [String: Value]?)
    case rejected(reason: RejectionReason, serverRow: [String: Value]?)
  }

  var entry: OutboxEntry
  var decision: Decision
}

/// Checks an answer against what was sent, before anything is changed.
enum ReplyGuards {
  /// - Throws: ``SyncErrorCode/malformedPushResponse``, ``SyncErrorCode/verdictBijection``, ``SyncErrorCode/unknownVerdictReason``,
  ///   ``SyncErrorCode/unknownBatchOffender``, ``SyncErrorCode/unknownSignal``; ``SyncErrorCode/json`` for rows that no table can hold, or
  ///   that are not the mutation's.
  static func check(_ answer: PushAnswer, to slice: Slice, _ tables: ClientTables) throws(SyncError) -> PushReply {
    if let signal = answer.signal {
      guard signal == LifecycleSignal.resetRequired.rawValue else {
        throw SyncError(.unknownSignal, "a push was answered with the signal \"\(signal)\"")
      }
      return .resetRequired
    }
    if let abort = answer.abort { return try check(abort, slice, tables) }
    guard let verdicts = answer.verdicts else {
      throw SyncError(.malformedPushResponse, "the answer to a push has neither verdicts nor an abort nor a signal")
    }
    guard verdicts.count == slice.entries.count else {
      throw SyncError(
        .verdictBijection, "\(slice.entries.count) mutations were sent and \(verdicts.count) verdicts came")
    }
    var checked: [CheckedVerdict] = []
    for (verdict, entry) in zip(verdicts, slice.entries) { checked.append(try check(verdict, entry)) }
    for (verdict, entry) in zip(verdicts, slice.entries) {
      try WireRow.check(verdict.serverRow, "a verdict's row")
      try WireRow.check(verdict.serverRow, isRowOf: entry.name.pk, tables.known(entry.name.table))
    }
    return .verdicts(checked)
  }

  private static func check(
    _ abort: PushAnswer.Abort, _ slice: Slice, _ tables: ClientTables
  ) throws(SyncError) -> PushReply {
    guard slice.isAtomic else {
      throw SyncError(.malformedPushResponse, "a push that is no batch was answered as one")
    }
    guard BatchOutcome(rawValue: abort.outcome) != nil else {
      throw SyncError(.malformedPushResponse, "a batch has the outcome \"\(abort.outcome)\"")
    }
    guard RejectionReason(rawValue: abort.reason) != nil else {
      throw SyncError(.unknownVerdictReason, "a batch was refused for the reason \"\(abort.reason)\"")
    }
    guard let offender = slice.entries.first(where: { $0.mutationID == abort.offenderMutationID }) else {
      throw SyncError(
        .unknownBatchOffender, "a batch was refused for mutation \"\(abort.offenderMutationID)\", which is not in it")
    }
    try WireRow.check(abort.serverRow, "the row of an abort")
    try WireRow.check(abort.serverRow, isRowOf: offender.name.pk, tables.known(offender.name.table))
    return .abort(offender: offender, reason: abort.reason, serverRow: abort.serverRow)
  }

  private static func check(_ verdict: PushAnswer.Verdict, _ entry: OutboxEntry) throws(SyncError) -> CheckedVerdict {
    guard verdict.mutationID == entry.mutationID else {
      throw SyncError(
        .verdictBijection, "the verdict on \"\(verdict.mutationID)\" stands where that on \(entry.mutationID) belongs")
    }
    switch VerdictKind(rawValue: verdict.kind) {
    case .applied?: return CheckedVerdict(entry: entry, decision: .applied(serverRow: verdict.serverRow))
    case .rejected?:
      guard let reason = verdict.reason.flatMap({ RejectionReason(rawValue: $0) }) else {
        throw SyncError(
          .unknownVerdictReason,
          "mutation \(entry.mutationID) was rejected for the reason \"\(verdict.reason ?? "")\"")
      }
      return CheckedVerdict(entry: entry, decision: .rejected(reason: reason, serverRow: verdict.serverRow))
    case nil:
      throw SyncError(
        .unknownVerdictReason, "the verdict on mutation \(entry.mutationID) is \"\(verdict.kind)\"")
    }
  }
}

/// What every row from the wire must be.
enum WireRow {
  /// - Throws: ``SyncErrorCode/json``.
  static func check(_ columns: [String: Value]?, _ what: @autoclosure () -> String) throws(SyncError) {
    for column in columns?.keys ?? [:].keys where !ColumnRules.isName(column) {
      throw .received("\(what()) has a column that no table can have: \"\(column.dropFirst().prefix(40))\"")
    }
  }

  /// What the longest key of the store leaves for a table's name and the text of a key, a zero byte counted twice.
  private static let keyByteCountMax = 1000

  /// - Throws: ``SyncErrorCode/json`` for a text that no row can have as its key.
  static func check(pk: String, of table: ClientTable) throws(SyncError) {
    if pk.isEmpty { throw .received("a pulled row of \(table.name) has an empty key") }
    let byteCount = pk.utf8.reduce(table.name.utf8.count) { $0 + ($1 == 0 ? 2 : 1) }
    if byteCount > keyByteCountMax {
      throw .received(
        "the key of a pulled row of \(table.name) has \(byteCount) bytes with the table's name; \(keyByteCountMax) fit")
    }
  }

  /// - Throws: ``SyncErrorCode/json`` for columns whose key is another than `pk`. A key column that is missing or null says nothing.
  static func check(_ columns: [String: Value]?, isRowOf pk: String, _ table: ClientTable) throws(SyncError) {
    guard let columns else { return }
    var components: [String]?
    for (place, column) in table.key.enumerated() {
      guard let value = columns[column], !value.isNull else { continue }
      components = components ?? RowKey.components(of: pk, count: table.key.count)
      let wanted = components.map { RowKey.lowercasedUUID($0[place]) }
      if RowKey.component(value) != wanted || wanted == nil {
        throw .received("a row of \(table.name) with the key \(pk) is of another key by its column \(column)")
      }
    }
  }
}
