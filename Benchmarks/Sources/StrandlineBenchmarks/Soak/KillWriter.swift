internal import Glibc
internal import StrandlineLog

/// The child of the kill soak: opens the store, writes until it is killed, and says on standard output what was
/// acknowledged.
enum KillWriter {
  static let command = Command(
    name: "soak-writer", arguments: "STORE --seed S --run R", summary: "The child of 'soak --kind kill'.",
    isHidden: true
  ) { words in
    let arguments = try Arguments(words, options: ["seed", "run"], flags: [])
    guard arguments.words.count == 1, let seed = arguments["seed"].flatMap({ UInt64($0) }),
      let run = arguments["run"].flatMap({ UInt32($0) })
    else { throw BenchmarkError.usage("soak-writer takes a store, --seed and --run") }
    try write(to: arguments.words[0], seed: seed, run: run)
    return 0
  }

  private static func write(to path: String, seed: UInt64, run: UInt32) throws {
    var random = SplitMix64(state: SplitMix64.mix(seed ^ UInt64(run) << 20))
    var options = LogOptions()
    options.segmentByteCountMax = [4 << 10, 64 << 10, 1 << 20, 64 << 20].randomElement(using: &random)!
    options.spaceAheadByteCount = 64 << 10
    options.bufferedSyncInterval = .milliseconds(Int.random(in: 1...100, using: &random))
    options.idleMarkInterval = .milliseconds(10)
    options.alignsCommits = Bool.random(using: &random)
    let writers = Int.random(in: 1...8, using: &random)
    let seeds = (0..<writers).map { _ in random.next() }
    let log = try Log.open(at: path, options: options)
    _ = try runThreads(writers) { writer in
      var random = SplitMix64(state: seeds[writer])
      var counter: UInt64 = 0
      while true {
        if writer == 0, Int.random(in: 0..<200, using: &random) == 0 {
          say(.resetBegun(epoch: log.status.epoch + 1))
          let report = try log.reset()
          say(.resetAcknowledged(epoch: report.epoch, sequence: report.position.sequence.rawValue))
        }
        let name = SoakRecord.CommitName(run: run, writer: UInt16(writer), counter: counter)
        let count = UInt16.random(in: 1...12, using: &random)
        let records = (0..<count).map { SoakRecord(commit: name, index: $0, count: count).bytes(seed: seed) }
        let position = try log.append(records, durability: Bool.random(using: &random) ? .synced : .buffered)
        say(.acknowledged(name, sequence: position.sequence.rawValue, epoch: position.epoch))
        counter += 1
      }
    }
  }

  /// One write of one line: lines of several threads do not mix. A parent that is gone ends this process by SIGPIPE.
  private static func say(_ word: KillJudge.Word) { Output.line(word.line) }
}
