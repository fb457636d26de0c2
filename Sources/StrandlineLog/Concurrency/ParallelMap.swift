/// Calls `body` with 0 ..< `count` on up to `threadCount` threads, the caller's among them; the results in order.
func parallelMap<Result: Sendable>(
  count: Int, threadCount: Int, _ body: @Sendable @escaping (Int) -> Result
) -> [Result] {
  guard threadCount > 1, count > 1 else { return (0..<count).map(body) }
  let work = ParallelWork(count: count, body: body)
  let helpers = (1..<min(threadCount, count)).compactMap { _ -> HelperThread? in
    let helper = HelperThread(name: "strand-verify", clock: SystemClock())
    do throws(Errno) { try helper.start() } catch { return nil }
    helper.submit { work.run() }
    return helper
  }
  work.run()
  for helper in helpers { helper.stop() }
  return work.results()
}

/// The indices left to do and the results so far.
private final class ParallelWork<Result: Sendable>: Sendable {
  private struct State {
    var next = 0
    var results: [Result?]
  }

  private let count: Int
  private let body: @Sendable (Int) -> Result
  private let state: Lock<State>

  init(count: Int, body: @Sendable @escaping (Int) -> Result) {
    self.count = count
    self.body = body
    state = Lock(State(results: Array(repeating: nil, count: count)))
  }

  func run() {
    while true {
      let index = state.withLock { state in
        defer { state.next += 1 }
        return state.next
      }
      guard index < count else { return }
      let result = body(index)
      state.withLock { $0.results[index] = result }
    }
  }

  func results() -> [Result] { state.withLock { $0.results.compactMap { $0 } } }
}
