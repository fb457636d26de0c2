import Glibc
import StrandlineTestSupport

/// How much the random query tests do, in one place. `swift test` runs a tenth of the 100,000 queries that the bar asks for:
///
///     STRANDLINE_SOAK_SEED=77 STRANDLINE_SOAK_SCALE=10 swift test -c release --filter Query
enum QueryScale {
  static let seed = getenv("STRANDLINE_SOAK_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
  static let queryCount = 10_000 * SoakScale.factor
  static let queriesPerTable = 40
  /// Tables are dealt out to this many test cases, which run side by side.
  static let shardCount = 4
}
