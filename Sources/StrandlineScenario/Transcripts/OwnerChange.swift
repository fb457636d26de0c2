/// A write of the server's owner, past all policies.
struct OwnerChange: Sendable {
  enum Operation: String, CaseIterable, Sendable { case upsert, delete }

  var operation: Operation
  var table: String
  var pk: String
  var columns: [String: Value]
  /// The stamp that the columns named get, unclamped and uncompared.
  var hlc: String?

  init(_ step: MessageMember) throws(MessageDefect) {
    let word = try step.required("op")
    guard let operation = Operation(rawValue: try word.text()) else {
      throw word.defect("\"upsert\", \"delete\" or \"reap\"")
    }
    self.operation = operation
    table = try step.required("table").text()
    pk = try step.required("pk").text()
    columns = try step.present("columns")?.object() ?? [:]
    hlc = try step.present("hlc")?.text()
  }
}
