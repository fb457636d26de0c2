@_spi(Scenario) internal import StrandlineServer

/// What a server holds at the beginning of a transcript that begins in the middle of a history.
///
/// Found from the answers alone: how many numbers the history drew, the rows and tombstones of it that the answers show, and up to where
/// it was reaped. There are no grants.
struct StartState: Sendable {
  /// The counter.
  private(set) var high: Int64 = 0
  private(set) var rows: [ServerStartState.Row] = []
  private(set) var tombstones: [ServerTombstone] = []
  /// What the answers never show of the history was deleted and reaped.
  private(set) var reapHorizon: Int64 = 0

  init(_ transcript: Transcript) {
    let shown = ShownEntries(transcript)
    if let (end, closing) = Self.firstClosingPull(transcript) {
      // A move counts twice, and whether a write moves a row of the start state is known only with that state: the count rises until the
      // state agrees with it.
      var changes = ChangeCount(transcript, upTo: end, start: [])
      high = max(0, closing - changes.total)
      while true {
        changes = ChangeCount(transcript, upTo: end, start: shown.rows.filter { $0.number <= high })
        let counted = max(0, closing - changes.total)
        guard counted < high else { break }
        high = counted
      }
    }
    rows = shown.rows.filter { $0.number <= high }
    tombstones = shown.tombstones.filter { $0.number <= high }
    let shownNumbers = Set(rows.map(\.number) + tombstones.map(\.number))
    reapHorizon = high
    while reapHorizon > 0, shownNumbers.contains(reapHorizon) { reapHorizon -= 1 }
  }

  /// The place of the first answer to a pull that closes, and the high of its cursor.
  private static func firstClosingPull(_ transcript: Transcript) -> (place: Int, high: Int64)? {
    for (place, step) in transcript.steps.enumerated() {
      guard let response = step.response(to: .pull), let answer = try? PullAnswer(json: response.value),
        !answer.hasMore, answer.signal == nil, let cursor = CursorToken(answer.cursor)
      else { continue }
      return (place, cursor.high)
    }
    return nil
  }
}
