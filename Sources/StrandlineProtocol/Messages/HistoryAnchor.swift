/// A place in the history of one server: which history, how far it had come, and what it was until then.
///
/// Travels beside the messages. The text is `<history id>;<number>;<tag>`: 32 hex digits, a decimal number, 16 hex digits.
public struct HistoryAnchor: Hashable, Sendable, LosslessStringConvertible {
  /// Made of the store's identity; another one after a restored copy.
  public var history: String
  /// The highest number committed.
  public var number: Int64
  /// Stands for everything up to the commit that drew the number.
  public var tag: UInt64

  public init(history: String, number: Int64, tag: UInt64) {
    self.history = history
    self.number = number
    self.tag = tag
  }

  /// Nil for any other text.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 32, parts[0].allSatisfy(\.isLowerHexDigit), parts[2].count == 16,
      parts[2].allSatisfy(\.isLowerHexDigit), parts[1].count <= 19, !parts[1].isEmpty,
      parts[1].allSatisfy({ 0x30...0x39 ~= $0 }), parts[1].count == 1 || parts[1].first != 0x30,
      let number = Int64(String(Substring(parts[1]))), let tag = UInt64(String(Substring(parts[2])), radix: 16)
    else { return nil }
    self.init(history: String(Substring(parts[0])), number: number, tag: tag)
  }

  public var description: String {
    let digits = String(tag, radix: 16)
    return "\(history);\(number);\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)"
  }
}

extension UInt8 {
  fileprivate var isLowerHexDigit: Bool { 0x30...0x39 ~= self || 0x61...0x66 ~= self }
}
