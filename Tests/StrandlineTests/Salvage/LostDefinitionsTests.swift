import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Damage takes definitions of tables and columns and leaves facts that need them: their numbers are taken for good.
struct LostDefinitionsTests {
  private static func options(_ disk: any FileSystem, seed: UInt64) -> StoreOptions {
    var options = StoreWorkload.options(disk, seed: seed)
    options.memoryLayerByteCountMax = 16 << 20
    options.history = .commits(.max)
    return options
  }

  /// A table whose columns come with the rows, and one that is declared whole; each commit of it may be lost.
  private static func store(on disk: SimulatedDisk) throws {
    let store = try Store.open(
      at: "/store",
      schema: Schema(tables: [TableSchema("people", key: [KeyColumn("id", .int)], allowsOtherColumns: true)]),
      options: options(disk, seed: 1))
    func put(_ row: Row, _ table: String) throws {
      try store.write { (tx) throws(StoreError) in try tx.put(row, into: table) }
    }
    try put(["id": 1, "city": "Ulm"], "people")
    try put(["id": 2, "city": "Bern", "age": 6], "people")
    try store.adopt(
      Schema(tables: [
        TableSchema(
          "pets", key: [KeyColumn("owner", .int), KeyColumn("name", .string)], columns: [ColumnSchema("kind", .string)],
          indexes: [IndexSchema("byKind", ["kind"])])
      ]))
    try put(["owner": 1, "name": "Rex", "kind": "dog"], "pets")
    try put(["id": 3, "city": "Bern", "age": 7, "nick": "Bo"], "people")
    try put(["id": 2, "city": "Basel", "age": 7, "nick": "Bet"], "people")
    try store.close()
  }

  /// The bytes of each commit in the only segment.
  private static func commits(_ disk: SimulatedDisk) throws -> [(file: String, bytes: Range<Int>)] {
    let inspector = try StoreInspector(path: "/store", environment: options(disk, seed: 2).log.environment)
    return try inspector.resuming { condition in
      var walk = try StoreWalk(inspector, condition, includesAll: false)
      var file = ""
      var found: [(String, Range<Int>)] = []
      while let element = try walk.next() {
        switch element {
        case .segment(let segment): file = segment.path
        case .commit(let commit, _):
          let start = Int(commit.offset)
          found.append((file, start..<start + Int(commit.endLSN.rawValue - commit.lsn.rawValue)))
        default: continue
        }
      }
      return found
    }
  }

  private static let cells: [Int64: [String: Value]] = [
    1: ["city": "Ulm"], 2: ["city": "Basel", "age": 7, "nick": "Bet"],
    3: ["city": "Bern", "age": 7, "nick": "Bo"],
  ]

  /// Whether a name in the new store is the one the cell had, or says that the name is lost.
  private static func expectOldCells(of row: Row, _ id: Int64, _ what: String) {
    let was: [[String: Value]] = [cells[id] ?? [:], id == 2 ? ["city": "Bern", "age": 6] : [:]]
    for cell in row.cells where cell.name != "id" && cell.value != .null {
      let isNamed = was.contains { $0[cell.name] == cell.value }
      let isLost = cell.name.hasPrefix("lost_column_") && was.contains { $0.values.contains(cell.value) }
      #expect(isNamed || isLost, "\(what): row \(id) has \(cell.value) under \(cell.name)")
    }
  }

  private static func lose(_ commit: Int) throws -> (disk: SimulatedDisk, report: StoreSalvageReport) {
    let disk = SimulatedDisk()
    try store(on: disk)
    let place = try commits(disk)[commit]
    var image = disk.image
    image.flip(place.file, byte: (place.bytes.lowerBound + place.bytes.upperBound) / 2, bit: 2)
    let damaged = SimulatedDisk(image)
    let report = try StoreSalvage.run(
      from: "/store", to: "/new", environment: options(damaged, seed: 3).log.environment)
    #expect(report.unsettled == nil)
    return (damaged, report)
  }

  @Test func `whatever commit is lost, no new name gets the cells of an old one`() throws {
    let disk = SimulatedDisk()
    try Self.store(on: disk)
    let count = try Self.commits(disk).count
    try #require(count == 7)
    for commit in 0..<count {
      let what = "commit \(commit + 1) lost"
      let (damaged, report) = try Self.lose(commit)
      var store = try Store.open(at: "/new", options: Self.options(damaged, seed: 4))
      for table in ["people", "pets", "cats"] {
        try store.adopt(
          Schema(
            tables: [TableSchema(table, key: [KeyColumn("id", .int)], allowsOtherColumns: true)].filter {
              _ in !((try? store.view().tableNames.contains(table)) ?? false)
            }))
      }
      let pets = try store.view().schema(of: "pets").key.count
      try store.write { (tx) throws(StoreError) in
        try tx.put(["id": 9, "one": 1, "two": 2, "three": 3, "four": 4], into: "people")
        try tx.put(["id": 9, "one": 1], into: "cats")
        if pets == 1 { try tx.put(["id": 9, "one": 1], into: "pets") }
      }
      for isCompacted in [false, true] {
        if isCompacted {
          try store.compact()
          try store.close()
          store = try Store.open(at: "/new", options: Self.options(damaged, seed: 5))
        }
        let view = try store.view()
        for row in try view.query("people").all() {
          guard case .int(let id)? = row["id"], id != 9 else { continue }
          Self.expectOldCells(of: row, id, "\(what), compacted \(isCompacted)")
        }
        #expect(try view.get(9, in: "people")?["four"] == 4)
        #expect(try view.query("cats").all().count == 1, "\(what)")
        if pets == 1 { #expect(try view.query("pets").all().count == 1, "\(what)") }
        // Each cell that was kept is somewhere.
        for definition in report.lostDefinitions {
          let rows = try view.query(definition.table).all()
          for column in definition.columns {
            let cells = rows.filter { $0[column.name] != nil }.count
            #expect(cells == column.cellCount, "\(what): \(column)")
          }
          if definition.isWhole { #expect(rows.count == definition.rowCount, "\(what): \(definition)") }
        }
      }
      // A definition is written whole each time: only the last one of a table is missed.
      let loses = commit == 3 || commit == 5
      #expect(report.lostDefinitions.isEmpty != loses, "\(what): \(report.lostDefinitions)")
      #expect(!report.isComplete)
      try store.close()
    }
  }

  @Test func `a lost table keeps its number, its rows and its cells under names that say so`() throws {
    let (disk, report) = try Self.lose(3)
    let lost = try #require(report.lostDefinitions.first)
    #expect(report.lostDefinitions.count == 1)
    #expect(lost.tableNumber == 2 && lost.table == "lost_table_2" && lost.isWhole && lost.rowCount == 1)
    #expect(lost.columns == [LostDefinition.Column(number: 2, name: "lost_column_2", cellCount: 1)])
    #expect(lost.indexes == [0])
    var options = Self.options(disk, seed: 6)
    options.history = .none
    let store = try Store.open(at: "/new", options: options)
    let row = try #require(try store.view().query("lost_table_2").first())
    #expect(row["lost_column_2"] == "dog")
    #expect(row["lost_key"] == .bytes([0x80, 0, 0, 0, 0, 0, 0, 1] + Array("Rex".utf8)))
    #expect(row.cells.count == 2)
    // The entries of the lost index go with a compaction, as those of a dropped one.
    try store.compact()
    let entries = store.engine.lane.withLock { lane in
      let cursor = try? UnnamedNumbers(in: lane.state.stack, knowing: Tables(Catalog()))
      return cursor?.byTable[2]?.indexes
    }
    #expect(entries == [])
    try store.close()
  }

  @Test func `a schema may give a lost column its name back`() throws {
    let (disk, report) = try Self.lose(5)
    #expect(
      report.lostDefinitions.flatMap(\.columns) == [
        LostDefinition.Column(number: 3, name: "lost_column_3", cellCount: 1)
      ])
    let store = try Store.open(
      at: "/new",
      schema: Schema(tables: [
        TableSchema(
          "people", key: [KeyColumn("id", .int)], columns: [ColumnSchema("nick", .any, renamedFrom: "lost_column_3")])
      ]), options: Self.options(disk, seed: 7))
    #expect(try store.view().get(2, in: "people")?["nick"] == "Bet")
    try store.close()
  }

  @Test func `a store that lost no definition gets none`() throws {
    let (_, report) = try Self.lose(6)
    #expect(report.lostDefinitions.isEmpty && !report.isComplete)
  }
}
