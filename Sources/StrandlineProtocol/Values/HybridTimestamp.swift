@_spi(Engine) internal import Strandline

/// When a write was made, on a clock that never goes back: `<RFC 3339 with milliseconds>|<counter>|<node>`.
///
/// Ordered by time, then by counter as a number, then by the bytes of the node.
public struct HybridTimestamp: Hashable, Sendable, Comparable, LosslessStringConvertible {
  /// Since 1970, in UTC.
  public var milliseconds: Int64
  /// Tells writes of one millisecond apart.
  public var counter: UInt64
  /// The device. Not empty, and without a bar.
  public var node: String

  public init(milliseconds: Int64, counter: UInt64, node: String) {
    self.milliseconds = milliseconds
    self.counter = counter
    self.node = node
  }

  /// Nil for any other text.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    guard parts.count == 3, let time = WireTime.milliseconds(String(Substring(parts[0]))), !parts[1].isEmpty,
      parts[1].allSatisfy({ 0x30...0x39 ~= $0 }), let counter = UInt64(String(Substring(parts[1]))), !parts[2].isEmpty
    else { return nil }
    self.init(milliseconds: time, counter: counter, node: String(Substring(parts[2])))
  }

  public var description: String { "\(WireTime.text(milliseconds))|\(counter)|\(node)" }

  public static func < (left: HybridTimestamp, right: HybridTimestamp) -> Bool {
    if left.milliseconds != right.milliseconds { return left.milliseconds < right.milliseconds }
    if left.counter != right.counter { return left.counter < right.counter }
    return left.node.utf8.lexicographicallyPrecedes(right.node.utf8)
  }
}

/// Times as they stand in messages: RFC 3339 in UTC with three decimals and `Z`.
public enum WireTime {
  public static func text(_ milliseconds: Int64) -> String { Timestamp.text(milliseconds) }

  /// Nil unless the text is exactly of that form.
  public static func milliseconds(_ text: String) -> Int64? {
    guard text.utf8.count == 24, let time = Timestamp.milliseconds(text), Timestamp.text(time) == text else {
      return nil
    }
    return time
  }
}
