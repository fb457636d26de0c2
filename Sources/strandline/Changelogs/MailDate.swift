/// Dates as mail and changelogs write them: `Mon, 02 Jan 2006 15:04:05 +0100` (RFC 2822, section 3.3).
///
/// Taken too: no weekday, no seconds, the two-digit years and zone names of RFC 822, and remarks in parentheses.
enum MailDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  /// Hours east of Greenwich. Names that are not here count as UTC, as RFC 2822 says.
  private static let zones: [String: Int64] = [
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
  ]

  /// Milliseconds since 1970, or nil if that is not a date.
  static func milliseconds(of bytes: some Collection<UInt8>) -> Int64? {
    guard let text = String(validating: bytes.prefix(200), as: UTF8.self) else { return nil }
    var words = text.split { $0 == " " || $0 == "\t" || $0 == "," }
    if let first = words.first, first.first?.isLetter == true { words.removeFirst() }
    guard words.count >= 4,
      let day = number(words[0]), let month = months.firstIndex(of: words[1].prefix(3).lowercased()),
      words[1].count >= 3, var year = number(words[2])
    else { return nil }
    if words[2].utf8.count == 2 { year += year < 50 ? 2000 : 1900 }
    let clock = words[3].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 2 || clock.count == 3, let hour = number(clock[0]), let minute = number(clock[1]),
      let second = clock.count == 3 ? number(clock[2]) : 0,
      (1900...9999).contains(year), (1...daysIn(month: month + 1, of: year)).contains(day),
      hour < 24, minute < 60, second <= 60,
      let offset = words.count > 4 ? offsetMinutes(words[4]) : 0
    else { return nil }
    let days = UTCTime.days(year: year, month: Int64(month) + 1, day: day)
    return ((days * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1000
  }

  private static func daysIn(month: Int, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  private static func offsetMinutes(_ word: Substring) -> Int64? {
    guard let sign = word.first, sign == "+" || sign == "-" else {
      return (zones[word.lowercased()] ?? 0) * 60
    }
    guard word.utf8.count == 5, let digits = number(word.dropFirst()), digits % 100 < 60 else { return nil }
    let minutes = digits / 100 * 60 + digits % 100
    return sign == "-" ? -minutes : minutes
  }

  /// Up to four digits and nothing else.
  private static func number(_ word: Substring) -> Int64? {
    guard (1...4).contains(word.utf8.count), word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(word)
  }
}
