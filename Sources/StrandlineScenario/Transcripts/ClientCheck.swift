/// What has to hold of the client at a place of a transcript.
enum ClientCheck: Sendable {
  /// The columns as they are stored; nil if there must be no live row.
  case localRow(table: String, pk: String, row: [String: Value]?)
  case cursor(String)
  case outboxDepth(Int64)
  /// An event of that upper-case name, since the start or since the last assert step.
  case event(String, sinceLastAssert: Bool)
  /// Nothing of a pull sequence that has not closed shows.
  case noIntermediateCommit

  init(_ check: MessageMember) throws(MessageDefect) {
    let word = try check.required("check")
    self =
      switch try word.text() {
      case "local-row":
        .localRow(
          table: try check.required("table").text(), pk: try check.required("pk").text(),
          row: try Self.row(check.required("row")))
      case "cursor": .cursor(try check.required("value").text())
      case "outbox-depth": .outboxDepth(try check.required("value").integer())
      case "event":
        .event(
          try check.required(check["event"] == nil ? "value" : "event").text(),
          sinceLastAssert: try check.present("since_last_assert")?.flag() ?? false)
      case "no-intermediate-commit": .noIntermediateCommit
      case let name: throw MessageDefect(path: word.path, reason: "\"\(name)\" is no check")
      }
  }

  private static func row(_ row: MessageMember) throws(MessageDefect) -> [String: Value]? {
    row.value.isNull ? nil : try row.object()
  }
}
