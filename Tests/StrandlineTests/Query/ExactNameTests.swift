@_spi(Engine) import StrandlineLog
import StrandlineTestSupport
import Testing

@testable import Strandline

/// Names that Unicode takes for one and that differ in their bytes, as file names of different systems do.
struct ExactNameTests {
  private static let composed = "caf\u{e9}"
  private static let decomposed = "cafe\u{301}"

  private static func ids(_ query: Query) throws -> [Value] { try query.all().map { $0["id"] ?? .null } }

  private static func bytes(_ row: Row) -> [[UInt8]] { row.columns.map { Array($0.utf8) } }

  private static func row(_ id: Int64, _ name: String, _ value: Value) -> Row {
    var row: Row = ["id": .int(id)]
    row[name] = value
    return row
  }

  @Test(arguments: [false, true])
  func `columns are told apart by filters, orders, projections and indexes`(areDeclared: Bool) throws {
    let names = [Self.composed, Self.decomposed]
    let schema = Schema(tables: [
      TableSchema(
        "t", key: [KeyColumn("id", .int)], columns: areDeclared ? names.map { ColumnSchema($0, .string) } : [],
        indexes: areDeclared ? names.map { IndexSchema($0, [$0]) } : [], allowsOtherColumns: !areDeclared)
    ])
    let store = try Store.open(at: "/store", schema: schema, options: StoreWorkload.options(SimulatedDisk(), seed: 5))
    try store.write { (tx) throws(StoreError) in
      _ = try tx.put(Self.row(1, Self.composed, "nfc"), into: "t")
      _ = try tx.put(Self.row(2, Self.decomposed, "nfd"), into: "t")
    }
    let table = try store.view().query("t")
    #expect(try Self.ids(table.where(Self.decomposed, .equals, "nfd")) == [2])
    #expect(try Self.ids(table.where(Self.decomposed, .equals, "nfc")) == [])
    #expect(try Self.ids(table.where(Self.composed, .equals, "nfc")) == [1])
    #expect(try Self.ids(table.where(Self.decomposed, .is, .null)) == [1])
    #expect(try Self.ids(table.where(Self.composed, .is, .null)) == [2])
    #expect(try Self.ids(table.order(by: Self.decomposed)) == Self.ids(table.order(by: Self.composed)).reversed())
    let shown = try table.select("id,\(Self.composed),\(Self.decomposed)").all()
    let expected: [[[UInt8]: Value]] = [
      [Array("id".utf8): 1, Array(Self.composed.utf8): "nfc", Array(Self.decomposed.utf8): .null],
      [Array("id".utf8): 2, Array(Self.composed.utf8): .null, Array(Self.decomposed.utf8): "nfd"],
    ]
    #expect(
      shown.map { row in Dictionary(uniqueKeysWithValues: row.cells.map { (Array($0.name.utf8), $0.value) }) }
        == expected)
    let one = try #require(try table.select(Self.decomposed).all().first)
    #expect(Self.bytes(one) == [Array(Self.decomposed.utf8)])
  }

  @Test func `a key column is told apart from another that is required`() throws {
    let schema = Schema(tables: [
      TableSchema(
        "t", key: [KeyColumn(Self.composed, .int)],
        columns: [ColumnSchema(Self.decomposed, .int, isNullable: false)])
    ])
    let store = try Store.open(at: "/store", schema: schema, options: StoreWorkload.options(SimulatedDisk(), seed: 6))
    var row: Row = [:]
    row[Self.composed] = 1
    #expect(throws: WriteError<StoreError>.self) {
      try store.write { (tx) throws(StoreError) in _ = try tx.put(row, into: "t") }
    }
    row[Self.decomposed] = 2
    try store.write { (tx) throws(StoreError) in _ = try tx.put(row, into: "t") }
    #expect(try store.view().get(1, in: "t")?[Self.decomposed] == 2)
  }

  @Test func `an index of the other spelling is another index`() throws {
    let disk = SimulatedDisk()
    func schema(_ indexes: [String], dropped: [String] = []) -> Schema {
      var table = TableSchema(
        "t", key: [KeyColumn("id", .int)], columns: [ColumnSchema("a", .int)],
        indexes: indexes.map { IndexSchema($0, ["a"]) })
      table.droppedIndexes = dropped
      return Schema(tables: [table])
    }
    let options = StoreWorkload.options(disk, seed: 7)
    try Store.open(at: "/store", schema: schema([Self.composed, Self.decomposed]), options: options).close()
    let store = try Store.open(
      at: "/store", schema: schema([Self.composed], dropped: [Self.decomposed]), options: options)
    let names = try store.engine.snapshot().state.tables.named("t").indexes.map { Array($0.name.utf8) }
    #expect(names == [Array(Self.composed.utf8)])
  }

  @Test func `members of objects are told apart by containment`() {
    let composed = Value.object([Self.composed: 1])
    let decomposed = Value.object([Self.decomposed: 1])
    #expect(composed.contains(composed) && decomposed.contains(decomposed))
    #expect(!composed.contains(decomposed) && !decomposed.contains(composed))
  }

  @Test func `a dictionary literal is a row`() throws {
    let schema = Schema(tables: [
      TableSchema("priced", key: [KeyColumn("id", .int)], columns: [ColumnSchema("price", .double)])
    ])
    let store = try Store.open(at: "/store", schema: schema, options: StoreWorkload.options(SimulatedDisk(), seed: 8))
    try store.write { (tx) throws(StoreError) in
      _ = try tx.put(["id": 3, "price": 9.5], into: "priced")
      _ = try tx.insert(["id": 4, "price": 1.5], into: "priced")
    }
    #expect(try store.view().get(3, in: "priced") == ["id": 3, "price": 9.5])
  }
}
