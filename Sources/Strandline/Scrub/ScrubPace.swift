/// Spreads reads over time, so that a device is asked for no more than so many bytes a second.
struct ScrubPace {
  private let bytesPerSecond: Double?
  /// When the bytes counted began to be read.
  private var since: UInt64
  private var byteCount = 0

  /// - Parameter bytesPerSecond: nil: as fast as they come.
  init(bytesPerSecond: Int?, now: UInt64) {
    self.bytesPerSecond = bytesPerSecond.map { Double(max(1, $0)) }
    since = now
  }

  /// Takes note of bytes that were read; answers for how many nanoseconds to pause behind them.
  mutating func pause(behind readByteCount: Int, now: UInt64) -> UInt64 {
    guard let bytesPerSecond else { return 0 }
    byteCount &+= max(0, readByteCount)
    let seconds = min(Double(byteCount) / bytesPerSecond, 1e9)
    let due = since &+ UInt64(seconds * 1e9)
    guard due < now else { return due - now }
    // What was not read while others were slow is not made up for at once.
    if now - due > Self.lagMax {
      since = now
      byteCount = 0
    }
    return 0
  }

  private static let lagMax: UInt64 = 1_000_000_000
}
