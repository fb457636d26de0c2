import Strandline
import StrandlineTestSupport
import Testing

/// The Swift code about the store in README and Docs, compiled against what everybody may use, and run.
struct StoreExamples {
  // example
  struct Todo: Codable, Equatable {
    var id: Int
    var title: String
    var done = false
  }

  static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string), ColumnSchema("done", .bool)])
  ])

  func plan(in path: String) async throws -> [Todo] {
    let store = try await Store.open(at: path, schema: Self.schema)
    let changes = try store.changes(in: "todos")
    try await store.write { tx in  // one commit: durable on return, all or nothing
      try tx.insert(Todo(id: 1, title: "works on a plane"), into: "todos")
      try tx.insert(Todo(id: 2, title: "survives a power cut", done: true), into: "todos")
    }
    let before = try store.view()  // stays as it is, whatever happens next
    for try await change in changes {
      print(change.rows.count, "rows changed by commit", change.position.sequence)
      break
    }
    try await store.reset()  // one record, whatever the store holds
    let open = try before.query("todos").where("done", .equals, false).order(by: "title").all(Todo.self)
    try await store.close()
    return open
  }
  // end

  @Test func `the README's store example runs`() async throws {
    let directory = TemporaryDirectory()
    #expect(try await plan(in: directory.path + "/store") == [Todo(id: 1, title: "works on a plane")])
  }
}
