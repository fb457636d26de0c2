/// What compaction in the background has met, since the store was opened.
struct CompactionTrouble {
  /// Layers with damage that a merge has met: the others are merged around them.
  private(set) var damagedLayers: Set<UInt64> = []
  private var failedRoundCount = 0

  private static let pauseDoublingsMax = 6

  /// - Returns: false if it was known.
  mutating func noteDamage(of layer: UInt64) -> Bool { damagedLayers.insert(layer).inserted }

  mutating func noteRound(failed: Bool) { failedRoundCount = failed ? failedRoundCount + 1 : 0 }

  /// How long to wait for the next round: a second, and after each round that fails twice as long, up to about a minute. Writers may wait
  /// for a memory layer that has to be written out, so that is tried every second.
  func pause(writersWait: Bool) -> UInt64 {
    let doublings = writersWait ? 0 : min(max(0, failedRoundCount - 1), Self.pauseDoublingsMax)
    return 1_000_000_000 << UInt64(doublings)
  }
}
