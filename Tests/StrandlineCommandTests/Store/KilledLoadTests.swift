import StrandlineTestSupport
import Testing

@testable import strandline

/// `kill -9` of `load` at random moments, again and again on the same store, with compaction at work inside it, and compactions and
/// resets in between.
struct KilledLoadTests {
  struct Mode: Sendable, CustomTestStringConvertible {
    var options: [String]
    /// Layers are written out and merged while rows come in.
    var compacts = false

    var testDescription: String { options.joined(separator: " ") }
  }

  /// Rounds in the suite; `STRANDLINE_SOAK_SCALE` multiplies them.
  private static let roundCount = 10 * SoakScale.factor

  @Test(arguments: [
    Mode(options: ["--batch", "1"]),
    Mode(options: ["--batch", "40", "--durability", "buffered"]),
    // A memory layer that a few hundred rows fill.
    Mode(options: ["--batch", "100", "--memory", "64KiB"], compacts: true),
    Mode(options: ["--batch", "50", "--memory", "64KiB", "--history", "none"], compacts: true),
  ])
  func `after kill -9 every acknowledged row is there once, in order, and no row of before a reset`(mode: Mode) throws {
    let store = try TableStore()
    var random = SeededGenerator(seed: 42 &+ SoakScale.seed)
    var figures = Figures()
    var first = 0
    var next = 0
    for round in 0..<Self.roundCount {
      let delay = UInt32.random(in: 0..<60_000, using: &random)
      // Half of the kills come while the store is opened, the others while rows come in.
      let acknowledgementCount = round % 2 == 0 ? 0 : Int.random(in: 1...20, using: &random)
      let context = "round \(round), killed \(delay) µs after \(acknowledgementCount) acknowledgements"
      let acknowledged = try KilledFeeder.run(
        ["load", store.path, "--table", "t", "--key", "id:int", "--index", "n", "--acks"] + mode.options, from: next,
        line: { Array(#"{"id":\#($0),"n":\#($0 % 7),"text":"\#(String(repeating: "=", count: $0 % 200))"}"#.utf8) },
        acknowledgementCount: acknowledgementCount, after: delay)
      figures.note(acknowledged, DirectoryTree.fileSizes(in: store.path).map(\.name))
      let found = try Self.rows(in: store, context)
      #expect(found == Array(first..<first + found.count), "\(context)")
      let rowCount = acknowledged.reduce(next - first) { $0 + $1.recordCount }
      #expect(found.count >= rowCount, "\(context): \(rowCount) rows were acknowledged, \(found.count) are there")
      next = first + found.count
      // The index has an entry for each row.
      let bySeven = found.filter { $0 % 7 == 3 }.count
      if !found.isEmpty {
        #expect(
          store.run("query", "%", "--table", "t", "--where", "n=3", "--count").out == "\(bySeven)\n", "\(context)")
      }
      guard !found.isEmpty else { continue }
      if round % 3 == 1, !mode.compacts { #expect(store.run("compact", "%").code == .success, "\(context)") }
      if round % 5 == 4 {
        #expect(store.run("reset", "%", "--yes").code == .success, "\(context)")
        figures.resetCount += 1
        first = next
      }
    }
    if mode.compacts { #expect(figures.layeredRoundCount > 0, "no layer was ever written") }
    if SoakScale.factor > 1 { print("kill -9 of load \(mode.testDescription): \(figures)") }
  }

  /// What the kills met.
  private struct Figures {
    var roundCount = 0
    var rowCount = 0
    var resetCount = 0
    /// Rounds after which there were layers.
    var layeredRoundCount = 0
    /// Kills in the middle of writing a layer.
    var unfinishedLayerCount = 0

    mutating func note(_ acknowledged: [Acknowledgement], _ files: [String]) {
      roundCount += 1
      rowCount += acknowledged.reduce(0) { $0 + $1.recordCount }
      if files.contains(where: { $0.hasSuffix(".lyr") }) { layeredRoundCount += 1 }
      if files.contains(where: { $0.hasPrefix("layer-") && $0.hasSuffix(".tmp") }) { unfinishedLayerCount += 1 }
    }
  }

  /// Read as the kill left it, before anything has recovered it.
  private static func rows(in store: TableStore, _ context: String) throws -> [Int] {
    let run = store.run("query", "%", "--table", "t", "--select", "id", "--csv")
    // A kill may come before there is a store or a table.
    guard run.code == .success else {
      #expect(run.err.contains("no store here") || run.err.contains("there is no table t"), "\(context): \(run.err)")
      return []
    }
    return run.lines.dropFirst().compactMap { Int($0) }
  }
}
