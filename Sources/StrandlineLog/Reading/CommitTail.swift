/// The commits of a log from a position on, as they become durable. Ends when the log is closed.
///
/// Reads from the files, so a slow consumer costs no memory, however far behind it is. Each iterator reads for itself.
public struct CommitTail: AsyncSequence, Sendable {
  public typealias Element = Commit

  let log: Log
  let position: Position?

  public func makeAsyncIterator() -> Iterator { Iterator(log: log, position: position) }

  public struct Iterator: AsyncIteratorProtocol {
    private let log: Log
    private let position: Position?
    private var reader: LogReader?

    init(log: Log, position: Position?) {
      self.log = log
      self.position = position
    }

    /// The next commit; waits for one if there is none yet. Nil once the log is closed or the task is cancelled.
    ///
    /// - Throws: ``LogError`` as ``LogReader/next()`` and ``Log/read(after:)`` do; ``LogError/poisoned(first:buffered:)`` once
    ///   nothing more can come because a sync has failed.
    public mutating func next() async throws -> Commit? {
      let reader: LogReader
      if let known = self.reader {
        reader = known
      } else {
        reader = try log.read(after: position)
        self.reader = reader
      }
      while !Task.isCancelled {
        let seen = log.core.published.withLock { $0.durable }
        if let commit = try Self.next(of: reader) { return commit }
        guard await log.core.waitForNews(since: seen) else { break }
      }
      if let poison = log.status.poison, !Task.isCancelled {
        throw LogError.poisoned(first: poison, buffered: log.status.bufferedCommitCount)
      }
      return nil
    }

    /// As the reader's, but the end of the log is an end and not an error.
    private static func next(of reader: LogReader) throws(LogError) -> Commit? {
      do throws(LogError) {
        return try reader.next()
      } catch {
        guard error == .closed else { throw error }
        return nil
      }
    }
  }
}
