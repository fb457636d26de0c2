/// What a conflict vector says of the client's state behind the last call. Nil: nothing is said.
struct ConflictExpectation: Sendable {
  /// All live rows of all tables, each `table`, `pk` and `row`.
  var rows: [Value]?
  /// All shadows, each `table/pk`.
  var tombstones: [Value]?
  var outboxDepth: Int64?
  var cursor: String?
  var isSoftBlocked: Bool
  /// The whole journal of rejections.
  var rejections: [Value]?
  /// All events in order but for those that ``ignoredEvents`` names.
  var events: [Value]?

  static let ignoredEvents: Set<String> = ["LOCAL_CHANGED", "COLUMN_OVERWRITTEN"]

  private static let names: Set<String> = [
    "rows", "tombstones", "outbox_depth", "cursor", "soft_blocked", "rejections", "events",
  ]

  init(_ expect: MessageMember) throws(MessageDefect) {
    for name in try expect.object().keys where !Self.names.contains(name) {
      throw MessageDefect(path: "\(expect.path).\(name)", reason: "is no check")
    }
    rows = try expect.present("rows")?.list { (entry) throws(MessageDefect) in
      [
        "table": .string(try entry.required("table").text()), "pk": .string(try entry.required("pk").text()),
        "row": .object(try entry.required("row").object()),
      ]
    }
    tombstones = try expect.present("tombstones")?.list { (entry) throws(MessageDefect) in .string(try entry.text()) }
    outboxDepth = try expect.present("outbox_depth")?.integer()
    cursor = try expect.present("cursor")?.text()
    isSoftBlocked = try expect.present("soft_blocked")?.flag() ?? false
    rejections = try expect.present("rejections")?.list { (entry) throws(MessageDefect) in
      [
        "mutation_id": .string(try entry.required("mutation_id").text()),
        "kind": .string(try entry.required("kind").text()), "reason": .string(try entry.required("reason").text()),
        "changed_columns": entry.present("changed_columns")?.value ?? [],
        "server_row": entry["server_row"]?.value ?? .null,
      ]
    }
    events = try expect.present("events")?.list { (entry) throws(MessageDefect) in .string(try entry.text()) }
  }
}
