import Testing

@testable import strandline

struct HumanUnitsTests {
  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1536, "1.50 KiB"), (10_485, "10.2 KiB"), (1_048_575, "1.00 MiB"),
    (134_485_890, "128 MiB"), (Int.max, "8.00 EiB"),
  ])
  func `bytes have three digits and a binary unit`(count: Int, text: String) {
    #expect(HumanUnits.bytes(count) == text)
  }

  @Test(arguments: [
    (0, "0 ns"), (999, "999 ns"), (1000, "1.00 µs"), (99_960, "100 µs"), (999_700, "1.00 ms"), (12_345_678, "12.3 ms"),
    (59.9e9, "59.9 s"), (60e9, "1 min 0 s"), (125e9, "2 min 5 s"), (3600e9, "1 h 0 min"), (11_520e9, "3 h 12 min"),
  ])
  func `durations have the unit that fits`(nanoseconds: Double, text: String) {
    #expect(HumanUnits.duration(nanoseconds: nanoseconds) == text)
  }

  @Test func `counts are grouped and rates have a short unit`() {
    #expect(HumanUnits.count(0) == "0")
    #expect(HumanUnits.count(999) == "999")
    #expect(HumanUnits.count(-1_234_567) == "-1,234,567")
    #expect(
      [0, 1, 2, 1234].map { HumanUnits.number($0, of: "commit") } == [
        "0 commits", "1 commit", "2 commits", "1234 commits",
      ])
    #expect(HumanUnits.rate(950.4, of: "rows") == "950 rows/s")
    #expect(HumanUnits.rate(1_250_000, of: "rows") == "1.25 M rows/s")
    #expect(HumanUnits.rate(.nan, of: "rows") == "- rows/s")
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_123, "2000-02-29T00:00:00.123Z"),
      (1_709_251_199_000, "2024-02-29T23:59:59.000Z"), (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `times are in UTC`(milliseconds: Int64, text: String) {
    #expect(UTCTime.text(milliseconds: milliseconds) == text)
  }

  @Test func `days count through leap years without a gap`() {
    var expected: Int64 = -25_567
    for year in Int64(1900)...2100 {
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
        for day in Int64(1)...Int64(length) {
          #expect(UTCTime.days(year: year, month: Int64(month) + 1, day: day) == expected)
          expected += 1
        }
      }
    }
  }
}
