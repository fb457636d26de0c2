internal import Glibc
internal import StrandlineLog

/// Kills a writing process again and again, on the real file system, and checks what it left behind.
///
/// The child says through a pipe what was acknowledged. After each kill the store is opened, by turns for reading only
/// and for writing, and ``KillJudge`` is asked. A kill keeps the page cache: this is a crashed process, not a power
/// cut.
struct KillSoak: SoakKind {
  let name = "kill"
  let summary = "kill -9 of a process with 1 to 8 writers and resets, at random moments, one in ten in its first open"

  func run(_ order: SoakOrder) throws {
    var random = SplitMix64(state: order.seed)
    var session = Session(seed: order.seed, store: "\(order.directory)/store")
    var nextNote = monotonicNanoseconds()
    while !order.isOver {
      try session.killOnce(&random)
      if monotonicNanoseconds() >= nextNote {
        Output.progress(session.text)
        nextNote = monotonicNanoseconds() + 1_000_000_000
      }
    }
    Output.endProgress()
    Output.line("kill: \(session.text), no finding")
  }

  private struct Session {
    let seed: UInt64
    let store: String
    var judge = KillJudge()
    var kills = 0
    var looks = 0
    var acknowledged = 0

    var text: String {
      "\(kills) kills, \(acknowledged + judge.acknowledgedCount) acknowledged commits, \(looks) looks"
    }

    init(seed: UInt64, store: String) {
      self.seed = seed
      self.store = store
    }

    mutating func killOnce(_ random: inout SplitMix64) throws {
      let isNew = Int.random(in: 0..<10, using: &random) == 0 || (try? byteCount(under: store)) ?? 0 > 64 << 20
      if isNew {
        try removeTree(store)
        acknowledged += judge.acknowledgedCount
        judge = KillJudge()
      }
      let milliseconds = Int32.random(in: 0...(isNew ? 20 : 200), using: &random)
      try runChild(forMilliseconds: milliseconds)
      // Sometimes the next child is the first to see what a kill left.
      guard Int.random(in: 0..<4, using: &random) > 0 else { return }
      try look(access: Bool.random(using: &random) ? .readOnly : .readWrite)
    }

    private mutating func runChild(forMilliseconds milliseconds: Int32) throws {
      kills += 1
      let child = try ChildProcess([
        ChildProcess.ownPath, "soak-writer", store, "--seed", "\(seed)", "--run", "\(kills)",
      ])
      let end = monotonicNanoseconds() + UInt64(milliseconds) * 1_000_000
      var bytes: [UInt8] = []
      var isRunning = true
      while isRunning, monotonicNanoseconds() < end {
        isRunning = child.read(into: &bytes, milliseconds: max(1, milliseconds / 10))
      }
      child.kill()
      while child.read(into: &bytes) {}
      let outcome = child.wait()
      guard outcome == .signal(SIGKILL) else {
        throw finding("the child ended by itself with \(outcome)")
      }
      // The last line may be cut; what it would have said was not heard.
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      for line in lines.dropLast() {
        guard let word = KillJudge.Word(line: line) else {
          throw BenchmarkError.failed("kill: the child said '\(line)'")
        }
        judge.hear(word)
      }
    }

    /// Opens the store, checks every record, and asks the judge.
    private mutating func look(access: LogOptions.Access) throws {
      looks += 1
      var options = LogOptions()
      options.access = access
      options.createsIfMissing = false
      let collector = Collector(seed: seed)
      let log: Log
      do throws(LogError) {
        log = try Log.open(at: store, options: options) { batch in collector.take(batch) }
      } catch {
        // A child that was killed while it made the store left none, and acknowledged nothing.
        if case .noStore = error, judge.acknowledgedCount == 0 { return }
        throw finding("\(access) open failed: \(error)")
      }
      let status = log.status
      try log.close()
      let complaint =
        collector.complaint
        ?? judge.complaint(
          epoch: status.epoch, resetSequence: status.resetSequence.rawValue, commits: collector.commits)
      if let complaint { throw finding(complaint) }
    }

    private func finding(_ text: String) -> BenchmarkError {
      .finding("kill: after run \(kills) of seed \(seed): \(text); store: \(store)")
    }
  }

  /// Gathers the live commits of a replay.
  private final class Collector {
    private let seed: UInt64
    private(set) var commits: [KillJudge.Found] = []
    private(set) var complaint: String?
    private var name: SoakRecord.CommitName?
    private var recordsSeen = 0

    init(seed: UInt64) { self.seed = seed }

    func take(_ batch: borrowing ReplayBatch) {
      for frame in batch.frames {
        if frame.kind == .reset {
          commits = []
          continue
        }
        if frame.isFirst { recordsSeen = 0 }
        var count = 0
        for bytes in batch.records(of: frame) {
          guard let record = SoakRecord(bytes, seed: seed) else {
            return complain("commit \(frame.sequence) holds a record that nobody wrote")
          }
          if recordsSeen == 0 { name = record.commit }
          guard record.commit == name, Int(record.index) == recordsSeen else {
            return complain("commit \(frame.sequence) mixes \(record.commit) with another")
          }
          recordsSeen += 1
          count = Int(record.count)
        }
        guard frame.isLast else { continue }
        guard recordsSeen == count else {
          return complain("commit \(frame.sequence) has \(recordsSeen) of \(count) records")
        }
        if let name { commits.append(KillJudge.Found(name: name, sequence: frame.sequence.rawValue)) }
      }
    }

    private func complain(_ text: String) {
      if complaint == nil { complaint = text }
    }
  }
}
