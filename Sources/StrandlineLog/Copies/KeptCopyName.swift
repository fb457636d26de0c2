internal import Glibc

/// The name of a kept copy: `kept-<UTC time>-<random>`, so that copies sort by age and never meet.
@_spi(Engine) public enum KeptCopyName {
  public static func make(milliseconds: Int64, randomBits: UInt64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "kept-0-\(hexadecimal(randomBits))" }
    func digits(_ value: Int32, _ width: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let date = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
    let time = digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
    return "kept-\(date)T\(time)Z-\(hexadecimal(randomBits))"
  }

  /// Whether `make` gives names like this one.
  public static func isOne(_ name: String) -> Bool {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "kept", parts[2].utf8.count == 16 else { return false }
    let time = parts[1].utf8
    let isTime = time.count == 16 && time.last == UInt8(ascii: "Z") || parts[1] == "0"
    return isTime && parts[2].utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
