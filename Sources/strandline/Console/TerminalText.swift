/// Text from data made safe to print: nothing in it can move the cursor, colour, hide or reorder what a terminal shows.
enum TerminalText {
  /// Escapes control characters, characters that change the direction of text, and the backslash.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: needsEscape) else { return text }
    var result = ""
    for scalar in text.unicodeScalars { append(scalar, to: &result) }
    return result
  }

  /// The same for bytes; those that are not UTF-8 become `\xNN`.
  static func escaped(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    bytes.span.bytes.withUnsafeBytes { appendEscaped($0, to: &result) }
    return String(decoding: result, as: UTF8.self)
  }

  /// Appends `bytes` with the same escapes; those that are not UTF-8 become `\xNN`.
  static func appendEscaped(_ bytes: UnsafeRawBufferPointer, to result: inout [UInt8]) {
    var start = 0
    var index = 0
    while index < bytes.count {
      // Most text is this, and goes over in one piece.
      if isPlain(bytes[index]) {
        index += 1
        continue
      }
      let found = scalar(atStartOf: UnsafeRawBufferPointer(rebasing: bytes[index...]))
      if let found, !needsEscape(found.scalar) {
        index += found.byteCount
        continue
      }
      result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
      var text = ""
      if let found { append(found.scalar, to: &text) } else { text = "\\x" + hex(UInt32(bytes[index]), width: 2) }
      result.append(contentsOf: text.utf8)
      index += found?.byteCount ?? 1
      start = index
    }
    result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Printable ASCII but for the backslash.
  private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F && byte != 0x5C }

  /// The same for text of several lines, which stay lines, and for the backslash, which stays what it is.
  static func escapedLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { escapedJSON(String($0)) }.joined(
      separator: "\n")
  }

  /// JSON with the same characters escaped as JSON does it, so that it stays JSON. They stand in its strings only.
  static func escapedJSON(_ json: String) -> String {
    guard json.unicodeScalars.contains(where: { $0 != "\\" && needsEscape($0) }) else { return json }
    var result = ""
    for scalar in json.unicodeScalars {
      if scalar != "\\", needsEscape(scalar) {
        result += "\\u" + hex(scalar.value, width: 4)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The UTF-8 scalar that `bytes` begin with, if they do.
  private static func scalar(atStartOf bytes: UnsafeRawBufferPointer) -> (scalar: Unicode.Scalar, byteCount: Int)? {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    guard case .valid(let encoded) = parser.parseScalar(from: &iterator) else { return nil }
    return (Unicode.UTF8.decode(encoded), encoded.count)
  }

  static func hex(_ value: UInt32, width: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
    switch scalar {
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case "\\": result += "\\\\"
    case let scalar where needsEscape(scalar):
      result += scalar.value < 0x80 ? "\\x" + hex(scalar.value, width: 2) : "\\u{" + hex(scalar.value, width: 4) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }

  private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x5C, 0x7F...0x9F: true
    // Marks, embeddings and isolates that reorder text; line and paragraph separators; the byte order mark.
    case 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
    default: false
    }
  }
}
