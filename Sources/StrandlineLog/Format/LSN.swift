/// A byte position in the log, counted over all segments since the store was made, headers included.
///
/// Never reused and never stored outside the log: it says where bytes lie, not what they mean.
public struct LSN: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  public static let zero = LSN(0)
  /// A log of 4 EiB is refused rather than wrapped.
  public static let max = LSN(1 << 62)

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { String(rawValue) }

  /// The position `byteCount` further on. The caller has checked both against ``max``.
  func advanced(by byteCount: Int64) -> LSN { LSN(rawValue &+ UInt64(byteCount)) }
}
