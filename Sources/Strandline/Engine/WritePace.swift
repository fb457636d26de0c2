/// How writers are slowed while a memory layer is being written out and the next one fills, so that they need not stop when it is full.
///
/// Nobody is slowed before the layer is half full. From there on writers are held to a share of the rate at which layers are written out:
/// that rate itself at three quarters, less and less behind it. The rate is shared: many writers are slowed as one would be.
struct WritePace {
  /// At which memory layers were written out lately.
  private var bytesPerSecond = 100e6
  /// When the bytes written so far are paid for.
  private var due: UInt64 = 0

  /// No commit is held up for longer, in nanoseconds. Whatever it is, a full layer stops everybody.
  static let delayMax: UInt64 = 50_000_000

  /// Takes note of a commit; answers for how many nanoseconds to hold its writer up.
  ///
  /// - Parameter fill: of the active memory layer, 0 to 1, while another one is being written out; 0 while none is.
  mutating func delay(byteCount: Int, fill: Double, now: UInt64) -> UInt64 {
    let over = min(max((fill - 0.5) * 2, 0), 0.99)
    guard over > 0 else {
      due = now
      return 0
    }
    let seconds = Double(max(0, byteCount)) / bytesPerSecond * over / (1 - over)
    let cost = UInt64(min(seconds * 1e9, Double(Self.delayMax)))
    due = min(max(due, now) &+ cost, now &+ Self.delayMax)
    return due &- now
  }

  /// Takes note of a memory layer that was written out.
  mutating func noteWrittenOut(byteCount: UInt64, nanoseconds: UInt64) {
    let measured = Double(byteCount) / max(Double(nanoseconds) / 1e9, 1e-6)
    // A single slow disk write must not stop everybody for long, nor a quick one let everybody go.
    bytesPerSecond = min(max((bytesPerSecond + measured) / 2, 1e6), 10e9)
  }
}
