/// A commit as it is read back: all of it, or it is not there.
public struct Commit: Sendable {
  public enum Content: Hashable, Sendable {
    /// What an append wrote.
    case records
    /// The log was reset here. The records of the commit, if any, live on.
    case reset(ResetPayload)
    /// Salvage could not keep the commits with these numbers.
    case gap(GapPayload)
  }

  /// Where a consumer stands that has taken this commit.
  public var position: Position
  /// Milliseconds since 1970 by the clock of the machine that wrote it; for people, never for order.
  public var time: Int64
  public var content: Content
  /// Where its first frame lies in the log.
  @_spi(Engine) public var lsn: LSN
  public private(set) var recordCount = 0
  /// The lists of its frames.
  private var lists: [(bytes: [UInt8], count: Int)] = []

  init(position: Position, time: Int64, content: Content, lsn: LSN) {
    self.position = position
    self.time = time
    self.content = content
    self.lsn = lsn
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer, count: Int) {
    recordCount += count
    if count > 0 { lists.append((Array(bytes), count)) }
  }

  /// Calls `body` for each record in order, without copying it. The bytes are valid during the call.
  public func forEachRecord<Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    for list in lists {
      try list.bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
        for record in RecordList(proved: bytes, count: list.count) { try body(record) }
      }
    }
  }

  /// Copies of the records, in order.
  public var records: [[UInt8]] {
    var records: [[UInt8]] = []
    records.reserveCapacity(recordCount)
    forEachRecord { records.append(Array($0)) }
    return records
  }
}
