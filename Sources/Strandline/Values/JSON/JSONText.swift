extension Value {
  /// Appends the value as JSON (RFC 8259) in UTF-8, on one line without blanks, members in the order of their names.
  ///
  /// Bytes (base64), UUIDs, timestamps (RFC 3339), NaN and the infinities become strings, which ``converted(to:)`` turns back, and so do
  /// decimals unless they are asked for as numbers. JSON knows no sign in front of a positive number and no zero in front of another digit,
  /// so a decimal that has one stays a string.
  public func appendJSON(to text: inout [UInt8], decimals: JSONDecimals = .text) {
    switch self {
    case .null: text.append(contentsOf: "null".utf8)
    case .bool(let flag): text.append(contentsOf: (flag ? "true" : "false").utf8)
    case .int(let number): text.append(contentsOf: "\(number)".utf8)
    case .double(let number):
      if number.isFinite {
        text.append(contentsOf: "\(number)".utf8)
      } else {
        JSONText.appendString(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity", to: &text)
      }
    case .decimal(let digits) where decimals == .number && JSONText.isNumber(digits):
      text.append(contentsOf: digits.utf8)
    case .decimal(let string), .string(let string): JSONText.appendString(string, to: &text)
    case .bytes(let bytes):
      text.append(UInt8(ascii: "\""))
      Base64.append(bytes, to: &text)
      text.append(UInt8(ascii: "\""))
    case .uuid(let uuid): JSONText.appendString(uuid.description, to: &text)
    case .timestamp(let milliseconds): JSONText.appendString(Timestamp.text(milliseconds), to: &text)
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        value.appendJSON(to: &text, decimals: decimals)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, name) in Self.orderedNames(members).enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        JSONText.appendMember(name, members[name] ?? .null, to: &text, decimals: decimals)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  /// As ``appendJSON(to:)``.
  public var json: String {
    var text: [UInt8] = []
    appendJSON(to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}

extension Row {
  /// Appends the row as a JSON object, as ``Value/appendJSON(to:)`` does for its cells.
  public func appendJSON(to text: inout [UInt8]) {
    text.append(UInt8(ascii: "{"))
    for (index, cell) in cells.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      JSONText.appendMember(cell.name, cell.value, to: &text)
    }
    text.append(UInt8(ascii: "}"))
  }
}

/// How decimals stand in JSON.
public enum JSONDecimals: Sendable {
  /// As texts, so that every reader keeps all their digits.
  case text
  /// As numbers.
  case number
}

enum JSONText {
  static func appendMember(
    _ name: String, _ value: Value, to text: inout [UInt8], decimals: JSONDecimals = .text
  ) {
    appendString(name, to: &text)
    text.append(UInt8(ascii: ":"))
    value.appendJSON(to: &text, decimals: decimals)
  }

  /// Whether a decimal is as JSON writes numbers.
  static func isNumber(_ decimal: String) -> Bool {
    var digits = decimal.utf8[...]
    if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
    guard let first = digits.popFirst(), 0x30...0x39 ~= first else { return false }
    return first != 0x30 || digits.isEmpty || digits.first == UInt8(ascii: ".")
  }

  /// With quotes. Escaped are quotes, backslashes and control characters.
  static func appendString(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): appendEscape(byte, to: &text)
      case 0x08: appendEscape(UInt8(ascii: "b"), to: &text)
      case 0x09: appendEscape(UInt8(ascii: "t"), to: &text)
      case 0x0A: appendEscape(UInt8(ascii: "n"), to: &text)
      case 0x0C: appendEscape(UInt8(ascii: "f"), to: &text)
      case 0x0D: appendEscape(UInt8(ascii: "r"), to: &text)
      case 0x00...0x1F:
        text.append(contentsOf: byte < 0x10 ? "\\u000".utf8 : "\\u001".utf8)
        text.append(contentsOf: String(byte & 15, radix: 16).utf8)
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }

  private static func appendEscape(_ byte: UInt8, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\\"))
    text.append(byte)
  }
}
