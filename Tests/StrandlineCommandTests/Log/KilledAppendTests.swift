import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

@testable import strandline

/// `kill -9` of `log append` at random moments, again and again on the same store.
struct KilledAppendTests {
  /// Rounds on one store; `STRANDLINE_SOAK_SCALE` multiplies the stores, since each round reads all that the ones before it wrote.
  private static let roundCount = 20

  @Test(arguments: [
    ["--batch", "1"], ["--batch", "7"], ["--batch", "500"], ["--batch", "40", "--durability", "buffered"],
  ])
  func `after kill -9 every acknowledged record is there in order and nothing else is`(options: [String]) throws {
    var (kills, acknowledgedCount, recordCount) = (0, 0, 0)
    for run in 0..<SoakScale.factor {
      let (acknowledged, records) = try killAgainAndAgain(options, seed: 42 &+ SoakScale.seed &+ UInt64(run))
      kills += Self.roundCount
      acknowledgedCount += acknowledged
      recordCount += records
    }
    print(
      "kill -9 of append \(options): \(kills) kills, \(acknowledgedCount) commits acknowledged, \(recordCount) records kept"
    )
  }

  /// One store, killed round after round: how many commits were acknowledged, and how many records it holds at the end.
  private func killAgainAndAgain(_ options: [String], seed: UInt64) throws -> (acknowledged: Int, records: Int) {
    let scratch = try ScratchDirectory()
    let store = scratch.file("store")
    var random = SeededGenerator(seed: seed)
    var model = KilledAppendModel()
    var acknowledgedCount = 0
    for round in 0..<Self.roundCount {
      // One in four kills comes while the tool starts, the others among commits, however slow the machine.
      let acknowledgementCount = round % 4 == 0 ? 0 : 1
      let delay = UInt32.random(in: 0..<(acknowledgementCount == 0 ? 40_000 : 12_000), using: &random)
      let context = "seed \(seed), round \(round), killed \(delay) µs after \(acknowledgementCount) acknowledgements"
      let acknowledged = try KilledFeeder.run(
        ["log", "append", store, "--acks"] + options, from: model.nextLine, line: KilledAppendModel.line,
        acknowledgementCount: acknowledgementCount, after: delay)
      let shown = try shownByTheTool(store, context)
      let (commits, _) = try contents(ofStore: store)
      try model.check(commits, acknowledged, context)
      acknowledgedCount += acknowledged.count
      #expect(shown.map(\.value) == commits.flatMap(\.records), "\(context)")
      #expect(
        shown.map(\.sequence)
          == commits.flatMap { commit in
            (0..<commit.recordCount).map { _ in commit.position.sequence.rawValue }
          }, "\(context)")
    }
    return (acknowledgedCount, model.nextLine)
  }

  /// What `log verify` and `log events` make of the store as the kill left it, before anything has recovered it.
  private func shownByTheTool(_ store: String, _ context: String) throws -> [(sequence: UInt64, value: [UInt8])] {
    // A kill may come before there is a directory.
    guard access(store, F_OK) == 0 else { return [] }
    let verified = try ToolRun(["log", "verify", store])
    #expect([.exited(0), .exited(1)].contains(verified.ending), "\(context): \(verified.text)\(verified.errorText)")
    let events = try ToolRun(["log", "events", store, "--jsonl"])
    #expect([.exited(0), .exited(1)].contains(events.ending), "\(context): \(events.errorText)")
    return events.output.split(separator: 0x0A).map { line in
      let sequence = Self.member(#""sequence":"#, until: UInt8(ascii: ","), of: line)
      // The lines of the model have nothing in them that JSON escapes.
      let value = Self.member(#""value":""#, until: UInt8(ascii: "\""), of: line)
      return (UInt64(String(decoding: sequence, as: UTF8.self)) ?? 0, Array(value))
    }
  }

  private static func member(_ name: String, until end: UInt8, of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let range = line.firstRange(of: Array(name.utf8)) else { return [] }
    return line[range.upperBound...].prefix { $0 != end }
  }
}

/// What a store must hold after each kill: a run of numbered lines without gaps, at least up to the last acknowledgement.
struct KilledAppendModel {
  /// Number of the line that the next round begins with.
  private(set) var nextLine = 0
  private var commitCount = 0

  static func line(_ number: Int) -> [UInt8] {
    Array("line \(number) \(String(repeating: "=", count: number % 200))".utf8)
  }

  mutating func check(_ commits: [Commit], _ acknowledged: [Acknowledgement], _ context: String) throws {
    #expect(commits.map(\.position.sequence.rawValue) == Array(1..<UInt64(commits.count) + 1), "\(context)")
    let records = commits.flatMap(\.records)
    #expect(records == (0..<records.count).map(Self.line), "\(context)")
    #expect(records.count >= nextLine, "\(context)")
    #expect(acknowledged.map(\.sequence) == (0..<acknowledged.count).map { UInt64(commitCount + $0 + 1) }, "\(context)")
    for acknowledgement in acknowledged {
      try #require(acknowledgement.sequence <= UInt64(commits.count), "\(context): lost \(acknowledgement)")
      #expect(commits[Int(acknowledgement.sequence) - 1].recordCount == acknowledgement.recordCount, "\(context)")
    }
    nextLine = records.count
    commitCount = commits.count
  }
}
