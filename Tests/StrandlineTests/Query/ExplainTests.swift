import Testing

@testable import Strandline

struct ExplainTests {
  private static let table: ModelTable? = try? ModelTable(
    TableDefinition(
      number: 2, name: "orders", key: [KeyColumn("shop", .int), KeyColumn("id", .uuid)],
      columns: [
        ColumnDefinition(number: 0, name: "state", type: .string, isNullable: false),
        ColumnDefinition(number: 1, name: "placed", type: .timestamp, isNullable: true),
        ColumnDefinition(number: 2, name: "total", type: .decimal, isNullable: true),
      ],
      indexes: [
        IndexDefinition(number: 1, name: "byPlaced", columns: [1], state: .ready),
        IndexDefinition(number: 2, name: "byStatePlaced", columns: [0, 1], state: .ready),
        IndexDefinition(number: 3, name: "byTotal", columns: [2], state: .building),
      ], allowsOtherColumns: false, isDropped: false), [])

  struct Case: Sendable {
    var query: @Sendable (Query) -> Query
    var text: String

    init(_ text: String, _ query: @escaping @Sendable (Query) -> Query) { (self.query, self.text) = (query, text) }
  }

  @Test(arguments: [
    Case("read every row of orders") { $0 },
    Case("read every row of orders\nstop once the answer is decided") { $0.limit(5) },
    Case("read every row of orders, backwards") {
      $0.order(by: "shop", ascending: false).order(by: "id", ascending: false)
    },
    Case("read every row of orders\nsort by shop, keeping 5 rows") { $0.order(by: "shop", ascending: false).limit(5) },
    Case("read nothing: no row can be found") { $0.where("total", .equals, .null) },
    Case("read nothing: no row can be found") { $0.where("shop", .greaterThan, 5).where("shop", .lessThan, 5) },
    Case("read orders by key (shop), 1 range\ncheck shop = 5") { $0.where("shop", .equals, 5) },
    Case("read orders by key (shop), 2 ranges\ncheck shop in [5,6]") { $0.where("shop", .in, [5, 6]) },
    Case(
      "read 2 rows of orders by key\ncheck (shop = 5 and id in [\"00000000-0000-0000-0000-000000000000\",\"00000000-0000-0000-0000-000000000001\"])"
    ) {
      $0.where("shop", .equals, 5).where(
        "id", .in, .array([.uuid(UUIDBytes(high: 0, low: 0)), .uuid(UUIDBytes(high: 0, low: 1))]))
    },
    Case("read orders by index byStatePlaced (state), 1 range\ncheck state = \"open\"") {
      $0.where("state", .equals, "open")
    },
    Case(
      "read orders by index byStatePlaced (state), 1 range, backwards\ncheck state = \"open\"\nstop once the answer is decided"
    ) {
      $0.where("state", .equals, "open").order(by: "placed", ascending: false, nulls: .last).limit(20)
    },
    Case(
      "read orders by index byStatePlaced (state), 2 ranges, backwards\ncheck state = \"open\"\nstop once the answer is decided"
    ) {
      $0.where("state", .equals, "open").order(by: "placed", ascending: false).limit(20)
    },
    Case("read orders by index byStatePlaced (state), 1 range\ncheck state like \"op%\"") {
      $0.where("state", .like, "op%")
    },
    Case("read orders by index byPlaced for its order\nstop once the answer is decided") {
      $0.order(by: "placed", nulls: .first).limit(3)
    },
    Case("read every row of orders\ncheck total = 5") { $0.where("total", .equals, 5) },
    Case("read every row of orders\nsort by state") { $0.order(by: "state") },
  ])
  func `the planner's choice is told`(_ row: Case) throws {
    let table = try #require(Self.table)
    #expect(try row.query(Query("orders", from: table)).explain().description == row.text)
  }

  @Test func `the choice is told as JSON too`() throws {
    let table = try #require(Self.table)
    let json = try Query("orders", from: table).where("placed", .greaterThan, .timestamp(0)).limit(3).explain().json
    let value = try Value.json(json)
    #expect(
      value == [
        "table": "orders", "path": "index", "index": "byPlaced", "narrowingColumns": ["placed"], "rangeCount": 1,
        "reverse": false,
        "sortColumns": [], "sortedRowsMax": .null, "filter": "placed > \"1970-01-01T00:00:00.000Z\"",
        "stopsEarly": true,
      ])
  }
}
