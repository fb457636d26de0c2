import StrandlineTestSupport

@testable import StrandlineLog

/// A log that was opened, and what replay handed out.
struct RecoveredLog {
  let log: Log
  let entries: [CommitModel.Entry]

  /// Opens the store `/store`, or the one at `path`.
  static func open(
    _ fileSystem: any FileSystem, at path: String = CrashWorkload.storePath, seed: UInt64,
    clock: ManualClock = ManualClock(), access: LogOptions.Access = .readWrite, alignsCommits: Bool = false,
    spaceAhead: Int = 64 << 10
  ) throws -> RecoveredLog {
    var options = LogOptions.crashTest(fileSystem, seed: seed, clock: clock)
    options.access = access
    options.alignsCommits = alignsCommits
    options.spaceAheadByteCount = spaceAhead
    var entries: [CommitModel.Entry] = []
    var isWhole = true
    let log = try Log.open(at: path, options: options) { (batch) throws(LogError) in
      for frame in batch.frames {
        if frame.isFirst {
          if !isWhole { throw .replayRefused(at: frame.sequence, reason: "the commit before it is not whole") }
          if frame.kind == .reset { entries = [] }
          if frame.kind == .gap { throw .replayRefused(at: frame.sequence, reason: "a gap that nobody made") }
          entries.append(
            CommitModel.Entry(
              sequence: frame.sequence.rawValue, epoch: frame.epoch, isReset: frame.kind == .reset))
        }
        isWhole = frame.isLast
        for record in batch.records(of: frame) { entries[entries.count - 1].add(record) }
      }
    }
    guard isWhole else { throw HalfCommit() }
    return RecoveredLog(log: log, entries: entries)
  }

  struct HalfCommit: Error {}
}

extension LogOptions {
  /// Small segments, no threads, a standing clock: the same seed makes the same calls.
  static func crashTest(_ fileSystem: any FileSystem, seed: UInt64, clock: ManualClock) -> LogOptions {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.replayThreadCount = 1
    options.segmentByteCountMax = 8 << 10
    options.spaceAheadByteCount = 64 << 10
    let bits = SeededBits(seed: seed)
    options.environment = Environment(fileSystem: fileSystem, clock: clock, randomBits: { bits.next() })
    return options
  }
}
