import Glibc
import StrandlineTestSupport

/// How much the crash tests do, in one place. `swift test` runs a small deterministic share; a soak run turns it up:
///
///     STRANDLINE_SOAK_SEED=77 STRANDLINE_SOAK_SCALE=20 swift test -c release --filter Crash
///
/// The seed moves all random choices; the scale multiplies the number of workloads and of sampled states.
enum CrashScale {
  static let seed = getenv("STRANDLINE_SOAK_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
  static let scale = SoakScale.factor

  /// Operations of the long workload.
  static let operationCount = 220
  /// Seeds of the long workloads that are crashed at every call.
  static let workloadSeeds = (0..<scale).map { seed &* 1_000 &+ UInt64($0) }
  /// Seeds of the workloads whose states are sampled.
  static let sampleSeeds = [seed &* 1_000 &+ 500, seed &* 1_000 &+ 501]
  /// States are dealt out to this many test cases, which run side by side.
  static let shardCount = 4

  // Each of a test case.
  static let subsetStateCount = 6_000 * scale
  static let tornStateCount = 4_000 * scale
  static let halfWrittenStateCount = 1_000 * scale
  /// How many processes in a row die while they recover.
  static let recoveryDepths = scale > 1 ? [1, 2, 3] : [1, 2]
  static let recoveryStateCount = 3_000 * scale
  static let failingCallRunCount = 800 * scale
  /// Ways to fail each sync of a workload.
  static let failingSyncWayCount = 3 + scale
  static let orderRecoveryCount = 300 * scale
}
