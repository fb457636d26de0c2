import Testing

@testable import Strandline

struct QueryTests {
  /// Notes with an integer key and the columns of most tests; row n has rank n / 10, of which some are null.
  private static func notes(_ count: Int = 40, indexes: [IndexDefinition]? = nil) throws -> ModelTable {
    let definition = TableDefinition(
      number: 7, name: "notes", key: [KeyColumn("id", .int)],
      columns: [
        ColumnDefinition(number: 0, name: "title", type: .string, isNullable: true),
        ColumnDefinition(number: 1, name: "rank", type: .int, isNullable: true),
        ColumnDefinition(number: 2, name: "done", type: .bool, isNullable: false),
      ],
      indexes: indexes ?? [
        IndexDefinition(number: 1, name: "byRank", columns: [1], state: .ready),
        IndexDefinition(number: 2, name: "byDoneRank", columns: [2, 1], state: .ready),
        IndexDefinition(number: 3, name: "byTitle", columns: [0], state: .ready),
        IndexDefinition(number: 4, name: "unfinished", columns: [0, 1], state: .building),
      ], allowsOtherColumns: false, isDropped: false)
    return try ModelTable(
      definition,
      (0..<count).map { n in
        let cells: [UInt16: Value] = [
          0: .string("note \(n)"), 1: n % 7 == 0 ? .null : .int(Int64(n / 10)), 2: .bool(n.isMultiple(of: 2)),
        ]
        return (key: [.int(Int64(n))], cells: cells)
      })
  }

  private static func query(_ table: ModelTable) -> Query { Query("notes", from: table) }

  private static func ids(_ rows: [Row]) -> [Value] { rows.map { $0["id"] ?? .null } }

  @Test func `the builder puts filters, order, limit and shape together`() throws {
    let notes = Self.query(try Self.notes())
    let rows = try notes.where("done", .equals, false).where("rank", .greaterThan, 0).order(
      by: "rank", ascending: false
    )
    .order(by: "title").limit(3).select("id, title,").all()
    #expect(
      rows == [["id": 31, "title": "note 31"], ["id": 33, "title": "note 33"], ["id": 37, "title": "note 37"]])
    #expect(try Self.ids(notes.range(from: 2, through: 4).all()) == [2, 3, 4])
    #expect(try Self.ids(notes.range(from: 2, through: 1).all()) == [])
    #expect(try Self.ids(notes.offset(38).all()) == [38, 39])
    #expect(try notes.where("rank", .is, .null).count() == 6)
    #expect(try notes.limit(2).offset(1).count() == 40)
    #expect(try notes.where("rank", .is, .null).strippingNulls().first() == ["id": 0, "title": "note 0", "done": true])
    #expect(try notes.select("rank").where("id", .equals, 0).all() == [["rank": .null]])
    #expect(try notes.whereAny(of: [.column("id", .equals, 3), .column("title", .like, "% 5")]).all().count == 2)
    #expect(
      try notes.whereNot(.column("id", .greaterThan, 1)).search("NOTE").textSearch("title", "1 note").all().count == 1)
  }

  private struct Note: Decodable, Equatable {
    var id: Int
    var title: String
    var rank: Int?
  }

  @Test func `rows come as values of the application's own`() throws {
    let notes = Self.query(try Self.notes())
    #expect(try notes.limit(2).all(Note.self) == [Note(id: 0, title: "note 0"), Note(id: 1, title: "note 1", rank: 0)])
    #expect(try notes.where("rank", .equals, 3).first(Note.self)?.id == 30)
    #expect(try notes.where("id", .equals, 12).single(Note.self).title == "note 12")
    #expect(try notes.where("id", .equals, 120).maybeSingle(Note.self) == nil)
  }

  @Test func `rows come one by one`() throws {
    let table = try Self.notes()
    let rows = try Self.query(table).rows()
    #expect(try rows.next()?["id"] == 0)
    #expect(try rows.next()?["id"] == 1)
    #expect(table.rowsRead == 2)
    #expect(try rows.collect().count == 38)
    #expect(try rows.next() == nil)
  }

  @Test func `single and maybeSingle want one row`() throws {
    let notes = Self.query(try Self.notes())
    #expect(try notes.where("id", .equals, 5).single()["title"] == "note 5")
    #expect(try notes.where("id", .equals, 500).maybeSingle() == nil)
    #expect(throws: StoreError.cardinality(expected: "exactly 1", found: 0)) {
      try notes.where("id", .equals, 500).single()
    }
    #expect(throws: StoreError.cardinality(expected: "exactly 1", found: 2)) { try notes.single() }
    #expect(throws: StoreError.cardinality(expected: "at most 1", found: 2)) { try notes.maybeSingle() }
    #expect(try notes.order(by: "id", ascending: false).limit(1).single()["id"] == 39)
  }

  @Test func `bad plans are refused before a row is read`() throws {
    let table = try Self.notes()
    let notes = Self.query(table)
    let bad = [
      notes.limit(-1), notes.offset(-1), notes.range(from: 5, through: 2), notes.range(from: -2, through: 2),
      notes.where("title", .is, "x"), notes.where("title", .match, "(a)\\1"), notes.order(by: ""),
    ]
    for query in bad {
      #expect {
        try query.rows()
      } throws: { error in
        if case StoreError.invalidQuery = error { true } else { false }
      }
    }
    for query in [notes.where("nope", .equals, 1), notes.order(by: "nope"), notes.select("nope")] {
      #expect(throws: StoreError.unknownColumn(table: "notes", column: "nope")) { try query.rows() }
    }
    #expect(throws: StoreError.unknownTable("others")) { try Query("others", from: table).rows() }
    #expect(table.rowsRead == 0)
  }

  @Test func `csv quotes what needs it and tells null from an empty text`() throws {
    let definition = TableDefinition(
      number: 1, name: "notes", key: [KeyColumn("id", .string)],
      columns: [
        ColumnDefinition(number: 3, name: "b", type: .any, isNullable: true),
        ColumnDefinition(number: 5, name: "a,\"", type: .any, isNullable: true),
      ], indexes: [], allowsOtherColumns: true, isDropped: false)
    let table = try ModelTable(
      definition,
      [
        (key: ["1"], cells: [3: "x,y", 5: 1.5]), (key: ["2"], cells: [3: "", 5: .null]),
        (key: ["3"], cells: [3: "say \"hi\"\n"]),
        (key: ["4"], cells: [3: [1, "a"], 5: .timestamp(0)]), (key: ["5"], cells: [3: true, 5: .decimal("1.50")]),
      ])
    #expect(
      try Self.query(table).csv() == """
        id,b,"a,""\"
        1,"x,y",1.5
        2,"",
        3,"say ""hi""
        ",
        4,"[1,""a""]",1970-01-01T00:00:00.000Z
        5,true,1.50

        """)
    #expect(try Self.query(table).select("b", "id").limit(1).csv() == "b,id\n\"x,y\",1\n")
  }

  @Test func `short paths do not touch rows outside the answer`() throws {
    let table = try Self.notes()
    table.unreadableKeys = Set(table.rows.dropFirst(9).map(\.key))
    let notes = Self.query(table)
    #expect(try Self.ids(notes.limit(9).all()).count == 9)
    #expect(try notes.limit(0).all().isEmpty)
    #expect(try notes.where("id", .equals, 3).all().count == 1)
    #expect(try notes.where("id", .in, [8, 1, 1.0, 3, .null, "x"]).where("done", .equals, false).all().count == 2)
    #expect(try notes.where(.and([.and([.column("id", .lessThan, 9)])])).all().count == 9)
    #expect(try notes.where("id", .equals, 4.5).all().isEmpty)
    #expect(try notes.where("id", .greaterThan, 1e300).all().isEmpty)
    #expect(try notes.where("rank", .equals, .null).all().isEmpty)
    #expect(try notes.where("title", .equals, "note 4").single()["id"] == 4)
    #expect(try notes.where("title", .like, "note 4").single()["id"] == 4)
    #expect(try notes.limit(1).single()["id"] == 0)
    #expect(throws: StoreError.cardinality(expected: "exactly 1", found: 2)) { try notes.single() }
    // With one match in front of it, the unreadable row must be reached.
    #expect(throws: StoreError.undecodable(what: "row", reason: "it was made so")) {
      try notes.where("title", .ilike, "NOTE 4").single()
    }
    #expect(throws: StoreError.undecodable(what: "row", reason: "it was made so")) { try notes.limit(10).all() }
    let table2 = try Self.notes()
    #expect(try Self.query(table2).order(by: "rank", ascending: false, nulls: .last).limit(2).all().count == 2)
    #expect(table2.rowsRead <= 12)
  }

  @Test func `an ordered limit over a scan keeps no more rows than asked for`() throws {
    var sorter = RowSorter([], countMax: 5, keepsRows: true)
    var cells = StoredCells(BoundTable(try Self.notes().table))
    var row: [UInt8] = []
    try RowEncoding.encode([], into: &row)
    for number in (0..<1_000).reversed() {
      try [UInt8(number / 256), UInt8(number % 256)].withUnsafeBytes { key throws in
        try row.withUnsafeBytes { row throws in
          try cells.move(key: key, row: row)
          try sorter.add(&cells)
        }
      }
      #expect(sorter.count <= 5)
    }
    #expect(sorter.sorted().map(\.key) == [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]])
  }
}
