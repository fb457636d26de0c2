import StrandlineLog

/// Lines as records of a log.
struct RecordSink: LineSink, ~Copyable {
  private let log: Log
  private let durability: Durability
  private let commitByteCountMax = LogOptions().commitByteCountMax
  private var draft: CommitDraft?
  private(set) var gatheredCount = 0

  init(log: Log, durability: Durability) {
    self.log = log
    self.durability = durability
  }

  var lineByteCountMax: Int { CommitDraft.recordByteCountMax }
  var durable: SequenceNumber { log.status.durable.sequence }

  mutating func add(_ line: UnsafeRawBufferPointer, number: Int) throws -> CommittedLines? {
    // A commit that would become too large is written as it is; 16 bytes cover a record's length.
    var written: CommittedLines?
    if let size = draft?.byteCount, size + line.count + 16 > commitByteCountMax { written = try commit() }
    var filling = draft.take() ?? log.draft()
    try filling.append(line)
    gatheredCount += 1
    draft = consume filling
    return written
  }

  mutating func commit() throws -> CommittedLines? {
    guard let filled = draft.take() else { return nil }
    let count = gatheredCount
    gatheredCount = 0
    let position = try log.append(filled, durability: durability)
    return CommittedLines(sequence: position.sequence, lineCount: count)
  }

  func sync() throws { try log.sync() }
}
