import Testing

@testable @_spi(Engine) import Strandline

struct ValueConversionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var value: Value
    var type: ColumnType
    var result: Value?
    var testDescription: String { "\(value) as \(type)" }
  }

  @Test(arguments: [
    Case(value: .null, type: .int, result: .null), Case(value: 1, type: .any, result: 1),
    Case(value: 1, type: .int, result: 1),
    Case(value: 1, type: .double, result: 1.0), Case(value: .int(.max), type: .double, result: nil),
    Case(value: 2.0, type: .int, result: 2), Case(value: 2.5, type: .int, result: nil),
    Case(value: .double(.nan), type: .int, result: nil),
    Case(value: 7, type: .decimal, result: .decimal("7")),
    Case(value: 19.99, type: .decimal, result: .decimal("19.99")),
    Case(value: 1e-7, type: .decimal, result: .decimal("0.0000001")),
    Case(value: -1.25e20, type: .decimal, result: .decimal("-125000000000000000000")),
    Case(value: .double(.infinity), type: .decimal, result: nil),
    Case(value: "1.50", type: .decimal, result: .decimal("1.50")),
    Case(value: "1e5", type: .decimal, result: nil),
    Case(value: .decimal("-9223372036854775808.0"), type: .int, result: .int(.min)),
    Case(value: .decimal("9223372036854775808"), type: .int, result: nil),
    Case(value: .decimal("-0.0"), type: .int, result: 0),
    Case(value: .decimal("12000"), type: .int, result: 12000), Case(value: .decimal("1.5"), type: .int, result: nil),
    Case(value: .decimal("1.5"), type: .double, result: 1.5), Case(value: "NaN", type: .double, result: .double(.nan)),
    Case(value: "-Infinity", type: .double, result: .double(-.infinity)), Case(value: "1", type: .double, result: nil),
    Case(value: "1", type: .int, result: nil), Case(value: 1, type: .string, result: nil),
    Case(value: 1, type: .bool, result: nil),
    Case(value: "AAEC", type: .bytes, result: .bytes([0, 1, 2])), Case(value: "AAE", type: .bytes, result: nil),
    Case(value: "00000000-0000-0001-0000-000000000002", type: .uuid, result: .uuid(UUIDBytes(high: 1, low: 2))),
    Case(value: "x", type: .uuid, result: nil), Case(value: 5, type: .timestamp, result: .timestamp(5)),
    Case(value: "1970-01-01T00:00:01.5Z", type: .timestamp, result: .timestamp(1500)),
    Case(value: "now", type: .timestamp, result: nil), Case(value: [1], type: .array, result: [1]),
    Case(value: [1], type: .object, result: nil),
    Case(value: .decimal("oops"), type: .decimal, result: nil), Case(value: .decimal("oops"), type: .any, result: nil),
  ])
  func `a value becomes what a column holds, or nothing`(_ row: Case) {
    #expect(row.value.converted(to: row.type) == row.result)
  }

  @Test func `what JSON says of any value, its column's type turns back`() throws {
    var random = RandomValues(seed: 11)
    for _ in 0..<5000 {
      let value = random.value(depth: 0)
      guard let type = value.type else { continue }
      let read = try Value.json(value.json)
      #expect(read.converted(to: type) == value, "\(value) is \(value.json)")
    }
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    (253_402_300_800_000, "253402300800000"), (Int64.min, "-9223372036854775808"),
  ])
  func `a timestamp has one text`(milliseconds: Int64, text: String) {
    #expect(Timestamp.text(milliseconds) == text)
    #expect(Timestamp.milliseconds(text) == milliseconds)
  }

  @Test func `whole numbers of any kind are times in milliseconds`() {
    for value in [Value.int(-2), .double(-2), .decimal("-2.0")] {
      #expect(value.converted(to: .timestamp) == .timestamp(-2), "\(value)")
    }
    for value in [Value.double(2.5), .double(.nan), .double(1e19), .decimal("0.5"), .decimal("9223372036854775808")] {
      #expect(value.converted(to: .timestamp) == nil, "\(value)")
    }
  }

  @Test(arguments: [
    ("2026-11-30T11:20:39Z", 1_796_037_639_000), ("2026-11-30t11:20:39z", 1_796_037_639_000),
    ("2026-11-30 11:20:39.123456Z", 1_796_037_639_123),
    ("2026-11-30T12:20:39+01:00", 1_796_037_639_000), ("2026-11-30T05:50:39-05:30", 1_796_037_639_000),
    ("2026-02-29T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil),
    ("2026-01-01T24:00:00Z", nil),
    ("2026-01-01T00:00:60Z", nil), ("2026-01-01T00:00:00", nil), ("2026-01-01", nil), ("2026-01-01T00:00:00.Z", nil),
    ("2026-01-01T00:00:00Z ", nil), ("0", nil), ("", nil),
  ])
  func `times of RFC 3339 are read`(text: String, milliseconds: Int64?) {
    #expect(Timestamp.milliseconds(text) == milliseconds)
  }
}
