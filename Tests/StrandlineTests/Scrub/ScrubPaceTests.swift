import StrandlineTestSupport
import Testing

@testable import Strandline

struct ScrubPaceTests {
  @Test func `no limit is no pause`() {
    var pace = ScrubPace(bytesPerSecond: nil, now: 5)
    #expect(pace.pause(behind: 1 << 40, now: 6) == 0)
  }

  @Test func `reads are spread evenly`() {
    var pace = ScrubPace(bytesPerSecond: 1000, now: 0)
    #expect(pace.pause(behind: 500, now: 0) == 500_000_000)
    #expect(pace.pause(behind: 500, now: 500_000_000) == 500_000_000)
    #expect(pace.pause(behind: 500, now: 1_400_000_000) == 100_000_000)
    #expect(pace.pause(behind: 100, now: 1_700_000_000) == 0)
  }

  @Test func `whoever waits as told never reads faster than asked, however time goes`() {
    var random = SeededGenerator(seed: 51)
    for _ in 0..<200 {
      let rate = Int.random(in: 1...1 << 30, using: &random)
      var now = UInt64.random(in: 0..<1 << 62, using: &random)
      let started = now
      var pace = ScrubPace(bytesPerSecond: rate, now: now)
      var read = 0.0
      for _ in 0..<100 {
        let byteCount = Int.random(in: 0...1 << 16, using: &random)
        // Reading takes time, sometimes very long.
        now += UInt64.random(in: 0...(Bool.random(using: &random) ? 1_000_000 : 5_000_000_000), using: &random)
        now += pace.pause(behind: byteCount, now: now)
        read += Double(byteCount)
        let allowed = (Double(now - started) / 1e9 + 1e-6) * Double(rate) + 1
        #expect(read <= allowed, "rate \(rate)")
      }
    }
  }

  @Test func `hostile numbers are no trap`() {
    var pace = ScrubPace(bytesPerSecond: 1, now: .max - 5)
    for _ in 0..<4 { _ = pace.pause(behind: .max, now: .max) }
    _ = pace.pause(behind: -1, now: 0)
  }
}
