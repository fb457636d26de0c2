/// Where a consumer stands: the commit it has seen last.
///
/// The tag is that of the commit's last frame. Equal tags prove an equal history up to the commit, so a position can tell a
/// log that was put back to an older copy and has moved on since from the one it was taken of.
public struct Position: Hashable, Sendable {
  /// Resets in front of the commit, the commit included if it is one.
  public var epoch: UInt64
  /// Of the commit.
  public var sequence: SequenceNumber
  /// Head tag of the commit's last frame.
  public var tag: UInt64

  public init(epoch: UInt64, sequence: SequenceNumber, tag: UInt64) {
    self.epoch = epoch
    self.sequence = sequence
    self.tag = tag
  }

  /// In front of the first commit.
  public static let start = Position(epoch: 0, sequence: .zero, tag: 0)
}
