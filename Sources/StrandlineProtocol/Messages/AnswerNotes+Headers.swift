// How the notes stand in the header of an HTTP answer. Names of tables are percent-encoded, for a header carries ASCII only, and joined
// by commas.

extension AnswerNotes {
  /// A day: no server asks to be left alone for longer.
  private static let retryAfterMax = 86_400

  /// Reads the notes of an answer; fields that say nothing understood count as not there.
  ///
  /// - Parameter field: The value of a field, whatever case the name was written in.
  public init(headers field: (String) -> String?) {
    self.init(
      history: field(Self.historyName), resetCause: field(Self.resetCauseName),
      isRecoveryForbidden: field(Self.recoveryName) == Self.forbidden,
      unknownTables: field(Self.unknownTablesName).map(Self.names) ?? [],
      retryAfter: field(Self.retryAfterName).flatMap { Int($0) }.flatMap {
        0...Self.retryAfterMax ~= $0 ? $0 : nil
      })
  }

  /// Only those that say something.
  public var headers: [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    if let history { headers.append((Self.historyName, history)) }
    if let resetCause { headers.append((Self.resetCauseName, resetCause)) }
    if isRecoveryForbidden { headers.append((Self.recoveryName, Self.forbidden)) }
    if !unknownTables.isEmpty {
      headers.append((Self.unknownTablesName, unknownTables.map(Self.encoded).joined(separator: ",")))
    }
    if let retryAfter { headers.append((Self.retryAfterName, String(retryAfter))) }
    return headers
  }

  private static let forbidden = "forbidden"

  private static func encoded(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }

  private static func names(_ text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: ",")).compactMap { decoded(Array($0)) }
  }

  private static func decoded(_ text: [UInt8]) -> String? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      if byte == 0x20 || byte == 0x09 { continue }
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      rest.removeFirst(2)
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
