/// When a client reset keeps the store as it was, and for how long.
public struct KeptCopyPolicy: Hashable, Sendable {
  public enum Moment: Hashable, Sendable {
    case never
    /// Where something may be lost: a discard with a queue that is not empty, a recovery that drops writes or became a discard, and a
    /// server that has lost history.
    case whenNeeded
    case always
  }

  public var moment: Moment
  /// Copies at most; 1 or more. Default 5.
  public var countMax: Int
  /// Age at most, in whole seconds; default 30 days. None younger than a day is removed.
  public var ageMax: Duration

  public init(_ moment: Moment = .whenNeeded, countMax: Int = 5, ageMax: Duration = .seconds(30 * 86_400)) {
    self.moment = moment
    self.countMax = countMax
    self.ageMax = ageMax
  }
}

/// What becomes of the state before one reset.
struct CopyRule: Hashable, Sendable {
  var moment: KeptCopyPolicy.Moment
  /// The after callback gets the state from it, should the process end.
  var hasAfter: Bool
  var isInMemory: Bool

  func isWanted(isNeeded: Bool) -> Bool {
    if isInMemory { return false }
    return switch moment {
    case .never: false
    case .whenNeeded: isNeeded
    case .always: true
    }
  }

  var isForAfter: Bool { hasAfter && !isInMemory }

  /// Why there is no copy, for a report.
  var absence: String {
    isInMemory ? "the store is in memory" : moment == .never ? "the policy keeps none" : "nothing was lost"
  }
}
