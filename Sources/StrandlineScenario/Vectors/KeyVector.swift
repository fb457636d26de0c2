/// A row, the key columns of its table, and the text of its key.
struct KeyVector: Sendable {
  var key: [String]
  var row: [String: Value]
  var pk: String

  init(_ vector: MessageMember) throws(MessageDefect) {
    key = try vector.required("key_columns").list { (column) throws(MessageDefect) in try column.text() }
    row = try vector.required("row").object()
    pk = try vector.required("pk").text()
  }
}
