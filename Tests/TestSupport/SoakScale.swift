internal import Glibc

/// How much of a heavy test runs. `swift test` runs a share that takes seconds; `STRANDLINE_SOAK_SCALE=20` runs twenty times that,
/// where there is so much to run.
public enum SoakScale {
  public static let factor: Int = {
    guard let text = getenv("STRANDLINE_SOAK_SCALE") else { return 1 }
    return max(1, Int(String(cString: text)) ?? 1)
  }()

  /// Moves every random choice of a heavy test: `STRANDLINE_SOAK_SEED`, 0 if that is not set.
  public static let seed: UInt64 = getenv("STRANDLINE_SOAK_SEED").flatMap { UInt64(String(cString: $0)) } ?? 0

  /// Every `n`-th of a sequence of cases, `n` such that about `count` of `total` run, times the factor; at least every one.
  public static func stride(of total: Int, running count: Int) -> Int { max(1, total / max(1, count * factor)) }
}
