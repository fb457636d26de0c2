import Glibc

@testable import strandline

/// Feeds lines to the tool and kills it with SIGKILL at some moment.
enum KilledFeeder {
  /// Feeds numbered lines until the kill; what was acknowledged by then.
  ///
  /// - Parameters:
  ///   - acknowledgementCount: the time begins to run once so many have come; zero: from the start.
  ///   - delay: µs from then to the kill; 5 ms are added where it counts from the start.
  static func run(
    _ arguments: [String], from first: Int, line: (Int) -> [UInt8], acknowledgementCount: Int = 0, after delay: UInt32
  ) throws -> [Acknowledgement] {
    signal(SIGPIPE, SIG_IGN)
    var child = try ChildProcess(ToolRun.path, arguments, input: .pipe, output: .pipe)
    _ = fcntl(child.input, F_SETFL, O_NONBLOCK)
    _ = fcntl(child.output, F_SETFL, O_NONBLOCK)
    func end() -> ContinuousClock.Instant { ContinuousClock.now.advanced(by: .microseconds(Int64(delay))) }
    var deadline = acknowledgementCount == 0 ? end().advanced(by: .milliseconds(5)) : nil
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var lines: [UInt8] = []
    var next = first
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      var waiting = [
        pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: child.output, events: Int16(POLLIN), revents: 0),
      ]
      poll(&waiting, 2, 1)
      if waiting[0].revents != 0 {
        while lines.count < 4096 {
          lines += line(next) + [0x0A]
          next += 1
        }
        let count = write(child.input, lines, lines.count)
        if count > 0 { lines.removeFirst(count) }
      }
      if waiting[1].revents != 0 {
        let count = read(child.output, &buffer, buffer.count)
        if count > 0 { output += buffer[..<count] }
        // The tool has ended by itself: its standard error says why.
        if count == 0 { break }
      }
      if deadline == nil, output.count(where: { $0 == 0x0A }) >= acknowledgementCount { deadline = end() }
    }
    child.send(signal: SIGKILL)
    _ = child.wait()
    while case let count = read(child.output, &buffer, buffer.count), count > 0 { output += buffer[..<count] }
    child.closeInput()
    // The line that was cut off in the pipe was not acknowledged.
    if let last = output.lastIndex(of: 0x0A) { output.removeSubrange((last + 1)...) } else { output = [] }
    return try Acknowledgement.parse(output)
  }
}
