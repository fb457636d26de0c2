import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// What applications do with a store: types of their own, queries, history, schemas that grow, full disks.
struct StoreUseTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  private struct Todo: Codable, Equatable {
    var id: Int64
    var title: String
    var done = false
    var priority: Int?
  }

  private static let schema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)],
      columns: [ColumnSchema("title", .string), ColumnSchema("done", .bool), ColumnSchema("priority", .int)])
  ])

  private static let indexedSchema = Schema(tables: [
    TableSchema(
      "todos", key: [KeyColumn("id", .int)],
      columns: [ColumnSchema("title", .string), ColumnSchema("done", .bool), ColumnSchema("priority", .int)],
      indexes: [IndexSchema("byPriority", ["priority"])])
  ])

  @Test func `types of the application are stored, read and queried`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    let todos = (0..<50).map {
      Todo(id: $0, title: "todo \($0)", done: $0 % 3 == 0, priority: $0 % 2 == 0 ? Int($0) : nil)
    }
    try store.write { (tx) throws(StoreError) in
      for todo in todos { try tx.insert(todo, into: "todos") }
      #expect(try tx.query("todos").where("done", .equals, true).count() == 17)
    }
    let view = try store.view()
    #expect(try view.get(Todo.self, 7, in: "todos") == todos[7])
    let open = try view.query("todos").where("done", .equals, false).order(by: "title").limit(3).all(Todo.self)
    #expect(open.map(\.title) == ["todo 1", "todo 10", "todo 11"])
    #expect(try view.query("todos").where("priority", .greaterThan, 40).count() == 4)
    try store.close()
  }

  @Test func `an index declared later is filled, and answers what a scan answers`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    try store.write { (tx) throws(StoreError) in
      for id in Int64(0)..<2000 {
        try tx.insert(Todo(id: id, title: "todo", priority: id % 7 == 0 ? nil : Int(id % 10)), into: "todos")
      }
    }
    let scanned = try store.view().query("todos").where("priority", .equals, 3).all(Todo.self)
    try store.close()
    let again = try Store.open(at: path, schema: Self.indexedSchema)
    try again.write { (tx) throws(StoreError) in
      try tx.delete(3, from: "todos")
      try tx.update(4, in: "todos", set: ["priority": 3])
    }
    // Compaction comes after the filling on the same thread.
    try again.compact()
    let query = try again.view().query("todos").where("priority", .equals, 3)
    #expect(try "\(query.explain())".contains("byPriority"))
    var expected = scanned.filter { $0.id != 3 }
    expected.append(Todo(id: 4, title: "todo", priority: 3))
    #expect(try query.all(Todo.self).sorted { $0.id < $1.id } == expected.sorted { $0.id < $1.id })
    try again.close()
  }

  @Test func `history shows the versions that are kept, and a view of then shows the rows of then`() throws {
    var options = StoreOptions()
    options.history = .commits(100)
    let store = try Store.open(at: path, schema: Self.schema, options: options)
    var sequences: [SequenceNumber] = []
    for round in 0..<5 {
      sequences.append(
        try store.write { (tx) throws(StoreError) in
          try tx.put(Todo(id: 1, title: "round \(round)"), into: "todos")
          return tx.sequence
        })
      if round == 2 { try store.compact() }
    }
    try store.write { (tx) throws(StoreError) in _ = try tx.delete(1, from: "todos") }
    try store.compact()
    let history = try store.history(of: 1, in: "todos")
    #expect(history.map { $0.row?["title"] } == [nil, "round 4", "round 3", "round 2", "round 1", "round 0"])
    for (round, sequence) in sequences.enumerated() {
      #expect(try store.view(at: sequence).get(1, in: "todos")?["title"] == .string("round \(round)"))
    }
    #expect(try store.view().get(1, in: "todos") == nil)
    try store.close()
    // Without retention the next compaction leaves the newest alone.
    let plain = try Store.open(at: path, schema: Self.schema)
    try plain.write { (tx) throws(StoreError) in _ = try tx.put(Todo(id: 2, title: "other"), into: "todos") }
    try plain.compact()
    #expect(try plain.history(of: 1, in: "todos").isEmpty)
    #expect(throws: StoreError.self) { try plain.view(at: sequences[0]) }
    try plain.close()
  }

  @Test func `what cannot be written is refused with its reason and changes nothing`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    func reason(_ body: (inout Transaction) throws(StoreError) -> Void) -> StoreError? {
      do throws(WriteError<StoreError>) {
        try store.write(body)
        return nil
      } catch {
        switch error {
        case .store(let reason), .body(let reason): return reason
        }
      }
    }
    #expect(reason { tx throws(StoreError) in try tx.insert(["id": 1], into: "nowhere") } == .unknownTable("nowhere"))
    #expect(
      reason { tx throws(StoreError) in try tx.insert(["id": 1, "colour": "red"], into: "todos") }
        == .unknownColumn(table: "todos", column: "colour"))
    if case .typeMismatch? = reason({ tx throws(StoreError) in
      try tx.insert(["id": 1, "done": "perhaps"], into: "todos")
    }) {
    } else {
      Issue.record("a text in a bool column was not refused")
    }
    if case .invalidKey? = reason({ tx throws(StoreError) in try tx.insert(["title": "no key"], into: "todos") }) {
    } else {
      Issue.record("a row without its key was not refused")
    }
    let long = String(repeating: "x", count: 17 << 20)
    if case .limitExceeded? = reason({ tx throws(StoreError) in
      try tx.insert(["id": 1, "title": .string(long)], into: "todos")
    }) {
    } else {
      Issue.record("a row of 17 MiB was not refused")
    }
    #expect(try store.view().query("todos").count() == 0)
    #expect(store.position.sequence == SequenceNumber(1))
    try store.close()
    #expect(throws: StoreError.self) {
      try Store.open(
        at: path,
        schema: Schema(tables: [
          TableSchema("todos", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .int)])
        ]))
    }
  }

  @Test func `a read-only opener sees what is there and writes nothing`() throws {
    let store = try Store.open(at: path, schema: Self.schema)
    try store.write { (tx) throws(StoreError) in _ = try tx.insert(Todo(id: 1, title: "one"), into: "todos") }
    #expect(throws: StoreError.self) { try Store.open(at: path) }
    var options = StoreOptions()
    options.log.access = .readOnly
    let reader = try Store.open(at: path, options: options)
    #expect(try reader.view().get(1, in: "todos")?["title"] == "one")
    #expect(throws: WriteError<StoreError>.self) {
      try reader.write { (tx) throws(StoreError) in _ = try tx.insert(Todo(id: 2, title: "two"), into: "todos") }
    }
    #expect(try reader.view().get(2, in: "todos") == nil)
    try reader.close()
    try store.close()
  }
}
