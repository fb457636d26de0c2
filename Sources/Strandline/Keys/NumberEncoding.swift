/// Numbers of all types as bytes in the order of NumberOrder, each at least nine bytes long.
///
///   eight bytes    the largest double that is not above the number, as a big-endian number in the order of doubles
///   00             the number is that double, or:
///   01 | digits    the number lies above it (an integer beyond 2^53, most decimals). Then its decimal digits: exponent, four bytes,
///                  big-endian, 2^31 added | pairs of digits, each plus one | 00; all inverted for negative numbers
///
/// So nothing is rounded, and doubles and integers up to 2^53 need no digits.
enum NumberEncoding {
  /// Of an integer or double.
  static let byteCountMax = 8 + 1 + 4 + 10 + 1

  static func append(_ number: Int64, to bytes: inout [UInt8]) {
    let nearest = Double(number)
    // 2^63 is the one double near an integer that is no integer itself.
    let isAbove = nearest >= 0x1p63 || Int64(nearest) > number
    let floor = isAbove ? nearest.nextDown : nearest
    append(exact: floor, to: &bytes)
    if Double(exactly: number) != nil { bytes.append(0) } else { append(DecimalDigits(number), to: &bytes) }
  }

  static func append(_ number: Double, to bytes: inout [UInt8]) {
    append(exact: number, to: &bytes)
    bytes.append(0)
  }

  /// What is no decimal stands where NaN does.
  static func append(decimal text: String, to bytes: inout [UInt8]) {
    guard let digits = DecimalDigits(text) else {
      append(.nan, to: &bytes)
      return
    }
    let nearest = NumberOrder.nearestDouble(text)
    let order = nearest.isFinite ? DecimalDigits.compare(digits, DecimalDigits(exactly: nearest)) : nearest < 0 ? 1 : -1
    append(exact: order < 0 ? nearest.nextDown : nearest, to: &bytes)
    if order == 0 { bytes.append(0) } else { append(digits, to: &bytes) }
  }

  private static func append(exact number: Double, to bytes: inout [UInt8]) {
    let bits = number.isNaN ? UInt64.max >> 1 : number == 0 ? 0 : number.bitPattern
    OrderedBytes.append(bigEndian: bits >> 63 == 1 ? ~bits : bits | 1 << 63, to: &bytes)
  }

  private static func append(_ number: DecimalDigits, to bytes: inout [UInt8]) {
    bytes.append(1)
    let inverted: UInt8 = number.isNegative ? 0xFF : 0
    let exponent = UInt32(truncatingIfNeeded: number.exponent) ^ 1 << 31
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: exponent >> shift) ^ inverted) }
    for place in stride(from: 0, to: number.digits.count, by: 2) {
      let second = place + 1 < number.digits.count ? number.digits[place + 1] : 0
      bytes.append((number.digits[place] * 10 + second + 1) ^ inverted)
    }
    bytes.append(inverted)
  }
}
