import Testing

@testable import StrandlineScenario

extension PlantedMistakesTests {
  /// Where a mistake in one member of a list of cases has to show.
  struct Member: Sendable, CustomStringConvertible {
    var file: String
    var list: String
    var name: String
    var place: [JSONPlace]
    var value: Value?
    var step: Int?
    var says: String

    init(
      _ file: String, _ list: String, _ name: String, _ place: [JSONPlace], _ value: Value?, step: Int? = nil,
      _ says: String
    ) {
      self.file = file
      self.list = list
      self.name = name
      self.place = place
      self.value = value
      self.step = step
      self.says = says
    }

    var description: String { "\(file) \(name) \(place)" }
  }

  static func local(
    _ file: String, _ name: String, _ step: Int, _ place: [JSONPlace], _ value: Value?, _ says: String
  ) -> Member {
    Member(file, "scenarios", name, ["steps", .index(step - 1)] + place, value, step: step, says)
  }

  static func conflict(
    _ file: String, _ name: String, _ place: [JSONPlace], _ value: Value?, _ says: String
  ) -> Member { Member(file, "vectors", name, place, value, says) }

  static let members: [Member] = [
    local("local/writes", "insert-and-read", 3, ["expect_count"], 2, "expect_count"),
    local("local/writes", "insert-and-read", 3, ["expect_single_title"], "y", "expect_single_title"),
    local("local/writes", "insert-and-read", 3, ["expect_column_values", "values", 0], "b", "expect_column_values id"),
    local("local/writes", "insert-and-read", 4, ["expect_depth"], "1", "expect_depth"),
    local("local/writes", "duplicate-insert", 3, ["expect_error"], false, "has to succeed"),
    local("local/writes", "duplicate-insert", 3, ["expect_code"], "UNKNOWN_TABLE", "has to fail with UNKNOWN_TABLE"),
    local("local/writes", "insert-and-read", 2, ["expect_error"], true, "has to fail"),
    local("local/writes", "insert-and-read", 2, ["mutation_op"], "upsert", "UNKNOWN_OP"),
    local("local/writes", "insert-and-read", 2, ["columns"], [7], "an object"),
    local("local/filters", "cardinality", 10, ["expect_null"], true, "expect_null"),
    local(
      "local/filters", "order-and-limit", 5, ["expect_column_values", "values"], ["c", "a", "b"], "expect_column_values"
    ),
    local("local/checkpoint", "fresh", 2, ["expect_cursor"], 0, "expect_cursor"),
    local("local/checkpoint", "fresh", 3, ["expect_count"], 1, "expect_count"),
    local("local/buckets", "unset", 3, ["expect_code"], "JSON", "has to fail with JSON"),
    conflict(
      "conflicts/verdicts", "insert-rejected-without-row", ["expect", "rows"],
      [["table": "todos", "pk": "p2", "row": [:]]], "rows"),
    conflict("conflicts/verdicts", "insert-rejected-without-row", ["expect", "tombstones"], [], "tombstones"),
    conflict(
      "conflicts/verdicts", "insert-rejected-without-row", ["expect", "tombstones", 1], "todos/p3", "tombstones"),
    conflict("conflicts/verdicts", "insert-rejected-without-row", ["expect", "outbox_depth"], 1, "outbox_depth"),
    conflict("conflicts/verdicts", "insert-rejected-without-row", ["expect", "cursor"], "1", "cursor"),
    conflict("conflicts/verdicts", "insert-rejected-without-row", ["expect", "soft_blocked"], true, "soft_blocked"),
    conflict("conflicts/verdicts", "insert-rejected-without-row", ["expect", "rejections"], [], "rejections"),
    conflict(
      "conflicts/verdicts", "insert-rejected-without-row", ["expect", "rejections", 0, "changed_columns"],
      ["title", "rank"], "rejections"),
    conflict(
      "conflicts/verdicts", "insert-rejected-without-row", ["expect", "rejections", 0, "kind"], "SUPERSEDED",
      "rejections"),
    conflict(
      "conflicts/verdicts", "insert-rejected-without-row", ["expect", "rejections", 0, "server_row"], [:], "rejections"),
    conflict(
      "conflicts/verdicts", "insert-rejected-without-row", ["expect", "events"], ["MUTATION_REJECTED", "QUEUE_DEPTH"],
      "events"),
    conflict("conflicts/verdicts", "insert-applied", ["verdicts", 0, "mutation_id"], "m9", "has to succeed"),
    conflict("conflicts/verdicts", "insert-applied", ["local_mutations", 0, "op"], "upsert", "insert"),
    conflict("conflicts/verdicts", "insert-applied", ["expect"], nil, "missing"),
    conflict("conflicts/wrong-answers", "swapped-verdicts", ["expect_error"], nil, "has to succeed"),
    conflict("conflicts/wrong-answers", "swapped-verdicts", ["expect_error", "code"], "JSON", "has to fail with JSON"),
    conflict("conflicts/wrong-answers", "swapped-verdicts", ["expect_error", "stage"], "pull_after", "has to succeed"),
    conflict(
      "conflicts/verdicts", "insert-applied", ["expect_error"], ["code": "JSON", "stage": "pull_after"], "no call"),
    conflict("conflicts/wrong-answers", "swapped-verdicts", ["expect_error", "index"], 1, "has to succeed"),
    conflict("conflicts/wrong-answers", "swapped-verdicts", ["expect_error", "stage"], "later", "pull_before"),
    conflict("conflicts/batches", "refused-then-applied", ["local_mutations"], [], "has to fail"),
    conflict("conflicts/pulls", "two-tables", ["tables"], ["todos"], "UNKNOWN_TABLE"),
    Member("local/writes", "scenarios", "insert-and-read", ["steps", 1, "op"], "guess", "no operation"),
    Member("keys/texts", "vectors", "two columns in key order", ["pk"], "[\"1\",\"3456\"]", "the key of the row"),
    Member("keys/texts", "vectors", "integer", ["row", "n"], true, "the key of the row"),
    Member("keys/texts", "vectors", "integer", ["row", "n"], 43, "the key of the row"),
  ]

  @Test("a mistake in a member of a list fails it on every side", arguments: members)
  func fails(member mistake: Member) async throws {
    var json = try OwnCases.json(mistake.file)
    let names = ["id", "name"].map { JSONPlace.name($0) }
    guard case .array(let all) = json[.name(mistake.list)] else { throw MessageDefect(path: mistake.list, reason: "") }
    let index = try #require(all.firstIndex { one in names.contains { one[$0] == .string(mistake.name) } })
    json = json.with([.name(mistake.list), .index(index)] + mistake.place, mistake.value)
    let report = try #require(try await OwnCases.run([mistake.list: [json[.name(mistake.list)][.index(index)]]]).first)
    #expect(!report.sides.isEmpty)
    for side in report.sides {
      #expect(side.failure?.step == mistake.step, "\(side)")
      let text = "\(side.failure?.subject ?? "") \(side.failure?.reason ?? "")"
      #expect(text.contains(mistake.says), "\(side)")
    }
  }

  @Test("a text that is no cursor is not accepted, one that is not rejected")
  func cursors() async throws {
    let reports = try await OwnCases.run(["accept": ["01", "7", 7], "reject": ["1:2", "x"]])
    #expect(reports.map(\.outcome) == [.failed, .passed, .failed, .failed, .passed])
    #expect(reports.map(\.name) == ["accept \"01\"", "accept \"7\"", "accept 7", "reject \"1:2\"", "reject \"x\""])
    #expect(reports.first?.sides.map(\.side) == [.server])
  }
}
