@_spi(Scenario) internal import StrandlineSync

/// The client of a transcript: makes the calls and writes that the file has, and has to ask for and hold what the file says.
struct TranscriptClient {
  private struct RowName: Hashable {
    var table: String
    var pk: String
  }

  /// A pull that has not closed, and what was stored in front of it.
  private struct Sequence {
    var rows: [RowName: [String: Value]]
    /// Rows that the app wrote since.
    var written: Set<RowName> = []
  }

  private let transcript: Transcript
  private let writes: StatedWrites
  private let client: SyncClient
  private let remote = ScriptedRemote()
  private let clock = StepClock()
  private let log = EventLog()
  private var sequence: Sequence?
  /// The durable cursor when the last pull began.
  private var cursorAtPull: String?
  /// Events up to the last assert step.
  private var assertedEventCount = 0

  /// Runs the client's side of a transcript, on a client of its own.
  static func run(_ transcript: Transcript) async throws(CaseFailure) {
    var run = try await TranscriptClient(transcript)
    let failure: CaseFailure?
    do throws(CaseFailure) {
      try await run.takeSteps()
      failure = nil
    } catch {
      failure = error
    }
    await run.client.dispose()
    if let failure { throw failure }
  }

  private init(_ transcript: Transcript) async throws(CaseFailure) {
    self.transcript = transcript
    writes = StatedWrites(transcript)
    let context = transcript.context
    let tables = context.tables.mapValues { table in
      TableConfiguration(
        bucket: table.bucketColumn.map { .byColumn($0) } ?? .none,
        bucketValue: table.bucketColumn.map { _ in context.userID }, softDeleteColumn: table.softDeleteColumn,
        conflictMode: table.conflictMode, key: table.key)
    }
    var limit: Int?
    do {
      if let given = transcript.firstOfOwnPulls("limit") {
        limit = Int(clamping: try MessageMember(given, "limit").integer())
      }
      client = try await ScenarioClient.open(
        SyncConfiguration(
          clientID: context.clientID, schemaVersion: Int(context.schemaVersion), tables: tables, remote: remote,
          accessToken: ScenarioClient.token(for: context.userID), pageLimit: limit, clock: clock))
      if case .string(let cursor)? = transcript.firstOfOwnPulls("cursor"), cursor != "0" {
        try await client.seedCheckpoint(cursor)
      }
    } catch {
      throw CaseFailure("the client", "could not be opened: \(error)")
    }
    log.listen(to: client)
  }

  private mutating func takeSteps() async throws(CaseFailure) {
    for step in transcript.steps {
      clock.begin(step: step.number)
      do throws(CaseFailure) { try await take(step) } catch { throw error.at(step: step.number) }
    }
    try await check(transcript.postconditions, "postconditions")
  }

  private mutating func take(_ step: TranscriptStep) async throws(CaseFailure) {
    switch step.action {
    case .rpc(let call, let request, let response): try await make(call, request, .answer(response))
    case .lostAnswer(let call, let request): try await make(call, request, .unreachable)
    case .lostRequest(let call, let request): try await make(call, request, .unreachable)
    case .owner, .reap: break
    case .local(let write): try await make(writes.completed(write))
    case .assert(let checks):
      try await check(checks, "assert")
      assertedEventCount = log.names.count
    }
  }

  // MARK: Calls

  private mutating func make(
    _ call: TranscriptStep.Call, _ request: Value?, _ reply: ScriptedRemote.Reply
  ) async throws(CaseFailure) {
    if case .pull = call {
      // A pull of other buckets is a probe of the server.
      if let request, !transcript.isOwnPull(request) { return }
      try await beginPull()
    }
    remote.prepare(call, reply)
    let outcome = await CallOutcome {
      switch call {
      case .pull: try await client.pullOnce()
      case .push: try await client.pushOnce()
      }
    }
    try compare(remote.requests, call, request)
    if case .answer = reply {
      try outcome.expectSuccess("rpc \(call.rawValue)")
    } else {
      try outcome.expectFailure("fault \(call.rawValue)", code: nil)
    }
  }

  private func compare(
    _ requests: [ScriptedRemote.Request], _ call: TranscriptStep.Call, _ expected: Value?
  ) throws(CaseFailure) {
    let subject = "\(call.rawValue): request"
    guard requests.count == 1, let request = requests.first, request.call == call else {
      let made = requests.isEmpty ? "none" : requests.map(\.call.rawValue).joined(separator: ", ")
      throw CaseFailure(subject, "the client has to make exactly one call, and made \(made)")
    }
    guard let expected else { return }
    try expect(subject, JSONDifference.all(expectedRequest: expected, got: request.json))
  }

  /// Takes note of what must not change until the sequence closes.
  private mutating func beginPull() async throws(CaseFailure) {
    do {
      cursorAtPull = try await client.checkpoint().cursor
      if try await client.stagedNames().isEmpty {
        let rows = try await client.liveRows().map { (RowName(table: $0.table, pk: $0.pk), $0.columns) }
        sequence = Sequence(rows: Dictionary(rows) { $1 })
      }
    } catch {
      throw CaseFailure("the client's state", "cannot be read: \(error)")
    }
  }

  private mutating func make(_ write: TranscriptWrite) async throws(CaseFailure) {
    let subject = "local \(write.operation.rawValue)"
    let depth = try await state { try await client.outboxDepth() }
    let outcome = await CallOutcome {
      try await client.apply(
        write.operation, to: write.table, pk: write.pk, columns: write.columns, mutationID: write.mutationID,
        transforms: write.transforms, precondition: write.precondition, batchID: write.batchID, hlc: write.hlc)
    }
    if let code = write.expectedError {
      try outcome.expectFailure(subject, code: code)
      let after = try await state { try await client.outboxDepth() }
      try expect("\(subject): outbox depth", .int(Int64(depth)), got: .int(Int64(after)))
    } else {
      try outcome.expectSuccess(subject)
      let count = transcript.context.tables[write.table]?.key.count ?? 1
      sequence?.written.insert(RowName(table: write.table, pk: RowKey.normalized(write.pk, count: count)))
    }
  }

  // MARK: Checks

  private func check(_ checks: [ClientCheck], _ subject: String) async throws(CaseFailure) {
    for (place, check) in checks.enumerated() { try await self.check(check, "\(subject) \(place + 1)") }
  }

  private func check(_ check: ClientCheck, _ place: String) async throws(CaseFailure) {
    switch check {
    case .localRow(let table, let pk, let row):
      let stored = try await state { try await client.storedColumns(table: table, pk: pk) }
      try expect(
        "\(place): local-row \(table) \(pk)", row.map { .object($0) } ?? .null,
        got: stored.map { .object($0) } ?? .null)
    case .cursor(let cursor):
      let stored = try await state { try await client.checkpoint().cursor }
      try expect("\(place): cursor", .string(cursor), got: .string(stored))
    case .outboxDepth(let depth):
      let stored = try await state { try await client.outboxDepth() }
      try expect("\(place): outbox-depth", .int(depth), got: .int(Int64(stored)))
    case .event(let name, let sinceLastAssert):
      let names = log.names.dropFirst(sinceLastAssert ? assertedEventCount : 0)
      guard !names.contains(name) else { return }
      throw CaseFailure(
        "\(place): event", [JSONDifference(expected: .string(name), got: .array(names.map { .string($0) }))])
    case .noIntermediateCommit: try await checkNothingShows("\(place): no-intermediate-commit")
    }
  }

  private func checkNothingShows(_ subject: String) async throws(CaseFailure) {
    let cursor = try await state { try await client.checkpoint().cursor }
    if let cursorAtPull { try expect("\(subject): cursor", .string(cursorAtPull), got: .string(cursor)) }
    guard let sequence else { return }
    let names = try await state { try await client.stagedNames().map { RowName(table: $0.table, pk: $0.pk) } }
    for name in names where !sequence.written.contains(name) {
      let stored = try await state { try await client.storedColumns(table: name.table, pk: name.pk) }
      try expect(
        "\(subject): \(name.table) \(name.pk)", sequence.rows[name].map { .object($0) } ?? .null,
        got: stored.map { .object($0) } ?? .null)
    }
  }

  private func state<Result>(_ read: () async throws -> Result) async throws(CaseFailure) -> Result {
    do { return try await read() } catch { throw CaseFailure("the client's state", "cannot be read: \(error)") }
  }
}
