import FoundationEssentials
import StrandlineTestSupport
import Testing

@testable import Strandline

struct RowCodingTests {
  enum State: String, Codable { case open, done }
  enum Level: Int, Codable {
    case low = 1
    case high = 2
  }
  enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case point
  }

  struct Place: Codable, Equatable {
    var city: String
    var height: Double?
  }

  struct Todo: Codable, Equatable {
    var id = UUID()
    var title = "works on a plane"
    var done = false
    var state = State.open
    var level: Level? = .high
    var count = 3
    var price = Decimal(string: "19.99")!
    var due = Date(timeIntervalSince1970: 1_796_037_639.25)
    var note: String?
    var data = Data([0, 1, 255])
    var raw: [UInt8] = [7]
    var bytes = UUIDBytes(high: 1, low: 2)
    var place = Place(city: "Kiel", height: nil)
    var tags = ["a", "b"]
    var nothing: [String] = []
    var places: [Place?] = [Place(city: "Oslo", height: 1.5), nil]
    var counts = ["x": 1, "y": 2]
    var shapes: [Shape] = [.circle(radius: 2), .point]
    var any: Value = .object(["k": .bytes([1])])
    var small: Int8 = -128
    var large = UInt64.max
    var huge = Int128.max
    var float: Float = 0.1
  }

  @Test func `a type becomes a row of typed cells and comes back`() throws {
    let todo = Todo()
    let row = try RowEncoder().encode(todo)
    #expect(row["id"] == .uuid(UUIDBytes(todo.id)))
    #expect(row["title"] == "works on a plane" && row["done"] == false && row["state"] == "open" && row["level"] == 2)
    #expect(row["price"] == .decimal("19.99") && row["due"] == .timestamp(1_796_037_639_250))
    #expect(row["note"] == .null && row["data"] == .bytes([0, 1, 255]) && row["raw"] == .bytes([7]))
    #expect(row["bytes"] == .uuid(UUIDBytes(high: 1, low: 2)))
    #expect(row["place"] == .object(["city": "Kiel", "height": .null]))
    #expect(row["tags"] == ["a", "b"] && row["nothing"] == [])
    #expect(row["places"] == .array([.object(["city": "Oslo", "height": 1.5]), .null]))
    #expect(row["counts"] == ["x": 1, "y": 2])
    #expect(row["shapes"] == .array([.object(["circle": ["radius": 2.0]]), .object(["point": [:]])]))
    #expect(row["any"] == .object(["k": .bytes([1])]))
    #expect(row["small"] == -128 && row["large"] == .decimal("18446744073709551615"))
    #expect(row["huge"] == .decimal("170141183460469231731687303715884105727"))
    #expect(row.count == 23)
    #expect(try RowDecoder().decode(Todo.self, from: row) == todo)
    // Through the bytes of a row too.
    let cells = row.cells.enumerated().map { (column: UInt16($0), value: $1.value) }
    let stored = try RowEncodingTests.cells(RowEncodingTests.encoded(cells))
    #expect(stored.map(\.value) == row.cells.map(\.value))
  }

  @Test func `a missing optional is nil, and columns that the type does not name are left aside`() throws {
    struct Part: Codable, Equatable {
      var title: String
      var note: String?
    }
    #expect(try RowDecoder().decode(Part.self, from: ["title": "x", "other": 1]) == Part(title: "x", note: nil))
  }

  @Test func `values of a column's type fit properties of a looser one`() throws {
    struct Loose: Decodable {
      var id: String
      var price: String
      var at: String
      var bytes: String
      var ratio: Double
      var whole: Int
      var wide: Int
      var uuid: UUID
      var date: Date
      var data: Data
      var decimal: Decimal
      var single: Float
    }
    let loose = try RowDecoder().decode(
      Loose.self,
      from: [
        "id": .uuid(UUIDBytes(high: 0, low: 1)), "price": .decimal("1.50"), "at": .timestamp(0),
        "bytes": .bytes([0xFF]), "ratio": 2,
        "whole": 3.0, "wide": .decimal("4.0"), "uuid": "00000000-0000-0000-0000-000000000001",
        "date": "1970-01-01T00:00:01Z",
        "data": "/w==", "decimal": 5, "single": 0.1,
      ])
    #expect(
      loose.id == "00000000-0000-0000-0000-000000000001" && loose.price == "1.50"
        && loose.at == "1970-01-01T00:00:00.000Z")
    #expect(loose.bytes == "/w==" && loose.ratio == 2 && loose.whole == 3 && loose.wide == 4)
    #expect(UUIDBytes(loose.uuid) == UUIDBytes(high: 0, low: 1) && loose.date == Date(timeIntervalSince1970: 1))
    #expect(loose.data == Data([0xFF]) && loose.decimal == 5 && loose.single == 0.1)
  }

  struct Numbers: Codable, Equatable {
    var int8: Int8 = 0
    var uint64: UInt64 = 0
    var int: Int = 0
    var float: Float = 0
    var inner: [Inner] = []
    struct Inner: Codable, Equatable { var level: Level }
  }

  @Test(arguments: [
    ("int8", Value.int(128), "int8"), ("int8", .int(-129), "int8"), ("int8", .double(1.5), "int8"),
    ("int8", .string("1"), "int8"),
    ("uint64", .int(-1), "uint64"), ("uint64", .decimal("18446744073709551616"), "uint64"),
    ("int", .decimal("1.5"), "int"),
    ("int", .bool(true), "int"), ("int", .null, "int"), ("float", .double(1e300), "float"),
    ("float", .string("x"), "float"),
    ("inner", .object([:]), "inner"),
    ("inner", .array([.object(["level": 1]), .object(["level": 3])]), "inner[1].level"),
    ("inner", .array([.object([:])]), "inner[0].level"), ("inner", .array([.null]), "inner[0]"),
  ])
  func `what does not fit names its place`(column: String, value: Value, path: String) throws {
    var row = try RowEncoder().encode(Numbers())
    row[column] = value
    let error = #expect(throws: StoreError.self) { try RowDecoder().decode(Numbers.self, from: row) }
    guard case .coding(type: "Numbers", path: path, let reason) = error, !reason.isEmpty else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a missing cell names its column`() {
    let error = #expect(throws: StoreError.self) { try RowDecoder().decode(Place.self, from: ["height": 1.0]) }
    #expect(error == .coding(type: "Place", path: "city", reason: "there is no value"))
  }

  @Test func `what has no columns is no row`() {
    #expect(throws: StoreError.self) { try RowEncoder().encode(1) }
    #expect(throws: StoreError.self) { try RowEncoder().encode([1]) }
    #expect(throws: StoreError.self) { try RowEncoder().encode("x") }
    #expect(throws: StoreError.self) { try RowDecoder().decode(Int.self, from: [:]) }
    #expect(throws: StoreError.self) { try RowDecoder().decode([Int].self, from: [:]) }
  }

  struct Dated: Codable { var at: Date }
  struct Priced: Codable { var price: Decimal }

  @Test func `dates beyond all timestamps and decimals beyond Decimal are refused`() throws {
    for seconds in [Double.infinity, -.infinity, .nan, 1e17] {
      #expect(throws: StoreError.self) { try RowEncoder().encode(Dated(at: Date(timeIntervalSince1970: seconds))) }
    }
    #expect(throws: StoreError.self) { try RowEncoder().encode(Priced(price: .nan)) }
    let long = Value.decimal("0." + String(repeating: "1", count: 60))
    #expect(throws: StoreError.self) { try RowDecoder().decode(Priced.self, from: ["price": long]) }
  }

  @Test func `every timestamp of the years 0 to 9999 comes back as the same Date`() throws {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let milliseconds = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
      let dated = try RowDecoder().decode(Dated.self, from: ["at": .timestamp(milliseconds)])
      #expect(try RowEncoder().encode(dated)["at"] == .timestamp(milliseconds))
    }
  }

  final class Chain: Codable {
    var next: Chain?
    init(_ next: Chain?) { self.next = next }
  }

  @Test func `a value that never ends is refused`() throws {
    let chain = Chain(nil)
    chain.next = chain
    #expect(throws: StoreError.self) { try RowEncoder().encode(chain) }
    chain.next = nil
    #expect(try RowEncoder().encode(Chain(chain)).count == 1)
  }

  struct Failing: Codable {
    struct Reason: Error {}
    init() {}
    init(from decoder: any Decoder) throws { throw Reason() }
    func encode(to encoder: any Encoder) throws { throw Reason() }
  }

  @Test func `what a type's own coding throws is told`() {
    let encoding = #expect(throws: StoreError.self) { try RowEncoder().encode(Failing()) }
    #expect(encoding == .coding(type: "Failing", path: "", reason: "Reason()"))
    #expect(throws: StoreError.self) { try RowDecoder().decode(Failing.self, from: [:]) }
  }

  /// Containers by hand, a superclass among them.
  class Base: Codable {
    var base = 1
  }

  final class Derived: Base {
    var own = [[1], [2, 3]]
    enum CodingKeys: CodingKey { case own, list, inner }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      var first = try list.nestedUnkeyedContainer()
      var second = try list.nestedUnkeyedContainer()
      own = [[try first.decode(Int.self)], [try second.decode(Int.self), try second.decode(Int.self)]]
      guard first.isAtEnd, second.isAtEnd, list.isAtEnd else { throw Failing.Reason() }
      _ = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner).decode(Bool.self, forKey: .own)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      for numbers in own {
        var inner = list.nestedUnkeyedContainer()
        for number in numbers { try inner.encode(number) }
      }
      var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
      try inner.encode(true, forKey: .own)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test func `nested containers and superclasses go there and back`() throws {
    let derived = Derived()
    derived.base = 5
    let row = try RowEncoder().encode(derived)
    #expect(row == ["list": [[1], [2, 3]], "inner": ["own": true], "super": ["base": 5]])
    let read = try RowDecoder().decode(Derived.self, from: row)
    #expect(read.base == 5 && read.own == [[1], [2, 3]])
  }

  @Test func `values and UUIDs have a form for other coders`() throws {
    let value: Value = ["a": [1, 2.5, true, .null, "x"], "u": .uuid(UUIDBytes(high: 1, low: 2)), "b": .bytes([0xFF])]
    let json = try JSONEncoder().encode(value)
    let expected: Value = ["a": [1, 2.5, true, .null, "x"], "u": "00000000-0000-0001-0000-000000000002", "b": "/w=="]
    #expect(try JSONDecoder().decode(Value.self, from: json) == expected)
    let uuid = UUIDBytes(high: 3, low: 4)
    #expect(try JSONDecoder().decode([UUIDBytes].self, from: JSONEncoder().encode([uuid])) == [uuid])
  }
}
