internal import Glibc

/// Ranks that follow Zipf's law with exponent 0.99: rank 0 is the most frequent.
///
/// - SeeAlso: Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994.
struct Zipfian {
  private static let theta = 0.99

  private let count: Double
  private let zetaN: Double
  private let alpha = 1 / (1 - Self.theta)
  private let eta: Double
  private let second: Double

  init(count: Int) {
    self.count = Double(count)
    zetaN = (1...count).reduce(0) { $0 + pow(1 / Double($1), Self.theta) }
    second = 1 + pow(0.5, Self.theta)
    eta = (1 - pow(2 / Double(count), 1 - Self.theta)) / (1 - second / zetaN)
  }

  func rank(_ random: inout SplitMix64) -> Int {
    let uniform = Double(random.next() >> 11) * 0x1p-53
    let scaled = uniform * zetaN
    if scaled < 1 { return 0 }
    if scaled < second { return min(1, Int(count) - 1) }
    return min(Int(count) - 1, Int(count * pow(eta * uniform - eta + 1, alpha)))
  }

  /// The rank at a place of its own: frequent rows are not neighbours.
  func scrambled(_ random: inout SplitMix64) -> Int {
    Int(SplitMix64.mix(UInt64(rank(&random)) &+ 0x5851_F42D_4C95_7F2D) % UInt64(count))
  }
}
