/// RFC 4648, section 5, without padding: how bytes stand in tokens and keys.
enum Base64URL {
  /// Nil for another alphabet, padding, a length that none has, and bits left over that are not zero: every content has one text.
  static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 4 * 3 + 2)
    var bits: UInt32 = 0
    var bitCount = 0
    for unit in text.utf8 {
      guard let digit = value(ofDigit: unit) else { return nil }
      bits = (bits << 6 | digit) & 0xFFFF
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
    }
    guard bitCount < 6, bits & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
    return bytes
  }

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for byte in bytes {
      bits = (bits << 8 | UInt32(byte)) & 0xFFFF
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        digits.append(digit(bits >> bitCount & 0x3F))
      }
    }
    if bitCount > 0 { digits.append(digit(bits << (6 - bitCount) & 0x3F)) }
    return String(decoding: digits, as: UTF8.self)
  }

  private static func digit(_ value: UInt32) -> UInt8 { alphabet[Int(value)] }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func value(ofDigit byte: UInt8) -> UInt32? {
    switch byte {
    case 0x41...0x5A: UInt32(byte - 0x41)
    case 0x61...0x7A: UInt32(byte - 0x61 + 26)
    case 0x30...0x39: UInt32(byte - 0x30 + 52)
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
