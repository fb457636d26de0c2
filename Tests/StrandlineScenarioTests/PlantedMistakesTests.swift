import Testing

@testable import StrandlineScenario

/// A right file with one mistake in it.
struct PlantedMistake: Sendable, CustomStringConvertible {
  var file: String
  var place: [JSONPlace]
  /// Nil takes the member out.
  var value: Value?
  /// Sides that have to notice, and at which step.
  var client: Int?
  var server: Int?
  /// A part of what the failure is about, or of why.
  var says: String

  init(
    _ file: String, _ place: [JSONPlace], _ value: Value?, client: Int? = nil, server: Int? = nil, _ says: String
  ) {
    self.file = file
    self.place = place
    self.value = value
    self.client = client
    self.server = server
    self.says = says
  }

  var description: String { "\(file) \(place)" }
}

/// Step number of a failure that belongs to no step.
private let nowhere = -1

@Suite("Planted mistakes") struct PlantedMistakesTests {
  static let pages = "pull/pages-from-a-checkpoint"
  static let fails = "preconditions/fails"
  static let moves = "buckets/moved-away"

  static let mistakes: [PlantedMistake] = [
    // Requests.
    .init(pages, ["steps", 5, "request", "cursor"], "2", client: 6, server: 6, "re"),
    .init(pages, ["steps", 5, "request", "limit"], "2", client: 6, server: 6, "request"),
    .init(pages, ["steps", 5, "request", "limit"], nil, client: 6, server: 6, "re"),
    .init(pages, ["steps", 5, "request", "surplus"], .null, client: 6, "request"),
    .init(fails, ["steps", 4, "request", "last_mutation_id"], "m", client: 5, "request"),
    .init(fails, ["steps", 4, "request", "batch", "atomic"], true, server: 5, "response"),
    .init(fails, ["steps", 4, "request", "batch", "mutations", 0, "hlc"], .null, client: 5, "request"),
    .init(fails, ["steps", 4, "request", "batch", "mutations", 0, "columns", "body"], "c", client: 5, "request"),
    // Answers.
    .init(pages, ["steps", 1, "response", "rows", 0, "seq"], 1, client: 2, server: 2, "r"),
    .init(pages, ["steps", 1, "response", "rows", 0, "row", "body"], "2", client: 7, server: 2, "r"),
    .init(pages, ["steps", 1, "response", "rows", 0, "row", "extra"], .null, client: 7, server: 2, "r"),
    .init(pages, ["steps", 1, "response", "signal"], nil, server: 2, "response"),
    .init(pages, ["steps", 5, "response", "rows", 1], nil, client: nowhere, server: 6, "r"),
    .init(pages, ["steps", 5, "response", "has_more"], false, client: 7, server: 6, "r"),
    .init(pages, ["steps", 7, "response", "cursor"], "5", client: nowhere, server: 8, "r"),
    .init(
      moves, ["steps", 3, "response", "tombstones", 0, "deleted_at"], "2026-01-01T00:00:04.000Z", server: 4, "response"),
    .init(moves, ["steps", 3, "response", "tombstones", 0, "seq"], "3", server: 4, "response"),
    .init(fails, ["steps", 4, "response", "verdicts", 0, "reason"], "CONSTRAINT", server: 5, "response"),
    .init(fails, ["steps", 4, "response", "verdicts", 0, "reason"], "BECAUSE", client: 5, server: 5, "r"),
    .init(fails, ["steps", 4, "response", "verdicts", 0, "server_row"], .null, client: 6, server: 5, "r"),
    // The server's writes.

    .init(moves, ["steps", 2, "op"], "delete", server: 4, "response"),
    .init(moves, ["steps", 0, "columns", "body"], "y", server: 2, "response"),
    .init("hlc/greater-stamp-wins", ["steps", 0, "hlc"], "2026-01-01T00:00:03.000Z|1|n", server: 4, "response"),
    .init("hlc/greater-stamp-wins", ["steps", 0, "hlc"], "yesterday", server: 1, "no stamp"),
    .init("tombstones/reaped", ["steps", 4, "op"], "upsert", client: nowhere, server: nowhere, "table"),
    // Checks.
    .init(pages, ["steps", 6, "checks", 1, "value"], "2", client: 7, "cursor"),
    .init(pages, ["steps", 6, "checks", 2, "row", "body"], "2", client: 7, "local-row"),
    .init(pages, ["steps", 6, "checks", 2, "row", "owner"], nil, client: 7, "local-row"),
    .init(pages, ["steps", 6, "checks", 2, "row"], .null, client: 7, "local-row"),
    .init(pages, ["steps", 6, "checks", 3, "row"], [:], client: 7, "local-row"),
    .init(fails, ["steps", 5, "checks", 1, "value"], 1, client: 6, "outbox-depth"),
    .init(fails, ["steps", 5, "checks", 2, "event"], "BATCH_ABORTED", client: 6, "event"),
    .init("signals/event-names-since", ["steps", 7, "checks", 1, "since_last_assert"], true, client: 8, "event"),
    .init(
      "pull/three-pages", ["steps", 10, "checks", 3], ["check": "no-intermediate-commit"], client: 11,
      "no-intermediate-commit"),
    .init(pages, ["postconditions", 0, "value"], "5", client: nowhere, "cursor"),
    // The app's writes.
    .init("keys/integer", ["steps", 2, "expect_error"], "LOCAL_CONSTRAINT", client: 3, "has to fail"),
    .init("soft-delete/hard-delete-refused", ["steps", 2, "expect_error"], nil, client: 3, "has to succeed"),
    .init(
      "soft-delete/hard-delete-refused", ["steps", 2, "expect_error"], "LOCAL_CONSTRAINT", client: 3, "has to fail with"
    ),
    .init(fails, ["steps", 3, "mutation_id"], "another", client: 5, "request"),
    .init("batches/applied", ["steps", 1, "batch_id"], "alone", client: 4, "request"),
    // Faults.
    .init("ledger/lost-request", ["steps", 3, "request", "batch", "mutations", 0, "pk"], "p", client: 4, "request"),
    .init("pull/dropped-answer", ["steps", 2, "target"], "push", client: 3, server: 3, "request"),
    .init("ledger/lost-request", ["steps", 4, "target"], "nothing", client: nowhere, server: nowhere, "pull"),
    .init(
      "ledger/replayed-rejection-shows-the-row-now", ["steps", 3, "fault"], "transport-error", server: 6, "response"),
    // Words that there are none of.
    .init(pages, ["steps", 6, "kind"], "hope", client: nowhere, server: nowhere, "no kind of step"),
    .init(pages, ["steps", 6, "checks", 0, "check"], "hope", client: nowhere, server: nowhere, "no check"),
    .init(pages, ["steps", 0, "op"], "merge", client: nowhere, server: nowhere, "upsert"),
    .init(fails, ["steps", 3, "op"], "upsert", client: nowhere, server: nowhere, "insert"),
    .init("ledger/lost-answer", ["steps", 3, "fault"], "fire", client: nowhere, server: nowhere, "no fault"),
    .init(pages, ["steps", 1, "rpc"], "poll", client: nowhere, server: nowhere, "pull"),
    .init(pages, ["steps", 1, "response"], nil, client: nowhere, server: nowhere, "missing"),
    .init(
      pages, ["context", "server", "tables", "notes", "conflict_mode"], "last", client: nowhere, server: nowhere,
      "arrival"),
    .init(pages, ["context", "server", "tombstone_ttl_days"], .int(.max), client: nowhere, server: nowhere, "days"),
    .init(pages, ["context", "server", "max_pull_scan"], 0, server: nowhere, "could not be made"),
    .init(pages, ["context", "client_id"], "x", client: nowhere, "could not be opened"),
    .init(pages, ["steps", 1, "n"], 0, client: nowhere, server: nowhere, "from 1"),
    .init(pages, ["sides"], ["moon"], client: nowhere, server: nowhere, "client"),
    // The start state.
    .init("pull/middle-of-a-history", ["steps", 0, "response", "cursor"], "15", client: 3, server: 1, "r"),
    .init("pull/middle-of-a-history", ["steps", 0, "response", "rows", 0, "seq"], "12", server: 1, "response"),
  ]

  @Test(
    "a mistake in a transcript fails the sides that it concerns, at the step where it shows", arguments: mistakes)
  func fails(transcript mistake: PlantedMistake) async throws {
    let right = try OwnCases.json(mistake.file)
    let report = try #require(try await OwnCases.run(right.with(mistake.place, mistake.value)).first)
    for side in report.sides {
      let wanted = side.side == .client ? mistake.client : mistake.server
      #expect(side.failure.map { $0.step ?? nowhere } == wanted, "\(side)")
      guard let failure = side.failure, !mistake.says.isEmpty else { continue }
      let text = "\(failure.subject) \(failure.reason ?? "")"
      #expect(text.contains(mistake.says), "\(side)")
      #expect(failure.reason != nil || !failure.differences.isEmpty)
    }
  }
}
