/// Runs a part of the package's own tests, which draw more cases when the soak variables are set.
///
/// `STRANDLINE_SOAK_SEED` tells the tests what to draw from, `STRANDLINE_SOAK_SCALE` how much of it: a round is ten times what the tests
/// do by themselves, and rounds go on, each with the next seed, until the time is up.
struct SuiteSoak: SoakKind {
  let name: String
  let summary: String
  /// `swift test --filter`.
  let filter: String
  private static let scale = 10

  static let crash = SuiteSoak(
    name: "crash", summary: "power loss at every call and in every subset of unsynced writes, in simulation",
    filter: "StrandlineLogTests.(Crash|UnsyncedWrites|TornWrites)")
  static let fuzz = SuiteSoak(
    name: "fuzz", summary: "damaged, cut, swapped and forged files, failing calls",
    filter: "StrandlineLogTests.(Every|WholeFile|Forged|DecoderMutation|ParallelReplay|Failing)")

  static let sync = SuiteSoak(
    name: "sync", summary: "devices, a server and a bad network in simulation, 10,000 seeds a round",
    filter: "StrandlineSimulationTests")

  func run(_ order: SoakOrder) throws {
    var round: UInt64 = 0
    repeat {
      let seed = order.seed &+ round
      let variables = ["STRANDLINE_SOAK_SEED": "\(seed)", "STRANDLINE_SOAK_SCALE": "\(Self.scale)"]
      let child = try ChildProcess(
        ["swift", "test", "-c", "release", "-Xswiftc", "-enable-testing", "--filter", filter], environment: variables)
      var output: [UInt8] = []
      while child.read(into: &output) {}
      let end = child.wait()
      guard end == .exit(0) else {
        let tail = String(decoding: output, as: UTF8.self).split(separator: "\n").suffix(40)
        throw BenchmarkError.finding(
          "\(name): seed \(seed) ended with \(end); see it again with STRANDLINE_SOAK_SEED=\(seed) "
            + "STRANDLINE_SOAK_SCALE=\(Self.scale) swift test -c release --filter '\(filter)'\n"
            + tail.joined(separator: "\n"))
      }
      round += 1
      Output.note("\(name): seed \(seed) passed")
    } while !order.isOver
  }
}
