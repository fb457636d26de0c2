/// What a server takes from outside beside its storage: the time and chance. Tests give their own.
public struct ServerEnvironment: Sendable {
  /// Milliseconds since 1970, in UTC.
  public var now: @Sendable () -> Int64
  /// 64 random bits for the tags of commits.
  public var randomBits: @Sendable () -> UInt64

  public init(
    now: @escaping @Sendable () -> Int64 = { SystemClock().wallMilliseconds() },
    randomBits: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) {
    self.now = now
    self.randomBits = randomBits
  }
}
