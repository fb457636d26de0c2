import StrandlineTestSupport
import Testing

@testable import Strandline

struct WritePaceTests {
  /// A pace with a rate of 100 MB/s.
  private func pace() -> WritePace { WritePace() }

  @Test func `nobody is slowed before the layer is half full`() {
    var pace = pace()
    for fill in [-1.0, 0, 0.25, 0.5] { #expect(pace.delay(byteCount: 1 << 20, fill: fill, now: 5) == 0) }
  }

  @Test func `the fuller the slower, and at three quarters as fast as layers are written out`() {
    var last: UInt64 = 0
    for fill in stride(from: 0.51, through: 1.2, by: 0.01) {
      var pace = pace()
      let delay = pace.delay(byteCount: 10_000, fill: fill, now: 0)
      #expect(delay >= last && delay <= WritePace.delayMax, "fill \(fill)")
      last = delay
    }
    var pace = pace()
    #expect(pace.delay(byteCount: 1_000_000, fill: 0.75, now: 0) == 10_000_000)
  }

  @Test(arguments: [1, 2, 16])
  func `many writers together are as slow as one`(writerCount: Int) {
    var pace = pace()
    var wakes = [UInt64](repeating: 0, count: writerCount)
    var written = 0
    var end: UInt64 = 0
    while end < 2_000_000_000 {
      // Whoever wakes first writes next.
      let writer = wakes.indices.min { wakes[$0] < wakes[$1] } ?? 0
      let now = wakes[writer]
      wakes[writer] = now + pace.delay(byteCount: 100_000, fill: 0.75, now: now)
      written += 100_000
      end = now
    }
    let rate = Double(written) / (Double(end) / 1e9)
    #expect(rate > 95e6 && rate < 110e6, "\(rate)")
  }

  @Test func `the rate follows what was measured, within reason`() {
    var pace = pace()
    for _ in 0..<40 { pace.noteWrittenOut(byteCount: 1000, nanoseconds: 1_000_000_000) }
    #expect(pace.delay(byteCount: 1000, fill: 0.75, now: 0) >= 900_000)
    for _ in 0..<40 { pace.noteWrittenOut(byteCount: .max, nanoseconds: 0) }
    #expect(pace.delay(byteCount: 1000, fill: 0.75, now: 1 << 62) < 1000)
    #expect(pace.delay(byteCount: .max, fill: .infinity, now: .max) <= WritePace.delayMax)
  }
}
