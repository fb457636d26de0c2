/// Order of numbers of different types by what they stand for, without rounding: 9007199254740993 is above 9007199254740992.0.
///
/// Minus zero equals zero. NaN equals NaN and comes behind all other numbers; so does a decimal whose text is none.
enum NumberOrder {
  /// Below, at or above zero; both values must be numbers.
  static func compare(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.int(let one), .int(let other)): order(one, other)
    case (.double(let one), .double(let other)): compare(one, other)
    case (.int(let one), .double(let other)): compare(one, other)
    case (.double(let one), .int(let other)): -compare(other, one)
    case (.decimal(let one), .decimal(let other)): compare(DecimalDigits(one), DecimalDigits(other))
    case (.decimal(let one), .int(let other)): compare(DecimalDigits(one), DecimalDigits(other))
    case (.int(let one), .decimal(let other)): compare(DecimalDigits(one), DecimalDigits(other))
    case (.decimal(let one), .double(let other)): compare(one, other)
    case (.double(let one), .decimal(let other)): -compare(other, one)
    default: preconditionFailure("only numbers are ordered as numbers")
    }
  }

  private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  private static func compare(_ left: Double, _ right: Double) -> Int {
    if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
    return order(left, right)
  }

  private static func compare(_ left: Int64, _ right: Double) -> Int {
    if right.isNaN || right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = right.rounded(.towardZero)
    let wholeOrder = order(left, Int64(whole))
    return wholeOrder != 0 ? wholeOrder : order(whole, right)
  }

  private static func compare(_ left: DecimalDigits?, _ right: DecimalDigits?) -> Int {
    guard let left else { return right == nil ? 0 : 1 }
    guard let right else { return -1 }
    return DecimalDigits.compare(left, right)
  }

  private static func compare(_ left: String, _ right: Double) -> Int {
    guard let digits = DecimalDigits(left) else { return right.isNaN ? 0 : 1 }
    if right.isNaN { return -1 }
    if right.isInfinite { return right > 0 ? -1 : 1 }
    // Rounding keeps order, so only a decimal that rounds to the double needs its digits.
    let nearest = nearestDouble(left)
    return nearest != right ? order(nearest, right) : DecimalDigits.compare(digits, DecimalDigits(exactly: right))
  }

  /// Infinite if the decimal is beyond all doubles.
  static func nearestDouble(_ decimal: String) -> Double { Double(decimal) ?? .nan }
}
