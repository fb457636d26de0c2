@_spi(Engine) public import StrandlineLog

/// Reads a store's commits in order: those that a sync has covered, and nothing else. For threads; tasks iterate
/// ``Store/changes(since:)``.
///
/// Holds one commit in memory at a time. Not to be shared between threads; make one for each.
public final class StoreCommitReader {
  private let engine: StoreEngine
  private let reader: LogReader

  init(_ engine: StoreEngine, _ reader: LogReader) {
    self.engine = engine
    self.reader = reader
  }

  /// The next commit, or nil when everything that is synced by now has been read; later calls may find more.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` where bytes have rotted since; ``StoreError/historyTrimmed(first:)`` or
  ///   ``StoreError/generationGone`` where the log ahead was removed; ``StoreError/undecodable(what:reason:)``; ``StoreError/closed``.
  public func next() throws(StoreError) -> StoreCommit? {
    let commit: Commit?
    do throws(LogError) { commit = try reader.next() } catch { throw StoreError(error) }
    guard let commit else { return nil }
    let tables = engine.published.withLock { $0.snapshot.state.tables }
    return try StoreCommit(commit, tables: tables)
  }
}

extension Store {
  /// Reads commits in order from a position on.
  ///
  /// - Parameter position: what was taken last. Nil: everything since the last reset that the log still has, the reset included.
  /// - Throws: ``StoreError/historyTrimmed(first:)``, ``StoreError/historyForked(at:)``, ``StoreError/generationGone`` if the log does not
  ///   hold what follows the position; ``StoreError/closed``, ``StoreError/ioFailed(_:)``.
  public func commits(after position: Position? = nil) throws(StoreError) -> StoreCommitReader {
    do throws(LogError) {
      return StoreCommitReader(engine, try engine.log.read(after: position))
    } catch {
      throw StoreError(error)
    }
  }

  /// The position of a commit by its number.
  ///
  /// - Throws: ``StoreError/historyTrimmed(first:)`` if the log does not hold it any more.
  public func position(of sequence: SequenceNumber) throws(StoreError) -> Position {
    do throws(LogError) { return try engine.log.position(of: sequence) } catch { throw StoreError(error) }
  }
}
