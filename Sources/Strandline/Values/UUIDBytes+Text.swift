extension UUIDBytes: LosslessStringConvertible {
  static let textByteCount = 36

  /// Lower-case hex digits in the form 8-4-4-4-12.
  public var description: String {
    String(unsafeUninitializedCapacity: Self.textByteCount) { text in
      var place = 0
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[place] = UInt8(ascii: "-")
          place += 1
        }
        let half = index < 8 ? high : low
        let byte = UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (index & 7)))
        text[place] = Self.digit(byte >> 4)
        text[place + 1] = Self.digit(byte & 15)
        place += 2
      }
      return place
    }
  }

  /// Nil unless `text` is 36 characters of the form 8-4-4-4-12, in hex digits of either case.
  public init?(_ text: String) {
    let result: UUIDBytes? = text.utf8Span.span.withUnsafeBytes { UUIDBytes(text: $0) }
    guard let result else { return nil }
    self = result
  }

  init?(text: UnsafeRawBufferPointer) {
    guard text.count == Self.textByteCount else { return nil }
    var halves = (high: UInt64(0), low: UInt64(0))
    var digitCount = 0
    for (place, byte) in text.enumerated() {
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Self.value(ofDigit: byte) else { return nil }
      if digitCount < 16 { halves.high = halves.high << 4 | digit } else { halves.low = halves.low << 4 | digit }
      digitCount += 1
    }
    self.init(high: halves.high, low: halves.low)
  }

  private static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }

  private static func value(ofDigit byte: UInt8) -> UInt64? {
    switch byte {
    case 0x30...0x39: UInt64(byte - 0x30)
    case 0x41...0x46: UInt64(byte - 0x37)
    case 0x61...0x66: UInt64(byte - 0x57)
    default: nil
    }
  }
}
