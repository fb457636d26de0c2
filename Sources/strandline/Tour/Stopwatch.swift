/// Times a piece of work.
enum Stopwatch {
  static func time<Result>(_ body: () throws -> Result) rethrows -> (result: Result, nanoseconds: Int) {
    let started = ContinuousClock.now
    let result = try body()
    return (result, (ContinuousClock.now - started).wholeNanoseconds)
  }
}

extension Duration {
  /// Rounded down.
  var wholeNanoseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
