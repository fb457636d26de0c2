import Glibc

/// Starts `tour-writer`, feeds it commits, listens to its acknowledgements, and kills it.
enum WriterProcess {
  /// What was heard from the writer.
  struct Run: Equatable {
    var acknowledgements: [Acknowledgement] = []
    var ending: ChildProcess.Ending
  }

  struct Acknowledgement: Equatable {
    var sequence: UInt64
    var recordCount: Int
    var nanoseconds: Int

    init?(_ line: some StringProtocol) {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 3, let sequence = UInt64(exactly: numbers[0]) else { return nil }
      self.sequence = sequence
      recordCount = numbers[1]
      nanoseconds = numbers[2]
    }
  }

  /// Appends `commits` to `store` until the kill.
  ///
  /// - Parameters:
  ///   - tool: path of this executable.
  ///   - killAfter: send SIGKILL as soon as this many acknowledgements have come. Until then the writer's input stays open, so
  ///     that it cannot come to its end.
  ///   - heard: told how many acknowledgements have come, from time to time.
  static func run(
    tool: String, store: String, commits: ArraySlice<[[UInt8]]>, options: [String] = [], killAfter: Int,
    heard: (Int) -> Void = { _ in }
  ) throws -> Run {
    let child = try ChildProcess(
      tool, ["tour-writer", store] + options, input: .pipe, output: .pipe)
    var feed = Feed(commits)
    var ears = Ears()
    do {
      for descriptor in [child.input, child.output] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
      var hasMore = true
      while ears.acknowledgements.count < killAfter {
        try Interruption.check()
        var waiting = [
          pollfd(fd: hasMore ? child.input : -1, events: Int16(POLLOUT), revents: 0),
          pollfd(fd: child.output, events: Int16(POLLIN), revents: 0),
          pollfd(fd: Interruption.wakeDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&waiting, 3, -1)
        if waiting[1].revents != 0, ears.listen(to: child.output) == .end { break }
        heard(ears.acknowledgements.count)
        if waiting[0].revents != 0 { hasMore = feed.write(to: child.input) == .more }
      }
    } catch {
      child.send(signal: SIGKILL)
      _ = child.wait()
      throw error
    }
    child.send(signal: SIGKILL)
    let ending = child.wait()
    // What it had acknowledged before the kill still stands in the pipe, and counts.
    while ears.listen(to: child.output) == .more {}
    return Run(acknowledgements: ears.acknowledgements, ending: ending)
  }

  /// Writes commits into a pipe, as much as it takes at a time.
  private struct Feed {
    enum Progress { case more, done }

    private static let chunkByteCount = 64 << 10

    private var commits: ArraySlice<[[UInt8]]>
    private var chunk: [UInt8] = []
    private var written = 0

    init(_ commits: ArraySlice<[[UInt8]]>) { self.commits = commits }

    mutating func write(to descriptor: Int32) -> Progress {
      if written == chunk.count { refill() }
      guard !chunk.isEmpty else { return .done }
      let count = chunk.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written)
      }
      if count > 0 {
        written += count
        return .more
      }
      // The reader is gone; what it said before it went tells the rest.
      return errno == EAGAIN || errno == EINTR ? .more : .done
    }

    private mutating func refill() {
      chunk.removeAll(keepingCapacity: true)
      written = 0
      while chunk.count < Self.chunkByteCount, let commit = commits.popFirst() {
        for record in commit {
          chunk += record
          chunk.append(0x0A)
        }
        chunk.append(0x0A)
      }
    }
  }

  /// Reads acknowledgements from a pipe that does not block.
  private struct Ears {
    enum Progress { case more, nothing, end }

    private(set) var acknowledgements: [Acknowledgement] = []
    private var unfinished: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    mutating func listen(to descriptor: Int32) -> Progress {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end }
      unfinished += buffer[..<count]
      guard let last = unfinished.lastIndex(of: 0x0A) else { return .more }
      let whole = String(decoding: unfinished[..<last], as: UTF8.self)
      acknowledgements += whole.split(separator: "\n").compactMap { Acknowledgement($0) }
      unfinished.removeSubrange(...last)
      return .more
    }
  }
}
