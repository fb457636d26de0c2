import Glibc

@testable import strandline

/// Feeds lines to the tool and kills it with SIGKILL at some moment.
enum KilledFeeder {
  /// Where the time to the kill is counted from.
  enum Start {
    /// The kill may come while the tool starts, opens and recovers.
    case launch
    /// It comes among commits, however slow the machine.
    case firstAcknowledgement
  }

  /// Feeds numbered lines until the kill, `delay` microseconds behind `start`; what was acknowledged by then.
  static func run(
    _ arguments: [String], from first: Int, line: (Int) -> [UInt8], after delay: UInt32, of start: Start
  ) throws -> [Acknowledgement] {
    signal(SIGPIPE, SIG_IGN)
    var child = try ChildProcess(ToolRun.path, arguments, input: .pipe, output: .pipe)
    _ = fcntl(child.input, F_SETFL, O_NONBLOCK)
    _ = fcntl(child.output, F_SETFL, O_NONBLOCK)
    var end = start == .launch ? ContinuousClock.now.advanced(by: .microseconds(Int64(delay))) : nil
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var lines: [UInt8] = []
    var next = first
    while end.map({ ContinuousClock.now < $0 }) ?? true {
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
        if count == 0 { break }
        if count > 0 { output += buffer[..<count] }
        if end == nil { end = ContinuousClock.now.advanced(by: .microseconds(Int64(delay))) }
      }
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
