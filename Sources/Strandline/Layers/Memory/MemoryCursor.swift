internal import CStrandline

/// The versions of a memory layer that were put before the cursor was made, in order.
///
/// What it shows stays where it is as long as the layer is held. Versions that came later may be seen or not; one that was taken
/// back is passed over.
final class MemoryCursor: VersionCursor {
  static var viewsStay: Bool { true }

  // A place is a cut through each run: what lies in front of the cuts comes before all that lies behind them. So the next version is
  // the least behind the cuts and the previous one the greatest in front of them, and turning round costs nothing.
  private struct Source {
    let entries: UnsafeMutablePointer<SortedEntry>
    let count: Int
    var cut: Int
  }

  private struct State {
    /// The version behind the cuts, unless the cursor stands in front of all.
    var record: MemoryRecord?
    var isInFront = true
    /// The source of `record`.
    var winner = 0
    /// The least entry behind the other sources' cuts; nil if there is none, or it is not known.
    var rival: SortedEntry?
    var isRivalKnown = false
  }

  private let layer: MemoryLayer
  private let runs: [SortedRun]
  private let sources: UnsafeMutableBufferPointer<Source>
  private let state: UnsafeMutablePointer<State>

  init(_ layer: MemoryLayer, _ runs: [SortedRun]) {
    self.layer = layer
    self.runs = runs
    sources = .allocate(capacity: runs.count)
    for (index, run) in runs.enumerated() {
      sources.initializeElement(at: index, to: Source(entries: run.entries, count: run.count, cut: 0))
    }
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    sources.deallocate()
    state.deallocate()
  }

  @inline(__always)
  var current: VersionView? { state.pointee.record?.view }

  func seek(to key: KeyView) {
    cut(before: key)
    state.pointee.isInFront = false
    elect()
    passWithdrawn()
  }

  func seekBack(before key: KeyView?) {
    if let key {
      cut(before: key)
    } else {
      for index in sources.indices { sources[index].cut = sources[index].count }
    }
    state.pointee.isInFront = false
    retreat()
  }

  @inline(__always)
  func advance() {
    if state.pointee.isInFront {
      state.pointee.isInFront = false
      elect()
    } else if state.pointee.record != nil {
      step()
    }
    passWithdrawn()
  }

  @inline(__always)
  func advancePastKey() {
    guard let key = state.pointee.record?.key else { return advance() }
    repeat { advance() } while state.pointee.record?.holds(key) == true
  }

  func retreat() {
    if state.pointee.isInFront { return }
    state.pointee.isRivalKnown = false
    repeat {
      var latest = -1
      for index in sources.indices where sources[index].cut > 0 {
        if latest < 0 || entryInFront(latest) < entryInFront(index) { latest = index }
      }
      guard latest >= 0 else {
        state.pointee.isInFront = true
        state.pointee.record = nil
        return
      }
      sources[latest].cut &-= 1
      let source = sources[latest]
      state.pointee.winner = latest
      state.pointee.record = source.entries[source.cut].record
      if source.cut >= Self.ahead { strandline_prefetch(source.entries[source.cut &- Self.ahead].record.address) }
    } while state.pointee.record?.isWithdrawn == true
  }

  private static let ahead = 8

  @inline(__always)
  private func entryInFront(_ index: Int) -> SortedEntry { sources[index].entries[sources[index].cut &- 1] }

  private func cut(before key: KeyView) {
    let heads = key.heads
    for index in sources.indices { sources[index].cut = runs[index].count(before: key, heads) }
  }

  /// Moves the cuts behind the current version.
  @inline(__always)
  private func step() {
    let winner = state.pointee.winner
    sources[winner].cut &+= 1
    let source = sources[winner]
    guard state.pointee.isRivalKnown, source.cut < source.count else { return elect() }
    let entry = source.entries[source.cut]
    if let rival = state.pointee.rival, rival < entry { return elect() }
    state.pointee.record = entry.record
    if source.cut &+ Self.ahead < source.count {
      strandline_prefetch(source.entries[source.cut &+ Self.ahead].record.address)
    }
  }

  /// Finds the least version behind the cuts, and the least of the other sources.
  private func elect() {
    var winner = -1
    var best: SortedEntry?
    var rival: SortedEntry?
    for index in sources.indices where sources[index].cut < sources[index].count {
      let entry = sources[index].entries[sources[index].cut]
      if let least = best, !(entry < least) {
        if let second = rival, !(entry < second) { continue }
        rival = entry
      } else {
        rival = best
        best = entry
        winner = index
      }
    }
    state.pointee.record = best?.record
    state.pointee.winner = winner
    state.pointee.rival = rival
    state.pointee.isRivalKnown = true
  }

  @inline(__always)
  private func passWithdrawn() {
    while let record = state.pointee.record, record.isWithdrawn { step() }
  }
}
