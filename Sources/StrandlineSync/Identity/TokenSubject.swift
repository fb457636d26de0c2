internal import StrandlineProtocol

/// Reads who a token is for. The signature is the server's business.
enum TokenSubject {
  /// The `sub` claim of a compact JWS: three segments, the middle one JSON in base64url. Nil for anything else.
  static func read(_ token: String) -> String? {
    let segments = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count == 3, let bytes = decode(segments[1]), let text = String(validating: bytes, as: UTF8.self),
      case .object(let claims)? = try? Value.json(text), case .string(let subject)? = claims["sub"], !subject.isEmpty
    else { return nil }
    return subject
  }

  /// Base64url; padding may be there.
  private static func decode(_ text: Substring.UTF8View) -> [UInt8]? {
    var digits = Array(text)
    while digits.last == UInt8(ascii: "=") { digits.removeLast() }
    if digits.count % 4 == 1 { return nil }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      bits = bits << 6 & 0xFFFFFF | UInt32(value)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
