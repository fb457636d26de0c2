/// An exact number in decimal: its digits without leading and trailing zeros, in front of which lies the point, and an exponent.
///
/// 12.30 is 0.123 × 10^2. Zero has no digits and the exponent zero.
struct DecimalDigits: Equatable {
  var isNegative = false
  /// Each 0 … 9.
  var digits: [UInt8] = []
  var exponent = 0

  /// Nil unless `text` is an optional sign, digits, and optionally a point and digits.
  init?(_ text: String) {
    guard let result: DecimalDigits = text.utf8Span.span.withUnsafeBytes({ DecimalDigits(text: $0) }) else {
      return nil
    }
    self = result
  }

  private init?(text: UnsafeRawBufferPointer) {
    guard DecimalDigits.isDecimal(text) else { return nil }
    isNegative = text[0] == UInt8(ascii: "-")
    digits.reserveCapacity(text.count)
    var pointAt: Int?
    for byte in text {
      if byte == UInt8(ascii: ".") { pointAt = digits.count }
      if byte >= 0x30 { digits.append(byte - 0x30) }
    }
    exponent = pointAt ?? digits.count
    trim()
  }

  /// Whether the bytes are what ``Value/decimal(_:)`` holds.
  static func isDecimal(_ text: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { place = 1 }
    var digitCount = 0
    var fractionCount: Int?
    for byte in text[place...] {
      switch byte {
      case 0x30...0x39:
        digitCount += 1
        if let count = fractionCount { fractionCount = count + 1 }
      case UInt8(ascii: ".") where fractionCount == nil && digitCount > 0: fractionCount = 0
      default: return false
      }
    }
    return digitCount > 0 && fractionCount != 0
  }

  init(_ number: Int64) {
    isNegative = number < 0
    var rest = number.magnitude
    while rest > 0 {
      digits.append(UInt8(rest % 10))
      rest /= 10
    }
    digits.reverse()
    exponent = digits.count
    trim()
  }

  /// The number that a finite double stands for, to the last digit.
  init(exactly number: Double) {
    precondition(number.isFinite, "only finite numbers have digits")
    isNegative = number < 0
    guard number != 0 else { return }
    // number = significand × 2^power; with a negative power that is significand × 5^-power / 10^-power.
    let biased = Int(number.exponentBitPattern)
    let significand = biased == 0 ? number.significandBitPattern : number.significandBitPattern | 1 << 52
    let power = max(biased, 1) - 1075
    var limbs = Limbs(significand >> UInt64(significand.trailingZeroBitCount))
    let rest = power + significand.trailingZeroBitCount
    limbs.multiply(by: rest < 0 ? 5 : 2, times: abs(rest))
    digits = limbs.digits
    exponent = digits.count + min(rest, 0)
    trim()
  }

  private mutating func trim() {
    let leadingZeroCount = digits.firstIndex { $0 != 0 } ?? digits.count
    digits.removeFirst(leadingZeroCount)
    exponent -= leadingZeroCount
    while digits.last == 0 { digits.removeLast() }
    if digits.isEmpty {
      exponent = 0
      isNegative = false
    }
  }

  /// Below, at or above zero.
  static func compare(_ left: DecimalDigits, _ right: DecimalDigits) -> Int {
    if left.sign != right.sign { return left.sign - right.sign }
    return left.sign < 0 ? compareMagnitudes(right, left) : compareMagnitudes(left, right)
  }

  private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

  private static func compareMagnitudes(_ left: DecimalDigits, _ right: DecimalDigits) -> Int {
    if left.exponent != right.exponent { return left.exponent - right.exponent }
    if left.digits == right.digits { return 0 }
    return left.digits.lexicographicallyPrecedes(right.digits) ? -1 : 1
  }

  /// A whole number of any size, in base 10^9, the lowest limb first.
  private struct Limbs {
    private static let base: UInt64 = 1_000_000_000
    private var limbs: [UInt32] = []

    init(_ number: UInt64) {
      var rest = number
      while rest > 0 {
        limbs.append(UInt32(rest % Self.base))
        rest /= Self.base
      }
    }

    mutating func multiply(by factor: UInt64, times: Int) {
      var rest = times
      while rest > 0 {
        // The largest power that keeps limb × power + carry within 64 bits.
        var power: UInt64 = 1
        while rest > 0, power <= 400_000_000 {
          power *= factor
          rest -= 1
        }
        var carry: UInt64 = 0
        for index in limbs.indices {
          let product = UInt64(limbs[index]) * power + carry
          limbs[index] = UInt32(product % Self.base)
          carry = product / Self.base
        }
        while carry > 0 {
          limbs.append(UInt32(carry % Self.base))
          carry /= Self.base
        }
      }
    }

    /// Highest first, with zeros in front.
    var digits: [UInt8] {
      var digits: [UInt8] = []
      for limb in limbs {
        var rest = limb
        for _ in 0..<9 {
          digits.append(UInt8(rest % 10))
          rest /= 10
        }
      }
      return digits.reversed()
    }
  }
}
