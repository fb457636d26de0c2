internal import Glibc

/// Runs `body` on `count` threads at once, with the numbers 0 ..< count, and returns when all have ended.
public func withThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Start {
    let index: Int
    let body: @Sendable (Int) -> Void
    init(index: Int, body: @escaping @Sendable (Int) -> Void) {
      self.index = index
      self.body = body
    }
  }
  var threads: [pthread_t] = []
  for index in 0..<count {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Start(index: index, body: body)).toOpaque()
    let failure = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.body(start.index)
        return nil
      }, argument)
    precondition(failure == 0, "no thread: errno \(failure)")
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
}
