import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Replay on one, two and three threads of damaged logs: the same state, or the same first error.
struct ParallelReplayTests {
  private static let caseCount = 60 * SoakScale.factor
  /// Large enough that replay takes threads, several units in each segment.
  private static let byteCount = 6 << 20

  /// Everything a replay hands over, and how it ended.
  private struct Outcome: Equatable {
    var hash: StateHash
    var commitCount: Int
    var error: LogError?
    var damage: CorruptionReport?
  }

  @Test(arguments: [LogOptions.Access.readOnly, .readWrite])
  func `threads change neither the state nor the first error`(access: LogOptions.Access) throws {
    let image = try Self.makeStore()
    var generator = SeededGenerator(seed: access == .readOnly ? 23 : 24)
    let files = image.files(below: SampleStore.path).filter { $0.hasSuffix(".log") }
    var refused = 0
    for number in 0..<Self.caseCount {
      var damaged = image
      // One place or several: the first by position must win, not the first to be met.
      for _ in 0..<(number == 0 ? 0 : Int.random(in: 1...3, using: &generator)) {
        let file = try #require(files.randomElement(using: &generator))
        let count = damaged.bytes(of: file)?.count ?? 1
        damaged.flip(
          file, byte: Int.random(in: 0..<count, using: &generator), bit: Int.random(in: 0..<8, using: &generator))
      }
      let outcomes = (1...3).map { Self.replay(damaged, access, threadCount: $0) }
      try #require(outcomes[0] == outcomes[1] && outcomes[1] == outcomes[2], "case \(number): \(outcomes)")
      if outcomes[0].error != nil || outcomes[0].damage != nil { refused += 1 }
    }
    print(
      "parallel replay: \(access): \(Self.caseCount) damaged logs of \(Self.byteCount >> 20) MiB, \(refused) refused")
    #expect(refused > 0)
  }

  private static func makeStore() throws -> DiskImage {
    let disk = SimulatedDisk(DiskImage(atomByteCount: 4096))
    var options = SampleStore.options(disk, seed: 40)
    options.segmentByteCountMax = 2 << 20
    let log = try Log.open(at: SampleStore.path, options: options)
    var generator = SeededGenerator(seed: 41)
    var written = 0
    while written < byteCount {
      let records = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
        generator.bytes(Int.random(in: 0...900, using: &generator))
      }
      written += records.reduce(0) { $0 + $1.count }
      try log.append(records, durability: .buffered)
    }
    try log.append([SampleStore.text(1)])
    return disk.image
  }

  private static func replay(_ image: DiskImage, _ access: LogOptions.Access, threadCount: Int) -> Outcome {
    var options = SampleStore.options(SimulatedDisk(image), seed: 42)
    options.access = access
    options.replayThreadCount = threadCount
    var hash = StateHash()
    var commitCount = 0
    do throws(LogError) {
      let log = try Log.open(at: SampleStore.path, options: options) { batch in
        for frame in batch.frames {
          if frame.isLast { commitCount += 1 }
          for record in batch.records(of: frame) {
            hash.add(epoch: frame.epoch, sequence: frame.sequence.rawValue, record: record)
          }
        }
      }
      return Outcome(hash: hash, commitCount: commitCount, error: nil, damage: log.openReport.damage)
    } catch {
      return Outcome(hash: hash, commitCount: commitCount, error: error, damage: nil)
    }
  }
}
