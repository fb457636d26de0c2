/// The identity of a store: 16 random bytes drawn when it is made, kept by its copies.
public struct StoreIdentifier: Hashable, Sendable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// In the form of a UUID: 8-4-4-4-12 lower-case hex digits.
  public var description: String {
    let digits = Array(hexadecimal(high) + hexadecimal(low))
    let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
    return groups.map { String($0) }.joined(separator: "-")
  }
}

/// Sixteen lower-case hex digits, as file names and messages show 64-bit ids and tags.
@_spi(Engine) public func hexadecimal(_ value: UInt64) -> String {
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
