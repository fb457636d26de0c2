/// Numbers with units, as people read them.
enum Quantity {
  /// Three significant digits and the unit that fits: `1.71 M/s`, `103 µs`, `0.94`, `312 MiB`.
  static func text(_ value: Double, _ metric: Metric) -> String {
    switch metric.unit {
    case .perSecond: scaled(value, by: 1000, [" /s", " k/s", " M/s", " G/s"])
    case .seconds: duration(value)
    case .bytes: scaled(value, by: 1024, [" B", " KiB", " MiB", " GiB"])
    case .ratio: digits(value)
    }
  }

  /// `median (min–max)`.
  static func text(_ summary: Summary, _ metric: Metric) -> String {
    "\(text(summary.median, metric)) (\(text(summary.min, metric))–\(text(summary.max, metric)))"
  }

  private static func duration(_ seconds: Double) -> String {
    switch seconds {
    case ..<1e-6: "\(digits(seconds * 1e9)) ns"
    case ..<1e-3: "\(digits(seconds * 1e6)) µs"
    case ..<1: "\(digits(seconds * 1e3)) ms"
    default: "\(digits(seconds)) s"
    }
  }

  private static func scaled(_ value: Double, by step: Double, _ units: [String]) -> String {
    var rest = value
    var unit = 0
    while rest >= step * 0.9995 && unit + 1 < units.count {
      rest /= step
      unit += 1
    }
    return digits(rest) + units[unit]
  }

  /// Three significant digits, without exponent.
  static func digits(_ value: Double) -> String {
    let magnitude = abs(value)
    let places =
      switch magnitude {
      case 99.95...: 0
      case 9.995...: 1
      case 0.9995...: 2
      case 0.09995...: 3
      default: 4
      }
    guard places > 0 else { return "\(Int(value.rounded()))" }
    let unit = [1, 10, 100, 1000, 10_000][places]
    let scaled = Int((magnitude * Double(unit)).rounded())
    let fraction = String(scaled % unit)
    let padded = String(repeating: "0", count: places - fraction.count) + fraction
    return "\(value < 0 ? "-" : "")\(scaled / unit).\(padded)"
  }
}
