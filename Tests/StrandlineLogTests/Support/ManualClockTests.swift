import StrandlineTestSupport
import Testing

struct ManualClockTests {
  @Test func `a manual clock stands still until it is moved`() {
    let clock = ManualClock(monotonicNanoseconds: 5, wallMilliseconds: 7)
    #expect(clock.monotonicNanoseconds() == 5)
    #expect(clock.monotonicNanoseconds() == 5)
    clock.advance(by: .milliseconds(3))
    #expect(clock.monotonicNanoseconds() == 3_000_005)
    #expect(clock.wallMilliseconds() == 10)
  }

  @Test func `a jump of the wall clock leaves the interval clock alone`() {
    let clock = ManualClock(monotonicNanoseconds: 5)
    clock.jumpWall(to: -1)
    #expect(clock.wallMilliseconds() == -1)
    #expect(clock.monotonicNanoseconds() == 5)
  }
}
