/// One cell of a row.
///
/// `decimal` is kept as text so that no digit is lost; `timestamp` counts milliseconds since 1970 in UTC.
public enum Value: Hashable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Decimal digits with an optional sign and fraction, as written.
  case decimal(String)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case uuid(UUIDBytes)
  case timestamp(Int64)
  case array([Value])
  case object([String: Value])
}

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

  /// Order of the bytes, and of the printed form.
  public static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
