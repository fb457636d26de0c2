/// Runs a part of the package's own tests, which draw more cases when the soak variables are set.
///
/// `STRANDLINE_SOAK_SEED` and `STRANDLINE_SOAK_MINUTES` tell the tests what to draw from and for how long.
struct SuiteSoak: SoakKind {
  let name: String
  let summary: String
  /// `swift test --filter`.
  let filter: String

  static let crash = SuiteSoak(
    name: "crash", summary: "power loss at every call and in every subset of unsynced writes, in simulation",
    filter: "StrandlineLogTests.*Crash")
  static let fuzz = SuiteSoak(
    name: "fuzz", summary: "damaged, cut and swapped files, failing calls, random histories against the model",
    filter: "StrandlineLogTests.*(Damage|Fault|Fuzz|Model)")

  func run(_ order: SoakOrder) throws {
    var round: UInt64 = 0
    repeat {
      // A suite may be done before the time is up: it goes on with the next seed.
      let seed = order.seed &+ round
      let variables = [
        "STRANDLINE_SOAK_SEED": "\(seed)", "STRANDLINE_SOAK_MINUTES": "\(order.minutes)",
      ]
      let child = try ChildProcess(
        ["swift", "test", "-c", "release", "-Xswiftc", "-enable-testing", "--filter", filter], environment: variables)
      var output: [UInt8] = []
      while child.read(into: &output) {}
      let end = child.wait()
      guard end == .exit(0) else {
        let tail = String(decoding: output, as: UTF8.self).split(separator: "\n").suffix(40)
        throw BenchmarkError.finding(
          "\(name): seed \(seed) ended with \(end); see it again with STRANDLINE_SOAK_SEED=\(seed) swift test --filter "
            + "'\(filter)'\n" + tail.joined(separator: "\n"))
      }
      round += 1
      Output.note("\(name): seed \(seed) passed")
    } while !order.isOver
  }
}
