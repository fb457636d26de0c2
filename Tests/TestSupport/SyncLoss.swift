/// What becomes of a file's dirty blocks when its sync fails.
///
/// Linux may mark them clean though the medium never got them: reads show the new bytes, a later sync succeeds and writes
/// nothing, and once the page is evicted the old bytes are back.
public enum SyncLoss: Sendable, Hashable {
  /// All stay dirty; the next sync writes them.
  case none
  /// All are dropped and marked clean.
  case all
  /// Each block is dropped, was written, or stays dirty.
  case random(seed: UInt64)

  enum Outcome { case lost, written, dirty }

  var seed: UInt64? { if case .random(let seed) = self { seed } else { nil } }

  func outcome(_ generator: inout SeededGenerator) -> Outcome {
    switch self {
    case .none: return .dirty
    case .all: return .lost
    case .random: return [Outcome.lost, .written, .dirty].randomElement(using: &generator)!
    }
  }
}

/// A file system whose syncs can be made to fail the way Linux's do.
public protocol LosesDirtyBlocks {
  /// Drops dirty blocks of the open file `descriptor`, as a sync that failed would.
  func failSync(descriptor: Int32, losing loss: SyncLoss)
}
