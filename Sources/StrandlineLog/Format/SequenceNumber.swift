/// The place of a commit in the log's order: 1 for the first, one more for each commit, over all epochs.
///
/// A number that a sync has covered is never given to another commit, also not after a reset.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first commit.
  public static let zero = SequenceNumber(0)
  /// The largest number a commit can have; appending beyond it is ``LogError/limitExceeded(_:)``.
  public static let max = SequenceNumber(UInt64(Int64.max) - 1)

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { String(rawValue) }

  var next: SequenceNumber { SequenceNumber(rawValue + 1) }
}
