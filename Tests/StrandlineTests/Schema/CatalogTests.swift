import StrandlineTestSupport
import Testing

@testable import Strandline

/// One rule of evolution: what was declared before, what is declared now, and what comes of it.
struct EvolutionRule: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// The table then has these columns, in the order of their numbers; dropped ones in brackets.
    case columns(String)
    /// The table then has these indexes and states.
    case indexes(String)
    /// The live tables, by number.
    case tables(String)
    case unchanged
    case mismatch([SchemaDifference])
    case invalid
  }

  var testDescription: String
  var before: Schema
  var after: Schema
  var outcome: Outcome

  init(_ name: String, from before: Schema?, to after: Schema, _ outcome: Outcome) {
    testDescription = name
    self.before = before ?? Schema(tables: [])
    self.after = after
    self.outcome = outcome
  }
}

private func table(
  _ columns: [ColumnSchema] = [], _ indexes: [IndexSchema] = [], key: [KeyColumn] = [KeyColumn("id", .uuid)],
  named name: String = "t",
  from former: String? = nil, other: Bool = false, dropColumns: [String] = [], dropIndexes: [String] = []
) -> TableSchema {
  var table = TableSchema(
    name, key: key, columns: columns, indexes: indexes, allowsOtherColumns: other, renamedFrom: former)
  table.droppedColumns = dropColumns
  table.droppedIndexes = dropIndexes
  return table
}

private func schema(
  _ columns: [ColumnSchema] = [], _ indexes: [IndexSchema] = [], key: [KeyColumn] = [KeyColumn("id", .uuid)],
  dropColumns: [String] = [], dropIndexes: [String] = []
) -> Schema {
  Schema(tables: [table(columns, indexes, key: key, dropColumns: dropColumns, dropIndexes: dropIndexes)])
}

private let a = ColumnSchema("a", .int)
private let b = ColumnSchema("b", .string)
private let bFromA = ColumnSchema("b", .int, renamedFrom: "a")
private let requiredA = ColumnSchema("a", .int, isNullable: false)
private let byA = IndexSchema("by", ["a"])

struct CatalogTests {
  static let rules: [EvolutionRule] = [
    // Tables
    EvolutionRule("a table is added", from: nil, to: schema([a]), .tables("1 t")),
    EvolutionRule(
      "a second table is added", from: schema(), to: Schema(tables: [table(), table(named: "u")]), .tables("1 t, 2 u")),
    EvolutionRule("a table that is not declared stays", from: schema([a]), to: Schema(tables: []), .unchanged),
    EvolutionRule("the same again changes nothing", from: schema([a], [byA]), to: schema([a], [byA]), .unchanged),
    EvolutionRule("a table is dropped", from: schema(), to: Schema(tables: [], dropped: ["t"]), .tables("")),
    EvolutionRule(
      "a drop of what is not there is fine", from: schema(), to: Schema(tables: [], dropped: ["x"]), .unchanged),
    EvolutionRule(
      "a table is renamed", from: schema(), to: Schema(tables: [table(named: "u", from: "t")]), .tables("1 u")),
    EvolutionRule(
      "a rename that happened is fine", from: Schema(tables: [table(named: "u")]),
      to: Schema(tables: [table(named: "u", from: "t")]),
      .unchanged),
    EvolutionRule(
      "a rename in a new store is fine", from: nil, to: Schema(tables: [table(named: "u", from: "t")]), .tables("1 u")),
    EvolutionRule(
      "another key is a mismatch", from: schema(), to: schema(key: [KeyColumn("id", .int)]),
      .mismatch([.keyChanged(table: "t", stored: "id uuid", declared: "id int")])),
    EvolutionRule(
      "a longer key is a mismatch", from: schema(), to: schema(key: [KeyColumn("id", .uuid), KeyColumn("n", .int)]),
      .mismatch([.keyChanged(table: "t", stored: "id uuid", declared: "id uuid, n int")])),
    // Columns
    EvolutionRule("a nullable column is added", from: schema([a]), to: schema([a, b]), .columns("id a b")),
    EvolutionRule("a required column in a new table", from: nil, to: schema([requiredA]), .columns("id a!")),
    EvolutionRule(
      "a required column cannot be added", from: schema(), to: schema([requiredA]),
      .mismatch([.columnBecameRequired(table: "t", column: "a")])),
    EvolutionRule(
      "a nullable column cannot become required", from: schema([a]), to: schema([requiredA]),
      .mismatch([.columnBecameRequired(table: "t", column: "a")])),
    EvolutionRule("a required column becomes nullable", from: schema([requiredA]), to: schema([a]), .columns("id a")),
    EvolutionRule(
      "another type is a mismatch", from: schema([a]), to: schema([ColumnSchema("a", .string)]),
      .mismatch([.columnTypeChanged(table: "t", column: "a", stored: "int", declared: "string")])),
    EvolutionRule(
      "an older schema keeps what it does not know", from: schema([a, b], [byA]), to: schema([a]), .unchanged),
    EvolutionRule(
      "a column is dropped", from: schema([a, b]), to: schema([b], dropColumns: ["a"]), .columns("id (a) b")),
    EvolutionRule("a drop that happened is fine", from: schema([b]), to: schema([b], dropColumns: ["a"]), .unchanged),
    EvolutionRule(
      "a key column cannot be dropped", from: schema([a]), to: schema([a], dropColumns: ["id"]), .unchanged),
    EvolutionRule("a column is renamed", from: schema([a]), to: schema([bFromA]), .columns("id b")),
    EvolutionRule(
      "a renamed column keeps its type", from: schema([a]), to: schema([ColumnSchema("b", .string, renamedFrom: "a")]),
      .mismatch([.columnTypeChanged(table: "t", column: "b", stored: "int", declared: "string")])),
    EvolutionRule(
      "a column's rename that happened is fine", from: schema([ColumnSchema("b", .int)]), to: schema([bFromA]),
      .unchanged),
    EvolutionRule("a column's rename in a new table is fine", from: nil, to: schema([bFromA]), .columns("id b")),
    EvolutionRule(
      "a rename of what is not there is a mismatch", from: schema(), to: schema([bFromA]),
      .mismatch([.renameOfUnknown(table: "t", from: "a")])),
    EvolutionRule("a rename and the old name anew", from: schema([a]), to: schema([bFromA, a]), .columns("id b a")),
    EvolutionRule(
      "the same, declared the other way round", from: schema([a]), to: schema([a, bFromA]), .columns("id b a")),
    EvolutionRule(
      "all differences are told at once", from: schema([a, b]), to: schema([requiredA, ColumnSchema("b", .int)]),
      .mismatch([
        .columnBecameRequired(table: "t", column: "a"),
        .columnTypeChanged(table: "t", column: "b", stored: "string", declared: "int"),
      ])),
    // Indexes
    EvolutionRule("an index of a new table is ready", from: nil, to: schema([a], [byA]), .indexes("by ready")),
    EvolutionRule("an index is added and built", from: schema([a]), to: schema([a], [byA]), .indexes("by building")),
    EvolutionRule(
      "an index over other columns is another index", from: schema([a, b], [byA]),
      to: schema([a, b], [IndexSchema("by", ["b"])]),
      .indexes("by dropped, by building")),
    EvolutionRule(
      "an index is dropped", from: schema([a], [byA]), to: schema([a], dropIndexes: ["by"]), .indexes("by dropped")),
    EvolutionRule(
      "an index over a renamed column stays", from: schema([a], [byA]),
      to: schema([bFromA], [IndexSchema("by", ["b"])]),
      .indexes("by ready")),
    EvolutionRule(
      "an index over a key column", from: nil, to: schema([], [IndexSchema("by", ["id"])]), .indexes("by ready")),
    EvolutionRule(
      "an index goes with its column", from: schema([a], [byA]), to: schema(dropColumns: ["a"]), .indexes("by dropped")),
    // Contradictions
    EvolutionRule("a table declared twice", from: nil, to: Schema(tables: [table(), table()]), .invalid),
    EvolutionRule("a table declared and dropped", from: nil, to: Schema(tables: [table()], dropped: ["t"]), .invalid),
    EvolutionRule("a table without a key", from: nil, to: schema(key: []), .invalid),
    EvolutionRule(
      "a key column twice", from: nil, to: schema(key: [KeyColumn("x", .int), KeyColumn("x", .int)]), .invalid),
    EvolutionRule("a column twice", from: nil, to: schema([a, requiredA]), .invalid),
    EvolutionRule("a column that is in the key too", from: nil, to: schema([ColumnSchema("id", .uuid)]), .invalid),
    EvolutionRule("a column declared and dropped", from: schema([a]), to: schema([a], dropColumns: ["a"]), .invalid),
    EvolutionRule("an empty name", from: nil, to: schema([ColumnSchema("", .int)]), .invalid),
    EvolutionRule(
      "a long name", from: nil, to: schema([ColumnSchema(String(repeating: "x", count: 257), .int)]), .invalid),
    EvolutionRule("an index twice", from: nil, to: schema([a], [byA, byA]), .invalid),
    EvolutionRule("an index without columns", from: nil, to: schema([a], [IndexSchema("by", [])]), .invalid),
    EvolutionRule(
      "an index over nine columns", from: nil, to: schema([a], [IndexSchema("by", (0..<9).map { "c\($0)" })]), .invalid),
    EvolutionRule(
      "an index with a column twice", from: nil, to: schema([a], [IndexSchema("by", ["a", "a"])]), .invalid),
    EvolutionRule("an index over what is not there", from: nil, to: schema([a], [IndexSchema("by", ["x"])]), .invalid),
    EvolutionRule(
      "two renames from one name", from: schema([a]), to: schema([bFromA, ColumnSchema("c", .int, renamedFrom: "a")]),
      .invalid),
    EvolutionRule(
      "a chain of renames", from: schema([a]), to: schema([bFromA, ColumnSchema("a", .int, renamedFrom: "b")]), .invalid
    ),
    EvolutionRule(
      "a rename from the key", from: schema(), to: schema([ColumnSchema("b", .uuid, renamedFrom: "id")]), .invalid),
  ]

  @Test(arguments: rules)
  func `schemas evolve by the rules`(_ rule: EvolutionRule) throws {
    let before = try Catalog().adopting(rule.before).catalog
    do throws(StoreError) {
      let adoption = try before.adopting(rule.after)
      let (catalog, changed) = (adoption.catalog, adoption.changed)
      let table = catalog.all.first
      switch rule.outcome {
      case .columns(let text): #expect(table.map(columns) == text)
      case .indexes(let text):
        #expect(table?.indexes.map { "\($0.name) \($0.state)" }.joined(separator: ", ") == text)
      case .tables(let text):
        #expect(catalog.all.filter { !$0.isDropped }.map { "\($0.number) \($0.name)" }.joined(separator: ", ") == text)
      case .unchanged: #expect(changed.isEmpty && catalog == before)
      case .mismatch, .invalid: Issue.record("adopted: \(catalog)")
      }
      // What is to be written is what changed, and read back it is the same catalog.
      #expect(changed == catalog.all.filter { definition in !before.all.contains(definition) })
      let written = try catalog.all.map { (definition) throws(StoreError) in
        try definition.encoded().span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
          try TableDefinition.decode(bytes, number: definition.number)
        }
      }
      #expect(Catalog(written) == catalog)
      // Declared once more it is in force already.
      #expect(try catalog.adopting(rule.after).changed.isEmpty)
    } catch {
      switch (rule.outcome, error) {
      case (.mismatch(let expected), .schemaMismatch(let found)): #expect(expected == found)
      case (.invalid, .invalidSchema): break
      default: Issue.record("\(error)")
      }
    }
  }

  private func columns(_ table: TableDefinition) -> String {
    #expect(table.columns.map(\.number) == (0..<UInt16(table.columns.count)).map { $0 })
    return table.columns.map { column in
      let isKey = table.key.contains { $0.name == column.name }
      let name = column.name + (column.isNullable || isKey ? "" : "!")
      return column.isDropped ? "(\(name))" : name
    }.joined(separator: " ")
  }

  @Test func `a name that was dropped and comes again has a new number`() throws {
    var catalog = try Catalog().adopting(schema([a], [byA])).catalog
    catalog = try catalog.adopting(schema(dropColumns: ["a"], dropIndexes: ["by"])).catalog
    catalog = try catalog.adopting(schema([ColumnSchema("a", .string)], [byA])).catalog
    #expect(columns(catalog.all[0]) == "id (a) a")
    #expect(catalog.all[0].indexes.map(\.number) == [0, 1] && catalog.all[0].indexes[1].columns == [2])
    catalog = try catalog.adopting(Schema(tables: [], dropped: ["t"])).catalog
    catalog = try catalog.adopting(schema()).catalog
    #expect(catalog.all.map { "\($0.number) \($0.isDropped)" } == ["1 true", "2 false"])
  }

  @Test func `a built index is put to use once`() throws {
    var catalog = try Catalog().adopting(schema([a])).catalog
    catalog = try catalog.adopting(schema([a], [byA])).catalog
    #expect(catalog.markReady(index: 0, ofTable: 1)?.indexes[0].state == .ready)
    #expect(catalog.markReady(index: 0, ofTable: 1) == nil)
    #expect(catalog.markReady(index: 1, ofTable: 1) == nil && catalog.markReady(index: 0, ofTable: 2) == nil)
  }

  // MARK: Columns in use

  @Test func `columns get numbers as rows bring them, told apart by their bytes`() throws {
    var catalog = try Catalog().adopting(Schema(tables: [table([a], other: true)])).catalog
    let added = try catalog.addColumns(["x", "a", "id", "x", "é", "e\u{301}"], to: 1)
    #expect(added.map(columns) == "id a x é e\u{301}")
    #expect(added?.columns[3].name.utf8.count == 2 && added?.columns[4].name.utf8.count == 3)
    #expect(try catalog.addColumns(["x", "é", "e\u{301}", "a"], to: 1) == nil)
    #expect(throws: StoreError.self) { try catalog.addColumns([""], to: 1) }
  }

  @Test func `a table has at most 4,096 columns in its life`() throws {
    var catalog = try Catalog().adopting(Schema(tables: [table(other: true)])).catalog
    _ = try catalog.addColumns((0..<4095).map { "c\($0)" }, to: 1)
    let before = catalog
    let error = #expect(throws: StoreError.self) { try catalog.addColumns(["one more"], to: 1) }
    #expect(error == .limitExceeded(StoreLimit(name: "columnCount", value: 4097, maximum: 4096)))
    #expect(catalog == before)
    let columns = (0..<4096).map { ColumnSchema("c\($0)", .int) }
    #expect(throws: StoreError.self) { try Catalog().adopting(schema(columns)) }
  }

  @Test func `a store has at most 65,535 tables in its life`() throws {
    let last = try Catalog().adopting(schema()).catalog.all[0]
    var definition = last
    definition.number = 65_534
    let catalog = try Catalog([definition]).adopting(Schema(tables: [table(named: "u")])).catalog
    #expect(catalog.all.last?.number == 65_535)
    let error = #expect(throws: StoreError.self) { try catalog.adopting(Schema(tables: [table(named: "v")])) }
    #expect(error == .limitExceeded(StoreLimit(name: "tableCount", value: 65_536, maximum: 65_535)))
  }

  // MARK: Damage

  @Test(arguments: [UInt64(1), 2])
  func `a damaged definition is refused or is sound`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    let columns = [a, ColumnSchema("größe", .double, isNullable: false), ColumnSchema("c", .any)]
    let definition = try Catalog().adopting(
      Schema(tables: [table(columns, [byA, IndexSchema("two", ["c", "id"])], other: true)])
    ).catalog.all[0]
    let bytes = definition.encoded()
    for _ in 0..<20_000 {
      var damaged = bytes
      for _ in 0...random.int(2) { damaged[random.int(bytes.count)] = UInt8(random.int(256)) }
      if random.int(4) == 0 { damaged.removeLast(random.int(damaged.count)) }
      check(damaged)
      check(random.generator.bytes(random.int(40)))
    }
  }

  private func check(_ bytes: [UInt8]) {
    do throws(StoreError) {
      let definition = try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
        try TableDefinition.decode(bytes, number: 1)
      }
      #expect(definition.columns.indices.allSatisfy { definition.columns[$0].number == $0 })
      #expect(definition.indexes.indices.allSatisfy { definition.indexes[$0].number == $0 })
      #expect(definition.indexes.allSatisfy { $0.columns.allSatisfy { Int($0) < definition.columns.count } })
      let names = definition.columns.filter { !$0.isDropped }.map { Array($0.name.utf8) }
      #expect(Set(names).count == names.count)
      #expect(definition.encoded() == bytes)
    } catch {
      guard case .undecodable = error else {
        Issue.record("\(error)")
        return
      }
    }
  }
}
