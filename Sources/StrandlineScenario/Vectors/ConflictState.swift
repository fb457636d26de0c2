@_spi(Scenario) internal import StrandlineSync

/// All that a conflict vector can speak of, as a client has it.
struct ConflictState {
  var rows: [Value]
  var tombstones: [Value]
  var outboxDepth: Int
  var checkpoint: Checkpoint
  var rejections: [Value]
  var events: [Value]

  init(of client: SyncClient, _ log: EventLog) async throws {
    rows = try await client.liveRows().map { row in
      ["table": .string(row.table), "pk": .string(row.pk), "row": .object(row.columns)]
    }
    tombstones = try await client.shadows().map { .string("\($0.table)/\($0.pk)") }
    outboxDepth = try await client.outboxDepth()
    checkpoint = try await client.checkpoint()
    rejections = try await client.rejections(includeDismissed: true).map { rejection in
      [
        "mutation_id": .string(rejection.mutationID), "kind": .string(rejection.kind.rawValue),
        "reason": .string(rejection.reason), "changed_columns": .array(rejection.changedColumns.map { .string($0) }),
        "server_row": rejection.serverRow.map { .object($0) } ?? .null,
      ]
    }
    events = log.names.filter { !ConflictExpectation.ignoredEvents.contains($0) }.map { .string($0) }
  }

  func compare(with expectation: ConflictExpectation) throws(CaseFailure) {
    try compareSets("rows", expectation.rows, rows)
    try compareSets("tombstones", expectation.tombstones, tombstones)
    if let depth = expectation.outboxDepth { try expect("outbox_depth", .int(depth), got: .int(Int64(outboxDepth))) }
    if let cursor = expectation.cursor { try expect("cursor", .string(cursor), got: .string(checkpoint.cursor)) }
    try expect("soft_blocked", .bool(expectation.isSoftBlocked), got: .bool(checkpoint.isSoftBlocked))
    try compareSets("rejections", expectation.rejections, rejections)
    if let expected = expectation.events { try expect("events", .array(expected), got: .array(events)) }
  }

  private func compareSets(_ subject: String, _ expected: [Value]?, _ got: [Value]) throws(CaseFailure) {
    guard let expected else { return }
    try expect(subject, .array(JSONDifference.set(expected)), got: .array(JSONDifference.set(got)))
  }
}
