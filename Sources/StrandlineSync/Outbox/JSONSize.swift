internal import StrandlineProtocol

/// How large a text is in JSON.
enum JSONSize {
  static func of(_ text: String) -> Int {
    text.utf8.reduce(2) { count, byte in
      switch byte {
      case 0..<0x20: count + 6
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): count + 2
      default: count + 1
      }
    }
  }
}

extension Value {
  /// How many bytes the value is in a request, for a number the most that it can be.
  var encodedByteCount: Int {
    switch self {
    case .null, .bool: 5
    case .int, .double, .timestamp, .uuid: 40
    case .string(let text): JSONSize.of(text)
    case .decimal(let digits): digits.utf8.count
    case .bytes(let bytes): bytes.count / 3 * 4 + 8
    case .array(let members): members.reduce(2) { $0 + $1.encodedByteCount + 1 }
    case .object(let members): members.reduce(2) { $0 + JSONSize.of($1.key) + $1.value.encodedByteCount + 2 }
    }
  }
}
