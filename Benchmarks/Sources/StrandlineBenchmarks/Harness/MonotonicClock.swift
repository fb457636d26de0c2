internal import Glibc

/// Nanoseconds of a clock that never steps.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

func seconds(since start: UInt64) -> Double { Double(monotonicNanoseconds() &- start) / 1e9 }
