/// Times as text, always in UTC, in the proleptic Gregorian calendar.
enum UTCTime {
  /// `2026-02-28T23:59:59.123Z` of milliseconds since 1970.
  static func text(milliseconds: Int64) -> String {
    let seconds = milliseconds.flooredQuotient(1000)
    let thousandths = milliseconds - seconds * 1000
    return "\(dateAndTime(seconds)).\(padded(thousandths, 3))Z"
  }

  /// `2026-02-28T23:59:59Z` of seconds since 1970.
  static func text(seconds: Int64) -> String { dateAndTime(seconds) + "Z" }

  /// Days since 1970-01-01 of a date. Months count from 1; the caller has checked them.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Years begin in March here, so that the leap day is the last of the year; eras of 400 years repeat exactly.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredQuotient(400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func dateAndTime(_ seconds: Int64) -> String {
    let days = seconds.flooredQuotient(86_400)
    let second = seconds - days * 86_400
    let (year, month, day) = date(days: days)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
      + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
  }

  /// The inverse of ``days(year:month:day:)``.
  private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension Int64 {
  /// Division that rounds towards minus infinity, so that times before 1970 fall on the right day.
  fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
