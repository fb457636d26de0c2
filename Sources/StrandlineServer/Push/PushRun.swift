/// The mutations of one push, decided in their order over one state.
struct PushRun {
  let configuration: ServerConfiguration
  let caller: Caller
  private(set) var work: PushWork
  /// Bytes of the rows that the verdicts carry.
  private var answerByteCount = 0

  init(
    _ configuration: ServerConfiguration, _ caller: Caller, _ state: any ServerState, now: Int64
  ) throws(ServerStorageFailure) {
    self.configuration = configuration
    self.caller = caller
    work = try PushWork(state, now: now)
  }

  /// Decides all of them. An atomic batch stops at the first rejection and leaves nothing, but for the grant of the row that it tells.
  ///
  /// - Throws: ``ServerStorageFailure``, too large: several mutations whose answer no client would take. None of them may be committed.
  mutating func run(_ mutations: [CheckedMutation], isAtomic: Bool) throws(ServerStorageFailure) -> PushAnswer {
    let before = work
    var verdicts: [PushAnswer.Verdict] = []
    verdicts.reserveCapacity(mutations.count)
    for mutation in mutations {
      let (verdict, grant) = try answer(mutation)
      if isAtomic, let reason = verdict.reason {
        work = before
        if let grant { work.grant(grant) }
        return PushAnswer(
          abort: PushAnswer.Abort(
            outcome: BatchOutcome.aborted.rawValue, offenderMutationID: mutation.id, reason: reason,
            serverRow: verdict.serverRow))
      }
      if let grant { work.grant(grant) }
      try count(verdict, of: mutations.count)
      verdicts.append(verdict)
    }
    return PushAnswer(verdicts: verdicts)
  }

  private mutating func count(
    _ verdict: PushAnswer.Verdict, of mutationCount: Int
  ) throws(ServerStorageFailure) {
    answerByteCount += verdict.serverRow?.answeredByteCount ?? 0
    let limit = configuration.limits.answerByteCountMax
    guard mutationCount > 1, answerByteCount > limit else { return }
    throw ServerStorageFailure(
      "the rows that the verdicts carry have more than \(limit) bytes. Send fewer mutations at once.", isTooLarge: true)
  }

  /// The verdict, and the grant that goes with the row it carries.
  private mutating func answer(
    _ mutation: CheckedMutation
  ) throws(ServerStorageFailure) -> (verdict: PushAnswer.Verdict, grant: DeliveryGrant?) {
    if let known = try work.verdict(of: mutation.id) { return try replay(known, mutation.id) }
    guard let table = configuration.table(mutation.row.table) else {
      throw ServerStorageFailure("table \(mutation.row.table) was checked and is not configured")
    }
    let rules = MutationRules(
      table: table, caller: caller, now: work.now, rowByteCountMax: configuration.limits.rowByteCountMax)
    let subject = try work.subject(mutation.row, userID: caller.userID)
    var verdict: PushAnswer.Verdict
    var grant: DeliveryGrant?
    switch rules.decide(mutation, on: subject) {
    case .rejected(let reason, let serverRow):
      verdict = .rejected(mutation.id, reason, serverRow: serverRow)
      if serverRow != nil { grant = self.grant(mutation.row, subject.row?.bucket) }
    case .delete:
      try work.delete(mutation.row, in: table)
      verdict = .applied(mutation.id)
    case .write(let write):
      let number = try work.put(write.columns, write.stamps, at: mutation.row, in: table)
      for (column, value) in write.losers {
        work.note(
          JournalEntry(
            row: mutation.row, column: column, number: number, loserValue: value, winnerMutationID: mutation.id,
            mode: table.conflictMode))
      }
      let serverRow = write.tellsRow ? rules.rendered(write.columns, of: mutation.row) : nil
      verdict = .applied(mutation.id, serverRow: serverRow)
      if serverRow != nil { grant = self.grant(mutation.row, table.bucket(of: write.columns)) }
    }
    work.record(
      RecordedVerdict(
        mutationID: mutation.id, userID: caller.userID, reason: verdict.reason.flatMap(RejectionReason.init),
        row: mutation.row, carriedRow: verdict.kind == VerdictKind.applied.rawValue && verdict.serverRow != nil,
        decidedAt: work.now))
    return (verdict, grant)
  }

  /// The recorded verdict, with the row as it is now; to another user nothing but a refusal.
  private mutating func replay(
    _ known: RecordedVerdict, _ id: String
  ) throws(ServerStorageFailure) -> (verdict: PushAnswer.Verdict, grant: DeliveryGrant?) {
    guard known.userID.isSame(as: caller.userID) else { return (.rejected(id, .rowDenied, serverRow: nil), nil) }
    var serverRow: [String: Value]?
    var grant: DeliveryGrant?
    if known.reason != nil || known.carriedRow, let table = configuration.table(known.row.table),
      let row = try work.row(known.row)
    {
      let rules = MutationRules(
        table: table, caller: caller, now: work.now, rowByteCountMax: configuration.limits.rowByteCountMax)
      serverRow = rules.rendered(row.columns, of: known.row)
      if serverRow != nil { grant = self.grant(known.row, row.bucket) }
    }
    if let reason = known.reason { return (.rejected(id, reason, serverRow: serverRow), grant) }
    return (.applied(id, serverRow: serverRow), grant)
  }

  private func grant(_ id: RowID, _ bucket: String?) -> DeliveryGrant {
    DeliveryGrant(userID: caller.userID, table: id.table, bucket: bucket ?? "")
  }
}
