import Glibc
import StrandlineTestSupport

/// How many runs there are, and how long they are.
enum Simulation {
  /// Runs in `swift test`; `STRANDLINE_SOAK_SCALE=20` makes them twenty times as many, `STRANDLINE_SOAK_SEED` moves the seeds.
  static let seedCount = 1000 * SoakScale.factor
  static let stepCount = 60

  /// Rounds of a soak share no seed.
  static func seed(_ number: Int) -> UInt64 { UInt64(number) &+ SoakScale.seed &* 1_000_000 }

  /// `STRANDLINE_SEED=n`: that run alone, with its trace.
  static let chosenSeed: UInt64? = getenv("STRANDLINE_SEED").flatMap { UInt64(String(cString: $0)) }

  struct Report {
    /// Nil: every rule held.
    var failure: String?
    var trace: [String]
    var census: [String: Int]
  }

  static func run(_ seed: UInt64, fault: PlantedFault? = nil) async -> Report {
    let world = World(seed: seed, fault: fault)
    var failure: String?
    do { try await world.run(stepCount: stepCount) } catch { failure = "\(error)" }
    return Report(failure: failure, trace: world.trace, census: world.census)
  }

  static func story(_ seed: UInt64, _ report: Report) -> String {
    """
    seed \(seed): \(report.failure ?? "every rule held")
    \(report.trace.joined(separator: "\n"))
    again: STRANDLINE_SEED=\(seed) swift test -c release --filter StrandlineSimulationTests
    """
  }
}
