/// The sixteen bytes of a UUID, in the order in which they are printed.
public struct UUIDBytes: Hashable, Sendable, Comparable {
  /// The first eight bytes as a big-endian number.
  public var high: UInt64
  /// The last eight bytes as a big-endian number.
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new random one (version 4).
  public static func random() -> UUIDBytes {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  public static func random(using generator: inout some RandomNumberGenerator) -> UUIDBytes {
    UUIDBytes(
      high: generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
      low: generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }

  /// Order of the bytes, and of the printed form.
  public static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
