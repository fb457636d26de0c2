/// Decides whether an attempt may begin: the guard table of Docs/ClientReset.md.
enum ResetGuard {
  enum Verdict: Hashable, Sendable {
    case go(ResetRecord.Running, Counts)
    /// Not before the store is opened again.
    case later
    case refuse(afterCrashes: Bool)
  }

  struct Counts: Hashable, Sendable {
    var crashes = 0
    var repeats = 0
    var switches = 0
    /// What the attempt before has downloaded may be used again.
    var keepsStaging = false
  }

  static let crashedTwice = "the reset was tried and crashed twice"
  static let didNotHelp = "the reset was tried before and did not help"

  /// Switches in a row without an acknowledgement that are let through.
  static let switchCountMax = 5

  /// - Parameters:
  ///   - mode: not manual.
  ///   - isSameOpen: the record was written since the store was opened.
  static func judge(
    _ record: ResetRecord?, mode: ClientResetMode.Name, demand: ClientResetDemand, digest: String, isSameOpen: Bool
  ) -> Verdict {
    let wish: ResetRecord.Running = mode == .discard ? .discard : .recover
    guard let record else { return .go(wish, Counts()) }
    if record.phase == .switched { return judgeSwitched(record, wish, demand) }
    guard record.demand.asksForTheSame(as: demand), record.digest == digest else {
      return .go(wish, Counts(switches: record.switchCount))
    }
    var counts = Counts(repeats: record.repeatCount, switches: record.switchCount)
    switch record.phase {
    case .fresh:
      counts.keepsStaging = true
      return .go(wish, counts)
    case .ready, .marker:
      counts.keepsStaging = true
      guard record.isRunning else { return .go(wish, counts) }
      if record.crashCount == 0 {
        counts.crashes = 1
        return .go(mode == .recoverOrDiscard ? record.running : wish, counts)
      }
      return judgeCounted(record.running, mode, counts, afterCrashes: true)
    case .failed:
      guard let failure = record.failure else { return .go(wish, counts) }
      if failure.isCounted { return judgeCounted(failure.running, mode, counts, afterCrashes: false) }
      return isSameOpen ? .later : .go(wish, counts)
    case .action: return .go(wish, counts)
    case .switched: return judgeSwitched(record, wish, demand)
    }
  }

  private static func judgeSwitched(
    _ record: ResetRecord, _ wish: ResetRecord.Running, _ demand: ClientResetDemand
  ) -> Verdict {
    if record.switchCount >= switchCountMax { return .refuse(afterCrashes: false) }
    var counts = Counts(switches: record.switchCount)
    if record.demand.asksForTheSame(as: demand) {
      if record.repeatCount > 0 { return .refuse(afterCrashes: false) }
      counts.repeats = 1
    }
    return .go(wish, counts)
  }

  /// A failure that counts, in the mode that was running.
  private static func judgeCounted(
    _ failed: ResetRecord.Running, _ mode: ClientResetMode.Name, _ counts: Counts, afterCrashes: Bool
  ) -> Verdict {
    switch (failed, mode) {
    case (.recover, .discard), (.recover, .recoverOrDiscard): .go(.discard, counts)
    default: .refuse(afterCrashes: afterCrashes)
    }
  }
}
