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

  func plan(in path: String) async throws -> [Todo] {
    let schema = Schema(tables: [
      TableSchema(
        "todos", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string), ColumnSchema("done", .bool)])
    ])
    let store = try await Store.open(at: path, schema: schema)
    let live = try store.observe(store.query("todos").where("done", .equals, false).order(by: "title"))
    try await store.write { tx in  // one commit: durable on return, all or nothing
      try tx.insert(Todo(id: 1, title: "works on a plane"), into: "todos")
      try tx.insert(Todo(id: 2, title: "survives a power cut", done: true), into: "todos")
    }
    for try await change in live {  // first what is there, then what each commit changed
      for row in change.came { print("to do:", try row.decoded(Todo.self).title) }
      if !change.came.isEmpty { break }
    }
    let before = try store.view()  // stays as it is, whatever happens next
    try await store.reset()  // one record, whatever the store holds
    let todos = try before.query("todos").where("done", .equals, false).all(Todo.self)
    try await store.close()
    return todos
  }
  // end

  @Test func `the README's store example runs`() async throws {
    let directory = TemporaryDirectory()
    #expect(try await plan(in: directory.path + "/store") == [Todo(id: 1, title: "works on a plane")])
  }
}
