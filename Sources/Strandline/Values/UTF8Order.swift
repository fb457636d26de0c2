internal import Glibc

/// Order and equality of texts by their UTF-8 bytes, which is the order of their code points.
///
/// `String` itself compares canonical forms: it takes different texts for one, and is slow beyond ASCII.
enum UTF8Order {
  /// Below, at or above zero.
  @inline(__always)
  static func compare(_ left: String, _ right: String) -> Int {
    let one = left.utf8Span.span
    let other = right.utf8Span.span
    return one.withUnsafeBytes { one in other.withUnsafeBytes { KeyView.compare(one, $0) } }
  }

  @inline(__always)
  static func areEqual(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && compare(left, right) == 0
  }

  static func hash(_ text: String, into hasher: inout Hasher) {
    let units = text.utf8Span.span
    units.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension Sequence where Element == String {
  /// Whether one of them has these bytes.
  func containsExactly(_ name: String) -> Bool { contains { UTF8Order.areEqual($0, name) } }
}

/// A name as a key of dictionaries and sets, told apart by its bytes as in ``Row``. `String` takes é and e\u{301} for one.
@_spi(Engine) public struct ExactName: Hashable, Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (left: ExactName, right: ExactName) -> Bool { UTF8Order.areEqual(left.text, right.text) }
  public func hash(into hasher: inout Hasher) { UTF8Order.hash(text, into: &hasher) }
}
