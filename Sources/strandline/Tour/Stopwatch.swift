/// Times a piece of work.
enum Stopwatch {
  static func time<Result>(_ body: () throws -> Result) rethrows -> (result: Result, nanoseconds: Int) {
    let started = ContinuousClock.now
    let result = try body()
    let (seconds, attoseconds) = (ContinuousClock.now - started).components
    return (result, Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
