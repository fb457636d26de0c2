public import StrandlineLog

/// A clock that stands still until a test moves it.
///
/// The monotonic half only goes forward; the wall half goes wherever the test sends it, as an operator or NTP would.
public final class ManualClock: LogClock {
  private struct Times {
    var monotonicNanoseconds: UInt64
    var wallMilliseconds: Int64
  }

  private let times: TestLock<Times>

  /// - Parameters:
  ///   - monotonicNanoseconds: First answer of the interval clock. Default 1 s.
  ///   - wallMilliseconds: First answer of the wall clock, since 1970. Default 14 November 2023, 22:13:20 UTC.
  public init(monotonicNanoseconds: UInt64 = 1_000_000_000, wallMilliseconds: Int64 = 1_700_000_000_000) {
    times = TestLock(
      Times(monotonicNanoseconds: monotonicNanoseconds, wallMilliseconds: wallMilliseconds))
  }

  public func monotonicNanoseconds() -> UInt64 { times.withLock { $0.monotonicNanoseconds } }
  public func wallMilliseconds() -> Int64 { times.withLock { $0.wallMilliseconds } }

  /// Lets `duration` pass on both clocks. Negative durations are a mistake of the test.
  public func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    precondition(seconds >= 0 && attoseconds >= 0, "time only goes forward; use jumpWall(to:) for the wall clock")
    let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    times.withLock {
      $0.monotonicNanoseconds &+= nanoseconds
      $0.wallMilliseconds &+= Int64(nanoseconds / 1_000_000)
    }
  }

  /// Sets the wall clock alone, to any value.
  public func jumpWall(to milliseconds: Int64) {
    times.withLock { $0.wallMilliseconds = milliseconds }
  }
}
