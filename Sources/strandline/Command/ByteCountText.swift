/// A number of bytes as people write it: `64KiB`, `32MiB`, `1GiB`.
enum ByteCountText {
  private static let units = ["KiB": UInt64(1) << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40]

  /// Nil for anything else, and for what no 64 bits hold.
  static func parsed(_ text: String) -> UInt64? {
    guard let unit = units[String(text.suffix(3))], let count = UInt64(text.dropLast(3)) else { return nil }
    let (byteCount, isTooMuch) = count.multipliedReportingOverflow(by: unit)
    return isTooMuch ? nil : byteCount
  }
}
