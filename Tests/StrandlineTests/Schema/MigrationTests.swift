import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// Columns of another type, and columns that become required: all rows in one commit, or none.
struct MigrationTests {
  private static func schema(_ columns: [ColumnSchema], indexes: [IndexSchema] = []) -> Schema {
    Schema(tables: [TableSchema("todos", key: [KeyColumn("id", .int)], columns: columns, indexes: indexes)])
  }

  private static let byPriority = [IndexSchema("byPriority", ["priority"])]
  private static let before = schema([ColumnSchema("priority", .string), ColumnSchema("title", .string)])
  private static let after = schema(
    [ColumnSchema("priority", .int), ColumnSchema("title", .string)], indexes: byPriority)

  private struct NoNumber: Error {}

  private static let toNumber = Migration("todos", column: "priority", from: .string, to: .int) { row in
    switch row["priority"] {
    case .string("low")?: 1
    case .string("high")?: 9
    case .null?: .null
    default: throw NoNumber()
    }
  }

  private static func open(
    _ fileSystem: any FileSystem, _ schema: Schema? = nil, _ migrations: [Migration] = [],
    _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> Store {
    var options = StoreWorkload.options(fileSystem, seed: 71)
    options.history = .commits(1000)
    change(&options)
    return try Store.open(at: "/store", schema: schema, migrations: migrations, options: options)
  }

  /// Rows 0 to 299: low, high, null, no cell.
  private static func fill(_ store: Store, compacting: Bool = true) throws {
    for start in stride(from: Int64(0), to: 300, by: 30) {
      try store.write { (tx) throws(StoreError) in
        for id in start..<start + 30 {
          var row: Row = ["id": .int(id), "title": .string("title \(id)")]
          row["priority"] = [.string("low"), .string("high"), .null, nil][Int(id % 4)]
          _ = try tx.put(row, into: "todos")
        }
      }
      if compacting, start == 150 { try store.compact() }
    }
  }

  private static func priorities(_ view: ReadView) throws -> [Value?] {
    try view.query("todos").all().map { $0["priority"] }
  }

  private static let strings: [Value?] = (0..<300).map { [.string("low"), .string("high"), .null, nil][$0 % 4] }
  private static let numbers: [Value?] = (0..<300).map { [.int(1), .int(9), .null, nil][$0 % 4] }

  @Test func `every row gets the new type in the commit that declares it`() throws {
    let disk = SimulatedDisk()
    let old = try Self.open(disk, Self.before)
    try Self.fill(old)
    let sequence = try old.view().sequence
    try old.close()

    let store = try Self.open(disk, Self.after, [Self.toNumber])
    #expect(try Self.priorities(store.view()) == Self.numbers)
    #expect(try store.query("todos").where("priority", .equals, 9).count() == 75)
    #expect(try store.query("todos").where("priority", .equals, 9).explain().path == .index)
    #expect(try store.query("todos").where("title", .equals, "title 7").first()?["id"] == 7)
    // The state in front of it reads as it was, tables and all.
    let past = try store.view(at: sequence)
    #expect(try Self.priorities(past) == Self.strings)
    #expect(try past.query("todos").where("priority", .equals, "high").count() == 75)
    #expect(try store.history(of: 1, in: "todos").map { $0.row?["priority"] } == [9, "high"])
    #expect(throws: WriteError<StoreError>.self) {
      try store.write { (tx) throws(StoreError) in try tx.update(1, in: "todos", set: ["priority": "high"]) }
    }
    try store.close()

    // Once is enough, and the step may stay.
    let again = try Self.open(disk, Self.after, [Self.toNumber])
    #expect(try Self.priorities(again.view()) == Self.numbers)
    try again.compact()
    #expect(try Self.priorities(again.view()) == Self.numbers)
    try again.close()
  }

  @Test func `without a step that leads there it stays a mismatch, and so it does for an older application`() throws {
    let disk = SimulatedDisk()
    let old = try Self.open(disk, Self.before)
    try Self.fill(old, compacting: false)
    try old.close()
    let difference = SchemaDifference.columnTypeChanged(
      table: "todos", column: "priority", stored: "string", declared: "int")
    let wrong = [
      [], [Migration("todos", column: "priority", from: .bool, to: .int) { _ in 1 }],
      [Migration("todos", column: "priority", from: .string, to: .double) { _ in 1 }],
      [Migration("notes", column: "priority", from: .string, to: .int) { _ in 1 }],
    ]
    for migrations in wrong {
      #expect(throws: StoreError.schemaMismatch([difference])) { try Self.open(disk, Self.after, migrations) }
    }
    #expect(throws: StoreError.schemaMismatch([difference])) {
      try Self.open(disk, Self.after, [Self.toNumber]) { $0.log.access = .readOnly }
    }
    try Self.open(disk, Self.after, [Self.toNumber]).close()
    #expect(
      throws: StoreError.schemaMismatch([
        .columnTypeChanged(table: "todos", column: "priority", stored: "int", declared: "string")
      ])
    ) { try Self.open(disk, Self.before) }
  }

  @Test func `a step that throws leaves nothing`() throws {
    let disk = SimulatedDisk()
    let old = try Self.open(disk, Self.before)
    try Self.fill(old)
    try old.write { (tx) throws(StoreError) in _ = try tx.put(["id": 299, "priority": "so so"], into: "todos") }
    let sequence = try old.view().sequence
    try old.close()
    #expect(throws: StoreError.migrationFailed(table: "todos", column: "priority", reason: "NoNumber()")) {
      try Self.open(disk, Self.after, [Self.toNumber])
    }
    let wrongType = Migration("todos", column: "priority", from: .string, to: .int) { _ in "no number" }
    #expect(
      throws: StoreError.typeMismatch(table: "todos", column: "priority", expected: "int", found: "string")
    ) { try Self.open(disk, Self.after, [wrongType]) }
    let store = try Self.open(disk, Self.before)
    #expect(try store.view().sequence == sequence)
    #expect(try Self.priorities(store.view()).prefix(299) == Self.strings.prefix(299))
    try store.close()
  }

  @Test func `steps follow each other, and columns that become required are filled`() throws {
    let disk = SimulatedDisk()
    let old = try Self.open(disk, Self.before)
    try Self.fill(old)
    try old.close()
    let last = Self.schema([
      ColumnSchema("priority", .object, isNullable: false), ColumnSchema("name", .string, renamedFrom: "title"),
      ColumnSchema("state", .string, isNullable: false),
    ])
    #expect(
      throws: StoreError.schemaMismatch([
        .columnTypeChanged(table: "todos", column: "priority", stored: "string", declared: "object"),
        .columnBecameRequired(table: "todos", column: "priority"),
        .columnBecameRequired(table: "todos", column: "state"),
      ])
    ) { try Self.open(disk, last) }
    let store = try Self.open(
      disk, last,
      [
        Self.toNumber,
        Migration("todos", column: "priority", from: .int, to: .object) { row in
          .object(["rank": row["priority"] ?? .null, "of": row["name"] ?? .null])
        },
        Migration("todos", filling: "priority") { _ in .object(["rank": 5]) },
        Migration("todos", filling: "state") { row in .string("state of \(row["id"] ?? .null)") },
      ])
    let rows = try store.query("todos").limit(4).all()
    #expect(
      rows.map { $0["priority"] } == [
        ["rank": 1, "of": "title 0"], ["rank": 9, "of": "title 1"], ["rank": .null, "of": "title 2"], ["rank": 5],
      ])
    #expect(rows.allSatisfy { $0["state"] != nil && $0["name"] != nil && $0["title"] == nil })
    try store.close()
  }

  /// Killed or without power at any call of the open that migrates.
  @Test func `after a crash all rows are as before or all are as declared`() throws {
    let disk = SimulatedDisk()
    let old = try Self.open(disk, Self.before)
    try Self.fill(old)
    try old.close()
    let image = disk.image
    let counter = FaultyFileSystem(SimulatedDisk(image))
    try Self.open(counter, Self.after, [Self.toNumber]).close()
    let callCount = counter.callCount
    var migratedCount = 0
    var random = SeededGenerator(seed: 72 &+ SoakScale.seed)
    for call in stride(from: 0, to: callCount, by: SoakScale.stride(of: callCount, running: 60)) {
      let crashing = SimulatedDisk(image)
      let faulty = FaultyFileSystem(crashing)
      faulty.crash(after: call)
      _ = try? Self.open(faulty, Self.after, [Self.toNumber])
      for disk in [crashing.kill(), crashing.powerLoss(keeping: .random(seed: random.next()))] {
        let plain = try Self.open(disk)
        let found = try Self.priorities(plain.view())
        #expect(found == Self.strings || found == Self.numbers, "call \(call)")
        if found == Self.numbers { migratedCount += 1 }
        try plain.close()
        let store = try Self.open(disk, Self.after, [Self.toNumber])
        #expect(try Self.priorities(store.view()) == Self.numbers, "call \(call)")
        try store.close()
      }
    }
    #expect(migratedCount > 0)
  }

  @Test func `an older application opens, passes over what it does not know, and keeps it`() throws {
    let disk = SimulatedDisk()
    let newer = Self.schema(
      [ColumnSchema("priority", .string), ColumnSchema("title", .string), ColumnSchema("due", .timestamp)],
      indexes: [IndexSchema("byDue", ["due"])])
    let new = try Self.open(disk, newer)
    try new.write { (tx) throws(StoreError) in
      _ = try tx.put(["id": 1, "title": "one", "due": .timestamp(77)], into: "todos")
    }
    try new.close()
    let old = try Self.open(disk, Self.before)
    try old.write { (tx) throws(StoreError) in
      try tx.update(1, in: "todos", set: ["title": "changed"])
      _ = try tx.put(["id": 2, "title": "two"], into: "todos")
    }
    try old.close()
    let again = try Self.open(disk, newer)
    #expect(try again.view().get(1, in: "todos") == ["id": 1, "title": "changed", "due": .timestamp(77)])
    #expect(try again.query("todos").where("due", .equals, .timestamp(77)).count() == 1)
    try again.close()
  }

  @Test func `history shows the tables of its time`() throws {
    let disk = SimulatedDisk()
    let store = try Self.open(disk, Self.before)
    try Self.fill(store)
    let sequence = try store.view().sequence
    // Filled later, and no help for what was before it.
    try store.adopt(
      Self.schema([ColumnSchema("title", .string)], indexes: [IndexSchema("byTitle", ["title"])]))
    try store.compact()
    #expect(try store.query("todos").where("title", .equals, "title 8").explain().path == .index)
    #expect(try store.query("todos").where("title", .equals, "title 8").count() == 1)
    let past = try store.view(at: sequence)
    #expect(try past.query("todos").where("title", .equals, "title 8").count() == 1)
    // A table that is dropped keeps its rows for as long as they can be asked for.
    try store.adopt(Schema(tables: [], dropped: ["todos"]))
    try store.compact()
    #expect(throws: StoreError.unknownTable("todos")) { try store.query("todos").count() }
    #expect(try store.view(at: sequence).query("todos").count() == 300)
    try store.close()
    // Then they go.
    let forgetful = try Self.open(disk) { $0.history = .none }
    try forgetful.write { (tx) throws(StoreError) in try tx.append(["a": 1], type: "t", to: "s") }
    try forgetful.compact()
    let rows = try forgetful.statistics().contents.first { $0.family == "row" }
    #expect(rows == nil)
    try forgetful.close()
  }
}
