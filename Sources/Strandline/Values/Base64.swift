/// RFC 4648, section 4, with padding: how bytes stand in JSON.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    var place = 0
    while place < bytes.count {
      let count = min(3, bytes.count - place)
      var group: UInt32 = 0
      for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[place + index]) : 0) }
      for index in 0..<4 {
        text.append(index <= count ? digits[Int(group >> UInt32(18 - 6 * index) & 63)] : padding)
      }
      place += count
    }
  }

  /// Nil unless the text is what `append` writes.
  static func bytes(_ text: String) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    for place in stride(from: 0, to: text.count, by: 4) {
      var group: UInt32 = 0
      var paddingCount = 0
      for byte in text[place..<place + 4] {
        if byte == padding, place + 4 == text.count {
          paddingCount += 1
          group <<= 6
        } else {
          guard paddingCount == 0, let value = value(ofDigit: byte) else { return nil }
          group = group << 6 | value
        }
      }
      guard paddingCount <= 2, group & (paddingCount == 2 ? 0xFFFF : paddingCount == 1 ? 0xFF : 0) == 0 else {
        return nil
      }
      for index in 0..<3 - paddingCount { bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))) }
    }
    return bytes
  }

  private static func value(ofDigit byte: UInt8) -> UInt32? {
    switch byte {
    case 0x41...0x5A: UInt32(byte - 0x41)
    case 0x61...0x7A: UInt32(byte - 0x61 + 26)
    case 0x30...0x39: UInt32(byte - 0x30 + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
