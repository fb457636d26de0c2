/// The text of a timestamp: RFC 3339 in UTC with three decimals.
@_spi(Engine) public enum Timestamp {
  private static let millisecondsPerDay: Int64 = 86_400_000
  /// 0000-01-01 and 9999-12-31, the days that the form can say, counted from 1970-01-01.
  private static let days: ClosedRange<Int64> = -719_528...2_932_896

  /// `2026-11-30T11:20:39.250Z`; outside the years 0 to 9999 the milliseconds since 1970 in digits.
  public static func text(_ milliseconds: Int64) -> String {
    let day = milliseconds.floorDivided(by: millisecondsPerDay)
    guard days.contains(day) else { return String(milliseconds) }
    let rest = milliseconds - day * millisecondsPerDay
    let (year, month, dayOfMonth) = date(ofDay: day)
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2) + "T" + padded(rest / 3_600_000, 2)
      + ":"
      + padded(rest / 60_000 % 60, 2) + ":" + padded(rest / 1000 % 60, 2) + "." + padded(rest % 1000, 3) + "Z"
  }

  /// Reads what `text` writes, and any time of RFC 3339: an offset instead of `Z`, no or more decimals (those behind the third are
  /// dropped). Nil for anything else.
  public static func milliseconds(_ text: String) -> Int64? {
    if let number = Int64(text) { return days.contains(number.floorDivided(by: millisecondsPerDay)) ? nil : number }
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let year = reader.digits(4), reader.skip("-"), let month = reader.digits(2), reader.skip("-"),
      let dayOfMonth = reader.digits(2), reader.skip("T", or: "t") || reader.skip(" "),
      let hour = reader.digits(2), hour < 24, reader.skip(":"), let minute = reader.digits(2), minute < 60,
      reader.skip(":"),
      let second = reader.digits(2), second < 60, let day = day(year: year, month: month, dayOfMonth: dayOfMonth),
      let fraction = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty
    else { return nil }
    return day * millisecondsPerDay + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that the leap day is the last.

  private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, dayOfMonth: Int64) {
    let shifted = day + 719_468
    let era = shifted.floorDivided(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// Nil for a date that is in no calendar.
  private static func day(year: Int64, month: Int64, dayOfMonth: Int64) -> Int64? {
    guard 1...12 ~= month, dayOfMonth >= 1 else { return nil }
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear.floorDivided(by: 400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
    let day = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    return date(ofDay: day) == (year, month, dayOfMonth) ? day : nil
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func digits(_ count: Int) -> Int64? {
      guard rest.count >= count else { return nil }
      var number: Int64 = 0
      for byte in rest.prefix(count) {
        guard 0x30...0x39 ~= byte else { return nil }
        number = number * 10 + Int64(byte - 0x30)
      }
      rest.removeFirst(count)
      return number
    }

    mutating func skip(_ character: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
      guard let first = rest.first, first == UInt8(ascii: character) || other.map({ first == UInt8(ascii: $0) }) == true
      else {
        return false
      }
      rest.removeFirst()
      return true
    }

    /// Milliseconds; zero if there is no point.
    mutating func fraction() -> Int64? {
      guard skip(".") else { return 0 }
      let digits = rest.prefix { 0x30...0x39 ~= $0 }
      guard !digits.isEmpty else { return nil }
      rest.removeFirst(digits.count)
      return (digits.prefix(3) + [0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Minutes east of UTC.
    mutating func offset() -> Int64? {
      if skip("Z", or: "z") { return 0 }
      let isWest = rest.first == UInt8(ascii: "-")
      guard skip("+", or: "-"), let hours = digits(2), hours < 24, skip(":"), let minutes = digits(2), minutes < 60
      else {
        return nil
      }
      return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
  }
}

extension Int64 {
  /// Rounded towards minus infinity, for positive divisors.
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
