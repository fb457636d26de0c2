import Glibc
import StrandlineLog

/// Gathers lines into commits, appends them, and acknowledges them once they are durable.
struct LineAppender: ~Copyable {
  struct Settings: Equatable {
    var batchRecordCount: Int
    /// A commit that is not full is written this long after its first record came.
    var linger: Duration
    var durability: Durability
    var acknowledges: Bool
  }

  /// How often to look whether a timed sync has covered buffered commits that wait for their acknowledgement.
  private static let durabilityCheckInterval = Duration.milliseconds(10)

  private let log: Log
  private let settings: Settings
  private let out: Output
  private let commitByteCountMax = LogOptions().commitByteCountMax

  private var draft: CommitDraft?
  /// When the draft is written even if it is not full; means something only while there is one.
  private var deadline = ContinuousClock.now
  /// Commits whose acknowledgement waits for a sync, oldest first.
  private var unconfirmed: [(sequence: SequenceNumber, recordCount: Int)] = []
  private(set) var commitCount = 0
  /// Records in commits that were appended.
  private(set) var recordCount = 0

  init(log: Log, settings: Settings, out: Output) {
    self.log = log
    self.settings = settings
    self.out = out
  }

  /// Appends every line of `descriptor` until it ends or ``Interruption`` says stop; what was gathered then is written.
  mutating func appendAll(from descriptor: Int32) throws {
    var splitter = LineSplitter()
    var isAtEnd = false
    while !isAtEnd, !Interruption.isRequested {
      guard try wait(for: descriptor) else { continue }
      switch splitter.read(from: descriptor) {
      case .bytes, .nothing: break
      case .end: isAtEnd = true
      case .failed(let number):
        try commit()
        throw Failure(.ioFailure, "standard input: \(String(cString: strerror(number)))")
      }
      while !Interruption.isRequested, let line = splitter.takeLine() { try add(line, of: splitter) }
      if isAtEnd, !Interruption.isRequested, let line = splitter.takeLastLine() { try add(line, of: splitter) }
      if splitter.unfinishedByteCount > CommitDraft.recordByteCountMax { throw try lineTooLong() }
    }
    try commit()
    if !unconfirmed.isEmpty {
      try log.sync()
      try acknowledge()
    }
  }

  /// Waits for bytes, a signal, the deadline of the draft, or the next look at what is durable; true if there are bytes.
  private mutating func wait(for descriptor: Int32) throws -> Bool {
    if !unconfirmed.isEmpty { try acknowledge() }
    var timeout: Duration?
    if draft != nil {
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero { try commit() } else { timeout = left }
    }
    if !unconfirmed.isEmpty { timeout = min(timeout ?? Self.durabilityCheckInterval, Self.durabilityCheckInterval) }
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: Interruption.wakeDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&waiting, 2, timeout.map(Self.milliseconds) ?? -1)
    return count > 0 && waiting[0].revents != 0
  }

  private mutating func add(_ line: Range<Int>, of splitter: borrowing LineSplitter) throws {
    guard line.count <= CommitDraft.recordByteCountMax else { throw try lineTooLong() }
    // A commit that would become too large is written as it is; 16 bytes cover a record's length.
    if let size = draft?.byteCount, size + line.count + 16 > commitByteCountMax { try commit() }
    var filling: CommitDraft
    if let begun = draft.take() {
      filling = begun
    } else {
      filling = log.draft()
      if settings.batchRecordCount > 1 { deadline = ContinuousClock.now.advanced(by: settings.linger) }
    }
    try splitter.withLine(line) { (bytes) throws(LogError) in try filling.append(bytes) }
    let isFull = filling.recordCount >= settings.batchRecordCount
    draft = consume filling
    if isFull { try commit() }
  }

  private mutating func commit() throws {
    guard let filled = draft.take() else { return }
    let count = filled.recordCount
    let position = try log.append(filled, durability: settings.durability)
    commitCount += 1
    recordCount += count
    guard settings.acknowledges else { return }
    unconfirmed.append((position.sequence, count))
    if settings.durability == .synced { try acknowledge() }
  }

  /// Prints the acknowledgements of commits that a sync has covered.
  private mutating func acknowledge() throws {
    let durable = settings.durability == .synced ? SequenceNumber.max : log.status.durable.sequence
    let covered = unconfirmed.prefix { $0.sequence <= durable }
    guard !covered.isEmpty else { return }
    for commit in covered {
      let number = commit.sequence.rawValue
      try out.write("{\"first\":\(number),\"last\":\(number),\"records\":\(commit.recordCount)}\n")
    }
    unconfirmed.removeFirst(covered.count)
    try out.flush()
  }

  /// The error for the line that comes next, after everything before it was written.
  private mutating func lineTooLong() throws -> Failure {
    try commit()
    if !unconfirmed.isEmpty {
      try log.sync()
      try acknowledge()
    }
    let limit = HumanUnits.bytes(CommitDraft.recordByteCountMax)
    return Failure(
      .usage, "line \(recordCount + 1) is longer than \(limit), the largest record; the lines before it are written")
  }

  /// Rounded up, so that a deadline has passed when `poll` returns.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    let whole = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    return Int32(clamping: attoseconds % 1_000_000_000_000_000 == 0 ? whole : whole + 1)
  }
}
