import StrandlineProtocol

@testable @_spi(Scenario) import StrandlineSync

/// What the client holds, read from its store.
private struct FoundState {
  var rows: [Place: [String: Value]] = [:]
  var shadows: Set<Place> = []
  var queue: [OutboxEntry] = []
  var cursor = ""
  var watermark: String?
  var deadLetters: [(id: String, reason: String)] = []

  init(_ client: SyncClient) async throws {
    for row in try await client.liveRows() { rows[Place(table: row.table, pk: row.pk)] = row.columns }
    for shadow in try await client.shadows() { shadows.insert(Place(table: shadow.table, pk: shadow.pk)) }
    queue = try await client.stateRows(of: StateTable.outbox).map { try OutboxEntry($0) }
    cursor = try await client.checkpoint().cursor
    watermark = try client.read { try $0.metaText(.lastMutationID) }
    deadLetters = try await client.deadLetters().map { ($0.mutationID, $0.reason) }
  }

  /// Nil: it is what the replica says. Ids that the client minted are put into the replica.
  func difference(from replica: inout DullReplica) -> String? {
    for place in Set(rows.keys).union(replica.rows.keys).sorted() where rows[place] != replica.rows[place] {
      return "\(place) is \(text(rows[place])), not \(text(replica.rows[place]))"
    }
    if let place = shadows.symmetricDifference(replica.shadows).min() {
      return "\(place) has \(shadows.contains(place) ? "a" : "no") shadow"
    }
    if queue.count != replica.queue.count {
      return "\(queue.map(\.mutationID)) are queued, not \(replica.queue.map { $0.id ?? "one" })"
    }
    for (index, found) in queue.enumerated() {
      let expected = replica.queue[index]
      guard expected.id == nil || expected.id == found.mutationID, found.name.table == expected.place.table,
        found.name.pk == expected.place.pk, found.operation == expected.operation, found.columns == expected.columns,
        found.transforms ?? [:] == expected.transforms.mapValues(\.json), found.precondition == expected.precondition,
        (found.batchID != nil) == (expected.batch != nil)
      else { return "\(found) is queued, not \(expected)" }
      if found.preImage != expected.preImage {
        return "\(found.mutationID) would be undone to \(text(found.preImage)), not \(text(expected.preImage))"
      }
      if found.isPerhapsInBase != expected.isPerhapsInBase {
        return "\(found.mutationID) is \(found.isPerhapsInBase ? "" : "not ")perhaps in the row's base"
      }
      replica.queue[index].id = found.mutationID
    }
    if cursor != replica.cursor { return "the cursor is \(cursor), not \(replica.cursor)" }
    if watermark != replica.watermark {
      return "the watermark is \(watermark ?? "none"), not \(replica.watermark ?? "none")"
    }
    if deadLetters.map(\.id) != replica.deadLetters { return "\(deadLetters) are given up, not \(replica.deadLetters)" }
    return nil
  }
}

extension Device {
  private func found() async throws -> FoundState {
    guard let client else { throw SimulationFailure("\(name) is not open") }
    return try await FoundState(client)
  }

  /// The client holds what its model says.
  func compare(_ occasion: String) async throws {
    if let difference = try await found().difference(from: &replica) {
      throw SimulationFailure("\(name), after \(occasion): \(difference)")
    }
  }

  /// The process that has just opened holds the state in front of what was under way, or behind it.
  func recognise(_ candidates: [DullReplica], hasDied: Bool) async throws {
    guard let client else { return }
    let found = try await found()
    var candidates = candidates
    for candidate in candidates where found.deadLetters.count > candidate.deadLetters.count {
      var later = candidate
      let letters = found.deadLetters.suffix(found.deadLetters.count - candidate.deadLetters.count)
      later.giveUp(letters.map(\.id), reason: letters.last?.reason ?? "")
      candidates.append(later)
    }
    let position = try client.read { try $0.metaText(.pageCursor) }
    var differences: [String] = []
    var known: DullReplica?
    for candidate in candidates where known == nil {
      var candidate = candidate
      if let difference = found.difference(from: &candidate) {
        differences.append(difference)
      } else if position != candidate.position {
        differences.append("the pull goes on at \(position ?? "none"), not \(candidate.position ?? "none")")
      } else {
        known = candidate
      }
    }
    guard var known else {
      throw SimulationFailure(
        "\(name) has come up with a state it never had: \(differences.joined(separator: "; or "))")
    }
    // What is settled before each request may have been settled or not.
    try client.read { view in
      known.owner = try view.metaText(.ownerSubject)
      known.block = try view.softBlock()
      known.isResetDemanded = try view.resetDemand() != nil
      known.isRehydrating = try view.meta(.isRehydrating) == true
      known.keptTeam = try BucketScope(try view.meta(.bucketScope)).kept("teams", "team")
    }
    let owners = candidates.map(\.owner) + [subject, ownerBefore]
    try demand(owners.contains(known.owner), "\(name) belongs to \(known.owner ?? "nobody") all of a sudden")
    // Who died may have sent everything.
    if hasDied { known.send(known.queue.count) }
    replica = known
  }

  /// Everything was pushed, and what the device shows is what the server has.
  func compareAtRest() async throws {
    guard let client, let user = subject else { throw SimulationFailure("\(name) is not signed in") }
    let visible = world.server.model.visible(to: user, team: team)
    let rows = try await found().rows
    for place in Places.all {
      // A row of another team that a verdict told stays as it was told: no pull of this device asks for it.
      if place.table == "teams", visible[place] == nil, rows[place]?["team"] != .string(team) { continue }
      try demand(
        rows[place] == visible[place],
        "at rest, \(name) shows \(place) as \(text(rows[place])), and the server has \(text(visible[place]))")
    }
    try demand(
      rows.keys.allSatisfy { Places.all.contains($0) }, "\(name) has rows that nobody made: \(rows.keys.sorted())")
    var journal: [String: String] = [:]
    for entry in try await client.rejections(includeDismissed: true) {
      journal[entry.mutationID] = "\(entry.kind.rawValue) \(entry.reason)"
    }
    try demand(journal == replica.journal, "\(name) has journalled \(journal), not \(replica.journal)")
  }
}
