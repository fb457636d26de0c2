import Glibc
import StrandlineLog

/// Gathers lines into commits, writes them, and acknowledges them once they are durable.
struct LineBatcher<Sink: LineSink & ~Copyable>: ~Copyable {
  private var sink: Sink
  private let settings: LineSettings
  private let out: Output

  /// When the commit in hand is written even if it is not full; means something only while there is one.
  private var deadline = ContinuousClock.now
  /// Commits whose acknowledgement waits for a sync, oldest first.
  private var unconfirmed: [CommittedLines] = []
  private var lineNumber = 0
  private(set) var commitCount = 0
  /// Lines in commits that were written.
  private(set) var committedLineCount = 0
  /// Told the lines that were taken and the bytes that were read, from time to time.
  var progress: (_ lines: Int, _ bytes: Int) -> Void = { _, _ in }

  init(_ sink: consuming Sink, settings: LineSettings, out: Output) {
    self.sink = sink
    self.settings = settings
    self.out = out
  }

  /// Takes every line of `descriptor` until it ends or ``Interruption`` says stop; what was gathered then is written.
  ///
  /// - Parameter name: of what is read, for messages.
  mutating func takeAll(from descriptor: Int32, named name: String) throws {
    var splitter = LineSplitter()
    var isAtEnd = false
    while !isAtEnd, !Interruption.isRequested {
      guard try wait(for: descriptor) else { continue }
      switch splitter.read(from: descriptor) {
      case .bytes, .nothing: break
      case .end: isAtEnd = true
      case .failed(let number):
        try commit()
        throw Failure(.ioFailure, "\(name): \(String(cString: strerror(number)))")
      }
      while !Interruption.isRequested, let line = splitter.takeLine() { try add(line, of: splitter) }
      if isAtEnd, !Interruption.isRequested, let line = splitter.takeLastLine() { try add(line, of: splitter) }
      if splitter.unfinishedByteCount > sink.lineByteCountMax { throw try lineTooLong() }
      progress(lineNumber, splitter.readByteCount)
    }
    try finish()
  }

  /// Writes what was gathered, and has everything acknowledged.
  private mutating func finish() throws {
    try commit()
    if !unconfirmed.isEmpty {
      try sink.sync()
      try acknowledge()
    }
  }

  /// Waits for bytes, a signal, the deadline of the commit in hand, or the next look at what is durable; true if there are bytes.
  private mutating func wait(for descriptor: Int32) throws -> Bool {
    if !unconfirmed.isEmpty { try acknowledge() }
    var timeout: Duration?
    if sink.gatheredCount > 0 {
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero { try commit() } else { timeout = left }
    }
    if !unconfirmed.isEmpty {
      timeout = min(timeout ?? LineSettings.durabilityCheckInterval, LineSettings.durabilityCheckInterval)
    }
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: Interruption.wakeDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&waiting, 2, timeout.map(Self.milliseconds) ?? -1)
    return count > 0 && waiting[0].revents != 0
  }

  private mutating func add(_ line: Range<Int>, of splitter: borrowing LineSplitter) throws {
    guard line.count <= sink.lineByteCountMax else { throw try lineTooLong() }
    let isFirst = sink.gatheredCount == 0
    lineNumber += 1
    let written: CommittedLines?
    do {
      let number = lineNumber
      written = try splitter.withLine(line) { (bytes: UnsafeRawBufferPointer) throws -> CommittedLines? in
        try sink.add(bytes, number: number)
      }
    } catch let failure as Failure where failure.code == .usage {
      throw try refused(failure)
    }
    try note(written)
    // Whoever waits for company waits from its own coming on.
    if isFirst || written != nil, settings.batchLineCount > 1 {
      deadline = ContinuousClock.now.advanced(by: settings.linger)
    }
    if sink.gatheredCount >= settings.batchLineCount { try commit() }
  }

  private mutating func commit() throws { try note(try sink.commit()) }

  private mutating func note(_ written: CommittedLines?) throws {
    guard let written else { return }
    if written.lineCount > 0 {
      commitCount += 1
      committedLineCount += written.lineCount
      if settings.acknowledges { unconfirmed.append(written) }
      if settings.durability == .synced { try acknowledge() }
    }
    guard let refusal = written.refusal else { return }
    if let failure = refusal as? Failure { throw try refused(failure) }
    try finish()
    throw refusal
  }

  /// The error for a line that cannot be taken, which says what was: what came before it is written and acknowledged first.
  private mutating func refused(_ failure: Failure) throws -> Failure {
    try finish()
    let written =
      committedLineCount == 0
      ? "Nothing was written." : "Written before it: \(HumanUnits.number(committedLineCount, of: "line"))."
    let reason = failure.message.hasSuffix(".") ? failure.message : "\(failure.message)."
    return Failure(failure.code, "\(reason) \(written)")
  }

  /// Prints the acknowledgements of commits that a sync has covered.
  private mutating func acknowledge() throws {
    let durable = settings.durability == .synced ? SequenceNumber.max : sink.durable
    let covered = unconfirmed.prefix { $0.sequence <= durable }
    guard !covered.isEmpty else { return }
    for commit in covered {
      let number = commit.sequence.rawValue
      try out.write("{\"first\":\(number),\"last\":\(number),\"records\":\(commit.lineCount)}\n")
    }
    unconfirmed.removeFirst(covered.count)
    try out.flush()
  }

  /// The error for the line that comes next, after everything before it was written.
  private mutating func lineTooLong() throws -> Failure {
    let limit = HumanUnits.bytes(sink.lineByteCountMax)
    return try refused(
      Failure(.usage, "line \(lineNumber + 1) is longer than \(limit), the largest record"))
  }

  /// Rounded up, so that a deadline has passed when `poll` returns.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    let whole = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    return Int32(clamping: attoseconds % 1_000_000_000_000_000 == 0 ? whole : whole + 1)
  }
}
