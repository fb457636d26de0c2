/// How long a scheduler's timer waits: the interval, doubled with each failure up to a bound, and spread so that many clients do not
/// come at once.
enum RunDelay {
  static let delayMax = Duration.seconds(30)

  /// - Parameter jitter: 0 … 1; what is outside counts as the nearer end.
  static func delay(interval: Duration, failureCount: Int, jitter: Double) -> Duration {
    var delay = interval
    for _ in 0..<failureCount where delay < delayMax { delay *= 2 }
    // Bounded, but an interval that is longer than the bound stays what it is.
    delay = max(interval, min(delay, delayMax))
    let share = jitter.isNaN ? 1 : min(max(jitter, 0), 1)
    return delay / 2 + delay / 2 * share
  }
}
