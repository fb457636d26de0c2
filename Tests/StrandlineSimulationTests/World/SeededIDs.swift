import StrandlineSync
import StrandlineTestSupport

/// UUIDs that a seed decides.
final class SeededIDs: IDSource {
  private let bits: SeededBits

  init(seed: UInt64) { bits = SeededBits(seed: seed) }

  func uuid() -> String {
    func digits(_ count: Int) -> String {
      let text = String(bits.next() >> UInt64(64 - 4 * count), radix: 16)
      return String(repeating: "0", count: count - text.utf8.count) + text
    }
    return "\(digits(8))-\(digits(4))-\(digits(4))-\(digits(4))-\(digits(12))"
  }
}

/// The wall clock of a device, for its client.
struct DeviceClock: SyncClock {
  let clock: ManualClock
  func milliseconds() -> Int64 { clock.wallMilliseconds() }
}
