/// Plants bugs in a copy of the log's sources, one at a time, and sees that a test notices each: `Tests/Mutants/run`.
struct MutantSoak: SoakKind {
  let name = "mutants"
  let summary = "bugs planted in a copy of the sources, each of which a test must notice"

  /// Bugs of one round: they are built on one another's copy, which is made once a round.
  private static let sampleCount = 12

  func run(_ order: SoakOrder) throws {
    var round: UInt64 = 0
    repeat {
      let seed = order.seed &+ round
      let words = ["Tests/Mutants/run", "--sample", "\(Self.sampleCount)", "--seed", "\(seed)"]
      let child = try ChildProcess(words, environment: ["TMPDIR": order.directory])
      var output: [UInt8] = []
      while child.read(into: &output) {}
      let end = child.wait()
      let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
      guard end == .exit(0) else {
        throw BenchmarkError.finding(
          "\(name): \(words.joined(separator: " ")) ended with \(end)\n" + lines.suffix(40).joined(separator: "\n"))
      }
      round += 1
      Output.note("\(name): seed \(seed): \(lines.last ?? "")")
    } while !order.isOver
  }
}
