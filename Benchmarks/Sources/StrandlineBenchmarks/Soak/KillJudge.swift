/// Decides whether what a store holds after a kill is what it may hold. A value without I/O: acknowledgements and
/// recovered commits go in, a complaint comes out.
struct KillJudge {
  /// What a child said on its way, in order.
  enum Word: Hashable {
    /// A commit was acknowledged at a place.
    case acknowledged(SoakRecord.CommitName, sequence: UInt64, epoch: UInt64)
    /// A reset is about to be asked for; the epoch will be this one.
    case resetBegun(epoch: UInt64)
    case resetAcknowledged(epoch: UInt64, sequence: UInt64)

    /// One line of the pipe.
    var line: String {
      switch self {
      case .acknowledged(let name, let sequence, let epoch):
        "A \(name.run) \(name.writer) \(name.counter) \(sequence) \(epoch)"
      case .resetBegun(let epoch): "B \(epoch)"
      case .resetAcknowledged(let epoch, let sequence): "R \(epoch) \(sequence)"
      }
    }

    init?(line: some StringProtocol) {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { UInt64($0) }
      guard let kind = words.first, numbers.count == words.count - 1 else { return nil }
      switch (kind, numbers.count) {
      case ("A", 5):
        guard let run = UInt32(exactly: numbers[0]), let writer = UInt16(exactly: numbers[1]) else { return nil }
        self = .acknowledged(
          SoakRecord.CommitName(run: run, writer: writer, counter: numbers[2]), sequence: numbers[3], epoch: numbers[4])
      case ("B", 1): self = .resetBegun(epoch: numbers[0])
      case ("R", 2): self = .resetAcknowledged(epoch: numbers[0], sequence: numbers[1])
      default: return nil
      }
    }
  }

  /// A commit that was read back, its records checked.
  struct Found: Hashable, CustomStringConvertible {
    var name: SoakRecord.CommitName
    var sequence: UInt64

    var description: String { "\(name) at \(sequence)" }
  }

  private struct WriterName: Hashable {
    var run: UInt32
    var writer: UInt16
  }

  private var epoch: UInt64 = 0
  private var epochMax: UInt64 = 0
  private var acknowledged: [(name: SoakRecord.CommitName, sequence: UInt64, epoch: UInt64)] = []
  /// The highest acknowledged counter of each writer, whatever the epoch.
  private var counters: [WriterName: UInt64] = [:]
  private var acknowledgedReset: (epoch: UInt64, sequence: UInt64)?
  /// What the last look found, and in which epoch.
  private var before: [Found] = []
  private var beforeEpoch: UInt64 = 0

  private(set) var acknowledgedCount = 0

  mutating func hear(_ word: Word) {
    switch word {
    case .acknowledged(let name, let sequence, let epoch):
      acknowledged.append((name, sequence, epoch))
      acknowledgedCount += 1
      let writer = WriterName(run: name.run, writer: name.writer)
      counters[writer] = max(counters[writer] ?? 0, name.counter)
    case .resetBegun(let epoch):
      epochMax = max(epochMax, epoch)
    case .resetAcknowledged(let epoch, let sequence):
      self.epoch = max(self.epoch, epoch)
      acknowledgedReset = (epoch, sequence)
    }
  }

  /// What is wrong with a store in epoch `found` whose last RESET has the number `resetSequence` (0: none) and that
  /// holds `commits` behind it; nil if nothing is.
  mutating func complaint(epoch found: UInt64, resetSequence: UInt64, commits: [Found]) -> String? {
    guard found >= epoch else { return "epoch \(found) although the reset to \(epoch) was acknowledged" }
    guard found <= epochMax else { return "epoch \(found) although no reset beyond \(epochMax) was begun" }
    guard (found == 0) == (resetSequence == 0) else { return "epoch \(found) with its reset at \(resetSequence)" }
    if let acknowledgedReset, acknowledgedReset.epoch == found, acknowledgedReset.sequence != resetSequence {
      return "the reset is at \(resetSequence) and was acknowledged at \(acknowledgedReset.sequence)"
    }
    // A reset that was in flight may have happened. What was acknowledged before it is void.
    epoch = found
    if found > beforeEpoch { before = [] }
    beforeEpoch = found
    acknowledged.removeAll { $0.epoch < found }
    return order(commits, from: resetSequence + 1) ?? acknowledgements(commits) ?? inventions(commits)
      ?? continuation(commits)
  }

  /// Sequence numbers follow each other without a gap, from the first behind the reset on.
  private func order(_ commits: [Found], from first: UInt64) -> String? {
    for (place, commit) in commits.enumerated() where commit.sequence != first + UInt64(place) {
      return "commit \(commit.sequence) stands where \(first + UInt64(place)) should"
    }
    return nil
  }

  private func acknowledgements(_ commits: [Found]) -> String? {
    let first = commits.first?.sequence ?? 0
    for (name, sequence, _) in acknowledged {
      guard sequence >= first, sequence - first < UInt64(commits.count) else {
        return "\(name) was acknowledged at \(sequence) and is not there"
      }
      let found = commits[Int(sequence - first)].name
      guard found == name else { return "\(name) was acknowledged at \(sequence), where \(found) is" }
    }
    return nil
  }

  /// Each writer's commits are there in order and none was made up: at most one beyond the last acknowledged one.
  private func inventions(_ commits: [Found]) -> String? {
    var last: [WriterName: UInt64] = [:]
    for name in commits.map(\.name) {
      let writer = WriterName(run: name.run, writer: name.writer)
      if let previous = last[writer], name.counter != previous + 1 { return "\(name) follows its commit \(previous)" }
      last[writer] = name.counter
      let limit = counters[writer].map { $0 + 1 } ?? 0
      guard name.counter <= limit else { return "\(name) was never attempted" }
    }
    return nil
  }

  /// What an earlier look found is still there.
  private mutating func continuation(_ commits: [Found]) -> String? {
    guard commits.starts(with: before) else {
      let place = zip(commits, before).prefix { $0 == $1 }.count
      let now = place < commits.count ? "\(commits[place])" : "nothing"
      return "what was found before, \(before[place]), is now \(now)"
    }
    before = commits
    return nil
  }
}
