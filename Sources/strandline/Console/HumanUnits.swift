/// Numbers as people read them. Always the same on every machine: no locale.
enum HumanUnits {
  /// `812 B`, `4.00 KiB`, `1.25 GiB`.
  static func bytes(_ count: some BinaryInteger) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    guard count.magnitude >= 1024 else { return "\(count) B" }
    var value = Double(count)
    var unit = 0
    while abs(value) >= 1023.995, unit + 1 < units.count {
      value /= 1024
      unit += 1
    }
    return "\(threeDigits(value)) \(units[unit])"
  }

  /// `830 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`, `2 min 5 s`, `3 h 12 min`.
  static func duration(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return self.duration(nanoseconds: Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
  }

  static func duration(nanoseconds: Double) -> String {
    guard nanoseconds.isFinite else { return "-" }
    switch abs(nanoseconds) {
    case ..<999.5: return "\(Int(nanoseconds.rounded())) ns"
    case ..<999.5e3: return "\(threeDigits(nanoseconds / 1e3)) µs"
    case ..<999.5e6: return "\(threeDigits(nanoseconds / 1e6)) ms"
    case ..<59.95e9: return "\(threeDigits(nanoseconds / 1e9)) s"
    case ..<3599.5e9:
      let seconds = Int((nanoseconds / 1e9).rounded())
      return "\(seconds / 60) min \(seconds % 60) s"
    default:
      let minutes = Int(min(nanoseconds / 60e9, 1e15).rounded())
      return "\(minutes / 60) h \(minutes % 60) min"
    }
  }

  /// `1,234,567`.
  static func count(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }

  /// `1 commit`, `1234 commits`: as it stands in reports, where a number can be searched for.
  static func number(_ number: some BinaryInteger, of noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }

  /// `950 entries/s`, `12.3 k entries/s`, `1.25 M entries/s`.
  static func rate(_ perSecond: Double, of noun: String) -> String {
    guard perSecond.isFinite else { return "- \(noun)/s" }
    switch abs(perSecond) {
    case ..<999.5: return "\(threeDigits(perSecond)) \(noun)/s"
    case ..<999.5e3: return "\(threeDigits(perSecond / 1e3)) k \(noun)/s"
    case ..<999.5e6: return "\(threeDigits(perSecond / 1e6)) M \(noun)/s"
    default: return "\(threeDigits(perSecond / 1e9)) G \(noun)/s"
    }
  }

  /// Two decimals below 10, one below 100, none above.
  private static func threeDigits(_ value: Double) -> String {
    let magnitude = abs(value)
    if magnitude < 9.995 { return fixed(value, decimals: 2) }
    return fixed(value, decimals: magnitude < 99.95 ? 1 : 0)
  }

  static func fixed(_ value: Double, decimals: Int) -> String {
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard decimals > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale).\(String(repeating: "0", count: decimals - fraction.count))\(fraction)"
  }
}
