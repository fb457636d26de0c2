import Glibc

/// How much the crash tests do, in one place. `swift test` runs a small deterministic share; a soak run turns it up:
///
///     STRANDLINE_SOAK_SEED=77 STRANDLINE_SOAK_SCALE=20 swift test -c release --filter Crash
///
/// The seed moves all random choices; the scale multiplies the number of workloads and of sampled states.
enum CrashScale {
  static let seed = number("STRANDLINE_SOAK_SEED") ?? 1
  static let scale = Int(number("STRANDLINE_SOAK_SCALE") ?? 1)

  /// Operations of the long workload.
  static let operationCount = 220
  /// Seeds of the long workloads that are crashed at every call.
  static var workloadSeeds: [UInt64] { (0..<scale).map { seed &* 1_000 &+ UInt64($0) } }
  /// Crash points are dealt out to this many test cases, which run side by side.
  static let shardCount = 4
  /// States checked per suite.
  static let subsetStateCount = 12_000 * scale
  static let tornStateCount = 12_000 * scale
  static let recoveryStateCount = 6_000 * scale
  static let failingCallRunCount = 5_000 * scale
  static let failingSyncRunCount = 600 * scale

  private static func number(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }
}
