import Strandline
import StrandlineTestSupport
import Testing

/// A transaction sees what it wrote at once, however much it wrote before and by whatever way it looks.
struct OwnWritesTests {
  private let directory = TemporaryDirectory()

  private static let schema = Schema(tables: [
    TableSchema(
      "notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("round", .int)],
      indexes: [IndexSchema("byRound", ["round"])])
  ])

  @Test func `each write is seen by the next read, query and stream`() throws {
    let store = try Store.open(at: directory.path + "/store", schema: Self.schema)
    var model: [Int64: Int64] = [:]
    for round in 0..<Int64(3) {
      try store.write { tx in
        for id in 0..<Int64(40) {
          let value = id % 3 == 0 ? round + 100 : round
          try tx.put(["id": .int(id), "round": .int(round)], into: "notes")
          if value != round { try tx.put(["id": .int(id), "round": .int(value)], into: "notes") }
          model[id] = value
          #expect(try tx.get(.int(id), in: "notes")?["round"] == .int(value))
          let expected = model.values.count { $0 >= round }
          #expect(try tx.query("notes").where("round", .greaterThanOrEquals, .int(round)).count() == expected)
          #expect(try tx.append(["id": .int(id)], type: "noted", to: "log") == UInt64(40 * round + id) + 1)
        }
      }
      #expect(try store.view().query("notes").where("round", .equals, .int(round + 100)).count() == 14)
    }
    try store.close()
  }

  @Test func `a transaction that is given up leaves none of many writes`() throws {
    struct Refused: Error {}
    let store = try Store.open(at: directory.path + "/store", schema: Self.schema)
    try store.write { (tx) throws(StoreError) in try tx.put(["id": 5, "round": 1], into: "notes") }
    for count in [1, 15, 16, 17, 100] {
      #expect(throws: WriteError<any Error>.self) {
        try store.write { tx in
          for id in 0..<count { try tx.put(["id": .int(Int64(id)), "round": 2], into: "notes") }
          throw Refused()
        }
      }
      #expect(try store.view().query("notes").count() == 1)
      #expect(try store.view().get(5, in: "notes")?["round"] == 1)
      try store.write { (tx) throws(StoreError) in
        #expect(try tx.query("notes").count() == 1)
        try tx.put(["id": 5, "round": 1], into: "notes")
      }
    }
    try store.close()
  }
}
