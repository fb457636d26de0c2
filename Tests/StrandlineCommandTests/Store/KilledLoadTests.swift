import Strandline
import StrandlineTestSupport
import Testing

@testable import strandline

/// `kill -9` of `load` at random moments, again and again on the same store, with compactions and resets in between.
struct KilledLoadTests {
  /// Rounds in the suite; `STRANDLINE_SOAK_SCALE` multiplies them.
  private static let roundCount = 12 * (Console.environmentValue("STRANDLINE_SOAK_SCALE").flatMap { Int($0) } ?? 1)

  @Test(arguments: [["--batch", "1"], ["--batch", "100"], ["--batch", "40", "--durability", "buffered"]])
  func `after kill -9 every acknowledged row is there once, in order, and no row of before a reset`(options: [String])
    throws
  {
    let store = try TableStore()
    var random = SeededGenerator(seed: 42)
    var first = 0
    var next = 0
    for round in 0..<Self.roundCount {
      let start = round % 4 == 0 ? KilledFeeder.Start.launch : .firstAcknowledgement
      let delay = UInt32.random(in: 0..<(start == .launch ? 60_000 : 25_000), using: &random)
      let context = "round \(round), killed \(delay) µs after \(start)"
      let acknowledged = try KilledFeeder.run(
        ["load", store.path, "--table", "t", "--key", "id:int", "--index", "n", "--acks"] + options, from: next,
        line: { Array(#"{"id":\#($0),"n":\#($0 % 7),"text":"\#(String(repeating: "=", count: $0 % 200))"}"#.utf8) },
        after: delay, of: start)
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
      if round % 3 == 1 { #expect(store.run("compact", "%").code == .success, "\(context)") }
      if round % 5 == 4 {
        #expect(store.run("reset", "%", "--yes").code == .success, "\(context)")
        first = next
      }
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
