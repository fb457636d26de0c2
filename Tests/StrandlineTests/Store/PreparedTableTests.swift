import Strandline
import StrandlineTestSupport
import Testing

struct PreparedTableTests {
  private let directory = TemporaryDirectory()

  private static func schema(indexed: Bool) -> Schema {
    Schema(tables: [
      TableSchema(
        "todos", key: [KeyColumn("id", .uuid)],
        columns: [
          ColumnSchema("title", .string, isNullable: false), ColumnSchema("done", .bool), ColumnSchema("rank", .int),
          ColumnSchema("photo", .bytes),
        ],
        indexes: indexed ? [IndexSchema("byRank", ["rank"])] : []),
      TableSchema("numbers", key: [KeyColumn("n", .int)], columns: [ColumnSchema("text", .string)]),
    ])
  }

  private func open(indexed: Bool = false) throws -> Store {
    try Store.open(at: directory.path + "/store", schema: Self.schema(indexed: indexed))
  }

  private func id(_ number: UInt64) -> UUIDBytes { UUIDBytes(high: number &* 0x9E37_79B9_7F4A_7C15, low: number) }

  @Test(arguments: [false, true])
  func `rows put by their cells are the rows put by name, indexes included`(indexed: Bool) throws {
    var generator = SeededGenerator(seed: 5)
    let store = try open(indexed: indexed)
    let todos = try store.view().table("todos")
    let columns = try ["title", "done", "rank", "photo"].map { try todos.column($0) }
    var model: [UUIDBytes: Row] = [:]
    for round in 0..<30 {
      try store.write { tx in
        var cells = RowCells()
        for _ in 0..<20 {
          let id = id(UInt64.random(in: 0..<100, using: &generator))
          if Int.random(in: 0..<5, using: &generator) == 0 {
            #expect(try tx.delete(id, from: todos) == (model.removeValue(forKey: id) != nil))
            continue
          }
          var row: Row = ["id": .uuid(id)]
          cells.removeAll()
          // In any order, some twice.
          for place in [0, 2, 1, 3, 2].shuffled(using: &generator) where place == 0 || Bool.random(using: &generator) {
            let value: Value =
              switch place {
              case 0: .string("title \(round)")
              case 1: .bool(Bool.random(using: &generator))
              case 2: .int(Int64.random(in: -300...300, using: &generator))
              default: .bytes([UInt8](repeating: UInt8(round), count: Int.random(in: 0..<400, using: &generator)))
              }
            if case .bytes(let bytes) = value {
              try bytes.withUnsafeBytes { try cells.set(columns[place], bytes: $0) }
            } else {
              try cells.set(columns[place], value)
            }
            row[columns[place].name] = value
          }
          try tx.put(id, cells, into: todos)
          model[id] = row
          var seen: Row?
          try tx.read(id, in: todos) { stored in seen = try stored.row() }
          #expect(seen == row)
        }
      }
      if round == 15 { try store.compact() }
    }
    let view = try store.view()
    var rows = view.rows()
    for number in 0..<100 as Range<UInt64> {
      let id = id(number)
      var seen: Row?
      let isThere = try rows.read(id, in: todos) { stored in
        seen = try stored.row()
        #expect(stored.uuid == id)
        #expect(try stored.key == [.uuid(id)])
        #expect(try stored.value(of: columns[2]) == seen?["rank"])
      }
      #expect(isThere == (model[id] != nil))
      #expect(seen == model[id])
      #expect(try view.get(.uuid(id), in: "todos") == model[id])
    }
    for rank in -300...300 as ClosedRange<Int64> {
      let expected = model.values.filter { $0["rank"] == .int(rank) }.count
      #expect(try view.query("todos").where("rank", .equals, .int(rank)).all().count == expected)
    }
    try store.close()
  }

  @Test func `scans go by key from either end and stop when told`() throws {
    let store = try open()
    let numbers = try store.view().table("numbers")
    let text = try numbers.column("text")
    try store.write { tx in
      var cells = RowCells()
      for number in -50..<50 as Range<Int64> {
        cells.removeAll()
        try cells.set(text, .string("number \(number)"))
        try tx.put(key: [.int(number)], cells, into: numbers)
      }
    }
    let rows = try store.view().rows()
    func scan(from: Int64? = nil, backwards: Bool = false, limit: Int = .max) throws -> [Int64] {
      var seen: [Int64] = []
      try rows.scan(numbers, from: from.map { [.int($0)] }, backwards: backwards) { row in
        guard case .int(let number) = try row.key[0] else { return false }
        var utf8: [UInt8] = []
        #expect(row.withBytes(of: text) { utf8 = Array($0) })
        #expect(utf8 == Array("number \(number)".utf8))
        seen.append(number)
        return seen.count < limit
      }
      return seen
    }
    #expect(try scan() == Array(-50..<50))
    #expect(try scan(backwards: true) == (-50..<50).reversed())
    #expect(try scan(from: 7, limit: 3) == [7, 8, 9])
    #expect(try scan(from: 7, backwards: true, limit: 3) == [7, 6, 5])
    try store.close()
  }

  @Test func `what does not fit is refused with nothing changed`() throws {
    let store = try open()
    let view = try store.view()
    #expect(throws: StoreError.unknownTable("nobody")) { try view.table("nobody") }
    let todos = try view.table("todos")
    #expect(throws: StoreError.unknownColumn(table: "todos", column: "id")) { try todos.column("id") }
    let numbers = try view.table("numbers")
    let rank = try todos.column("rank")
    var cells = RowCells()
    #expect(throws: StoreError.self) { try cells.set(rank, .string("high")) }
    #expect(throws: StoreError.self) { try [1].withUnsafeBytes { try cells.set(rank, bytes: $0) } }
    #expect(cells.count == 0)
    try cells.set(rank, .int(1))
    try store.write { tx in
      // The title must have a value.
      #expect(throws: StoreError.self) { try tx.put(id(1), cells, into: todos) }
      let none = RowCells()
      #expect(throws: StoreError.self) { try tx.put(id(1), none, into: numbers) }
      let isEmpty = tx.isEmpty
      #expect(isEmpty)
    }
    var rows = view.rows()
    let isThere = try rows.read(id(1), in: todos) { _ in }
    #expect(!isThere)
    try store.close()
  }

  @Test func `a prepared table outlives what happens to the others, and a reset`() throws {
    let store = try open()
    let numbers = try store.view().table("numbers")
    let text = try numbers.column("text")
    try store.reset()
    var cells = RowCells()
    try cells.set(text, .string("one"))
    try store.write { tx in try tx.put(key: [.int(1)], cells, into: numbers) }
    #expect(try store.view().get(1, in: "numbers")?["text"] == "one")
    try store.close()
  }

  @Test func `memory too small for a cell is left alone`() throws {
    let store = try open()
    let todos = try store.view().table("todos")
    let (title, photo) = (try todos.column("title"), try todos.column("photo"))
    try store.write { tx in
      _ = try tx.put(["id": .uuid(id(1)), "title": "x", "photo": .bytes([1, 2, 3])], into: "todos")
    }
    var rows = try store.view().rows()
    var memory: [UInt8] = [9, 9]
    var counts: [Int?] = []
    try rows.read(id(1), in: todos) { row in
      memory.withUnsafeMutableBytes { memory in
        counts = [row.copyBytes(of: photo, to: memory), row.copyBytes(of: title, to: memory)]
      }
    }
    #expect(counts == [3, 1])
    #expect(memory == [UInt8(ascii: "x"), 9])
    try store.close()
  }
}
