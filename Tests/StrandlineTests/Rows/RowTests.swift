import StrandlineTestSupport
import Testing

@testable import Strandline

struct RowTests {
  @Test func `a row keeps its cells in the order of their names`() {
    var row: Row = ["b": 1, "a": "x", "é": .null]
    #expect(row.columns == ["a", "b", "é"])
    #expect(row["a"] == "x" && row["é"] == .null && row["c"] == nil)
    row["c"] = 2.5
    row["a"] = nil
    row["b"] = .null
    #expect(row.map(\.column) == ["b", "c", "é"])
    #expect(row == Row(["b": .null, "c": 2.5, "é": .null]))
    #expect(row.hashValue == Row(["b": .null, "c": 2.5, "é": .null]).hashValue)
  }

  @Test func `of two cells with one name the last counts`() {
    #expect((["a": 1, "b": 2, "a": 3] as Row) == ["a": 3, "b": 2])
  }

  @Test func `names are told apart by their bytes`() {
    let row: Row = ["é": 1, "e\u{301}": 2]
    #expect(row.count == 2 && row["é"] == 1 && row["e\u{301}"] == 2)
  }

  @Test(arguments: [UInt64(1), 2])
  func `random changes give what a dictionary gives`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    var row = Row()
    var model: [[UInt8]: Value] = [:]
    for _ in 0..<2000 {
      let name = random.text()
      let value: Value? = random.int(3) == 0 ? nil : random.value(depth: 1)
      row[name] = value
      model[Array(name.utf8)] = value
      #expect(row[name] == value && row.count == model.count)
    }
    #expect(row.columns.map { Array($0.utf8) } == model.keys.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `a row by names comes back, and damaged is refused or another row's one encoding`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    func read(_ bytes: [UInt8]) throws(StoreError) -> Row {
      try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try Row(encodedObject: bytes) }
    }
    func encoded(_ row: Row) throws(StoreError) -> [UInt8] {
      var bytes: [UInt8] = []
      try row.appendEncodedObject(to: &bytes)
      return bytes
    }
    for _ in 0..<200 {
      var row = Row()
      for _ in 0..<random.int(8) { row[random.text()] = random.value() }
      let bytes = try encoded(row)
      #expect(try read(bytes) == row, "seed \(seed)")
      for _ in 0..<50 {
        var damaged = bytes
        damaged[random.int(bytes.count)] ^= UInt8(1 << random.int(8))
        if let other = try? read(damaged) { #expect(try encoded(other) == damaged, "seed \(seed)") }
        if let other = try? read(Array(bytes.prefix(random.int(bytes.count)))) {
          #expect(try bytes.starts(with: encoded(other)), "seed \(seed)")
        }
      }
    }
  }
}
