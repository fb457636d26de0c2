@_spi(Engine) public import StrandlineLog

/// The commits of a store from a position on, and then those to come, each when a sync has covered it. Ends when the store is closed.
///
/// Reads from the log, so a slow consumer costs no memory, however far behind it is. Each iterator reads for itself.
public struct StoreChanges: AsyncSequence, Sendable {
  public typealias Element = StoreCommit

  let engine: StoreEngine
  let position: Position?

  public func makeAsyncIterator() -> Iterator { Iterator(engine: engine, tail: engine.log.commits(after: position)) }

  public struct Iterator: AsyncIteratorProtocol {
    private let engine: StoreEngine
    private var tail: CommitTail.Iterator

    init(engine: StoreEngine, tail: CommitTail) {
      self.engine = engine
      self.tail = tail.makeAsyncIterator()
    }

    /// The next commit; waits for one if there is none yet. Nil once the store is closed or the task is cancelled.
    ///
    /// - Throws: ``StoreError/historyTrimmed(first:)``, ``StoreError/historyForked(at:)`` if the log does not hold what follows the
    ///   position; ``StoreError/corrupt(_:)`` where bytes have rotted since; ``StoreError/poisoned(first:buffered:)``.
    public mutating func next() async throws -> StoreCommit? {
      let commit: Commit?
      do {
        commit = try await tail.next()
      } catch LogError.resetSince {
        // What came between is void: go on with the reset itself.
        tail = engine.log.commits(after: nil).makeAsyncIterator()
        return try await next()
      } catch let error as LogError {
        throw StoreError(error)
      }
      guard let commit else { return nil }
      let tables = engine.published.withLock { $0.snapshot.state.tables }
      return try StoreCommit(commit, tables: tables)
    }
  }
}

/// What commits do to one table, from now on. Ends when the store is closed.
public struct TableChanges: AsyncSequence, Sendable {
  /// What one commit did to the table.
  public struct Element: Sendable {
    /// The store was reset: every row of before is gone.
    public var isReset: Bool
    public var position: Position
    public var cause: Cause
    public var metadata: [String: String]
    /// At least one, unless `isReset`.
    public var rows: [RowChange]
  }

  let table: String
  let changes: StoreChanges

  public func makeAsyncIterator() -> Iterator { Iterator(table: table, changes: changes.makeAsyncIterator()) }

  public struct Iterator: AsyncIteratorProtocol {
    let table: String
    var changes: StoreChanges.Iterator

    /// The next commit that changes the table. Errors as ``StoreChanges/Iterator/next()``.
    public mutating func next() async throws -> Element? {
      while let commit = try await changes.next() {
        let rows = commit.rows.filter { $0.table == table }
        if rows.isEmpty, commit.kind != .reset { continue }
        return Element(
          isReset: commit.kind == .reset, position: commit.position, cause: commit.cause, metadata: commit.metadata,
          rows: rows)
      }
      return nil
    }
  }
}

extension Store {
  /// The commits behind `position`, and then those to come. A reset arrives as an element.
  ///
  /// - Parameter position: what was taken last. Nil: everything since the last reset that the log still has.
  /// - SeeAlso: ``StoreOptions/history`` for how far back this reaches.
  public func changes(since position: Position? = nil) -> StoreChanges {
    StoreChanges(engine: engine, position: position)
  }

  /// What happens to the rows of `table` behind the newest commit that is durable now.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``, ``StoreError/closed``.
  public func changes(in table: String) throws(StoreError) -> TableChanges {
    _ = try engine.snapshot().state.tables.named(table)
    return TableChanges(table: table, changes: StoreChanges(engine: engine, position: engine.log.status.durable))
  }

  /// Where a consumer stands that has taken everything durable by now.
  public var position: Position { engine.log.status.durable }
}
