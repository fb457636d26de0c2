/// A whole number of any size.
public struct WholeNumber: Hashable, Sendable, LosslessStringConvertible {
  private var isNegative: Bool
  /// Each 0 … 9, the lowest first, without zeros at the end; none is zero.
  private var digits: [UInt8]

  private init(isNegative: Bool, digits: [UInt8]) {
    var digits = digits
    while digits.last == 0 { digits.removeLast() }
    self.digits = digits
    self.isNegative = isNegative && !digits.isEmpty
  }

  /// An optional minus and digits without a zero in front; nil for any other text.
  public init?(_ text: String) {
    var digits = Array(text.utf8)
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits.removeFirst() }
    guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }), digits.count == 1 || digits[0] != 0x30 else {
      return nil
    }
    self.init(isNegative: isNegative, digits: digits.reversed().map { $0 - 0x30 })
  }

  /// The whole number that a value stands for: a number without a fraction, or such a number's digits. Nil for any other value.
  public init?(_ value: Value) {
    switch value {
    case .int(let number): self.init(String(number))
    case .double(let number): self.init(exactly: number)
    case .decimal(let text), .string(let text): self.init(text)
    default: return nil
    }
  }

  /// The whole number that a double stands for, to the last digit; nil for a double with a fraction, infinity and NaN.
  public init?(exactly number: Double) {
    guard number.isFinite, number.rounded(.towardZero) == number else { return nil }
    if let whole = Int64(exactly: number) {
      self.init(String(whole))
    } else {
      // Beyond 2^63 the significand, 53 bits, is a whole number, and the power of two above zero.
      let significand = number.significandBitPattern | 1 << 52
      self.init(
        isNegative: number < 0, digits: Self.digits(of: significand, timesTwoToThe: Int(number.exponent) - 52))
    }
  }

  public static let zero = WholeNumber(isNegative: false, digits: [])

  public var description: String {
    if digits.isEmpty { return "0" }
    return (isNegative ? "-" : "") + String(decoding: digits.reversed().map { $0 + 0x30 }, as: UTF8.self)
  }

  public static func + (left: WholeNumber, right: WholeNumber) -> WholeNumber {
    if left.isNegative == right.isNegative {
      return WholeNumber(isNegative: left.isNegative, digits: sum(left.digits, right.digits))
    }
    return isBelow(left.digits, right.digits)
      ? WholeNumber(isNegative: right.isNegative, digits: difference(right.digits, left.digits))
      : WholeNumber(isNegative: left.isNegative, digits: difference(left.digits, right.digits))
  }

  /// As a cell holds it after an increment: a number while its magnitude is below 2^31, otherwise its digits.
  public var cell: Value {
    if digits.count <= 10, let number = Int64(description), number.magnitude < 1 << 31 { return .int(number) }
    return .string(description)
  }

  private static func digits(of number: UInt64, timesTwoToThe power: Int) -> [UInt8] {
    // Limbs of nine digits, the lowest first: a limb times 2^30 and a carry fit 64 bits.
    let base: UInt64 = 1_000_000_000
    var limbs: [UInt64] = []
    var rest = number
    while rest > 0 {
      limbs.append(rest % base)
      rest /= base
    }
    var left = power
    while left > 0 {
      let step = min(left, 30)
      var carry: UInt64 = 0
      for place in limbs.indices {
        let product = limbs[place] << UInt64(step) + carry
        limbs[place] = product % base
        carry = product / base
      }
      while carry > 0 {
        limbs.append(carry % base)
        carry /= base
      }
      left -= step
    }
    var digits: [UInt8] = []
    for var limb in limbs {
      for _ in 0..<9 {
        digits.append(UInt8(limb % 10))
        limb /= 10
      }
    }
    return digits
  }

  private static func isBelow(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count != right.count ? left.count < right.count : left.reversed().lexicographicallyPrecedes(right.reversed())
  }

  private static func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var carry: UInt8 = 0
    for place in 0..<max(left.count, right.count) {
      let digit = (place < left.count ? left[place] : 0) + (place < right.count ? right[place] : 0) + carry
      result.append(digit % 10)
      carry = digit / 10
    }
    if carry > 0 { result.append(carry) }
    return result
  }

  /// `left` must not be below `right`.
  private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var borrow: UInt8 = 0
    for place in left.indices {
      let taken = (place < right.count ? right[place] : 0) + borrow
      borrow = left[place] < taken ? 1 : 0
      result.append(left[place] + borrow * 10 - taken)
    }
    return result
  }
}
