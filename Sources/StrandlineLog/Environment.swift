internal import Glibc

/// What the log takes from outside: the disk, the time, chance. Tests give their own and decide all three.
public struct Environment: Sendable {
  public var fileSystem: any FileSystem
  public var clock: any LogClock
  /// 64 random bits for ids, salts and incarnations. Called from several threads.
  public var randomBits: @Sendable () -> UInt64

  public init(
    fileSystem: any FileSystem = PosixFileSystem(), clock: any LogClock = SystemClock(),
    randomBits: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) {
    self.fileSystem = fileSystem
    self.clock = clock
    self.randomBits = randomBits
  }

  /// The machine's own.
  public static let system = Environment()
}

/// The two clocks the log reads. Order never depends on either.
public protocol LogClock: Sendable {
  /// Nanoseconds of a clock that never steps, for intervals.
  func monotonicNanoseconds() -> UInt64
  /// Milliseconds since 1970, for people. May step in either direction.
  func wallMilliseconds() -> Int64
}

/// `CLOCK_MONOTONIC` and `CLOCK_REALTIME`.
public struct SystemClock: LogClock {
  public init() {}

  public func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  public func wallMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
