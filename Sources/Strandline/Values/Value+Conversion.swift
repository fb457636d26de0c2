extension ColumnType {
  /// Whether a cell of this type holds the value as it is. Null fits every type; whether a column takes it is not the type's matter.
  @inline(__always)
  func holds(_ value: borrowing Value) -> Bool {
    switch value {
    case .null: true
    case .bool: self == .bool || self == .any
    case .int: self == .int || self == .any
    case .decimal(let text):
      (self == .decimal || self == .any) && text.utf8Span.span.withUnsafeBytes { DecimalDigits.isDecimal($0) }
    case .double: self == .double || self == .any
    case .string: self == .string || self == .any
    case .bytes: self == .bytes || self == .any
    case .uuid: self == .uuid || self == .any
    case .timestamp: self == .timestamp || self == .any
    case .array: self == .array || self == .any
    case .object: self == .object || self == .any
    }
  }
}

extension Value {
  /// The value as a cell of a type holds it, if that loses nothing; nil if there is no such value.
  ///
  /// A value that has the type stays as it is, and so does null. Whole numbers become decimals, and doubles where these hold them;
  /// doubles and decimals without a fraction become integers. Texts become what JSON has no form for: decimals, bytes (base64), UUIDs,
  /// timestamps (RFC 3339) and the doubles NaN and Infinity; whole numbers become timestamps (milliseconds since 1970). The one rounding is
  /// from decimal to double, to the nearest.
  public func converted(to type: ColumnType) -> Value? {
    if type.holds(self) { return self }
    switch (type, self) {
    case (.int, .double(let number)): return Int64(exactly: number).map { .int($0) }
    case (.int, .decimal(let text)): return Self.integer(text).map { .int($0) }
    case (.decimal, .int(let number)): return .decimal(String(number))
    case (.decimal, .double(let number)): return Self.decimal(number).map { .decimal($0) }
    case (.decimal, .string(let text)): return DecimalDigits(text).map { _ in .decimal(text) }
    case (.double, .int(let number)): return Double(exactly: number).map { .double($0) }
    case (.double, .decimal(let text)): return DecimalDigits(text).map { _ in .double(NumberOrder.nearestDouble(text)) }
    case (.double, .string("NaN")): return .double(.nan)
    case (.double, .string("Infinity")): return .double(.infinity)
    case (.double, .string("-Infinity")): return .double(-.infinity)
    case (.bytes, .string(let text)): return Base64.bytes(text).map { .bytes($0) }
    case (.uuid, .string(let text)): return UUIDBytes(text).map { .uuid($0) }
    case (.timestamp, .string(let text)): return Timestamp.milliseconds(text).map { .timestamp($0) }
    case (.timestamp, .int(let number)): return .timestamp(number)
    case (.timestamp, .double(let number)): return Int64(exactly: number).map { .timestamp($0) }
    case (.timestamp, .decimal(let text)): return Self.integer(text).map { .timestamp($0) }
    default: return nil
    }
  }

  private static func integer(_ decimal: String) -> Int64? {
    guard let digits = DecimalDigits(decimal), digits.digits.count <= digits.exponent, digits.exponent <= 19 else {
      return DecimalDigits(decimal)?.digits.isEmpty == true ? 0 : nil
    }
    // Downwards from zero, so that the smallest number fits too.
    var number: Int64 = 0
    for place in 0..<digits.exponent {
      let digit = place < digits.digits.count ? Int64(digits.digits[place]) : 0
      let (shifted, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflowOfSum) = shifted.subtractingReportingOverflow(digit)
      guard !overflow, !overflowOfSum else { return nil }
      number = sum
    }
    if digits.isNegative { return number }
    return number == .min ? nil : -number
  }

  /// The shortest decimal that only this double is nearest to; nil for what is no number.
  static func decimal(_ number: Double) -> String? {
    guard number.isFinite else { return nil }
    let text = "\(number)"
    guard let mark = text.firstIndex(of: "e"), let power = Int(text[text.index(after: mark)...]),
      let digits = DecimalDigits(String(text[..<mark]))
    else { return text }
    return digits.text(timesTenTo: power)
  }
}

extension DecimalDigits {
  fileprivate func text(timesTenTo power: Int) -> String {
    let digits = digits.map { Character(UnicodeScalar($0 + 0x30)) }
    let point = exponent + power
    let sign = isNegative ? "-" : ""
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + String(digits) }
    if point >= digits.count { return sign + String(digits) + String(repeating: "0", count: point - digits.count) }
    return sign + String(digits[..<point]) + "." + String(digits[point...])
  }
}
