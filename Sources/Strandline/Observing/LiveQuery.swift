/// The answer of a query, and then how it changes, as long as somebody asks. Ends when the store is closed.
///
/// The first element is the whole answer. Each one after it is what a consumer has to do to what it had to get what the query answers
/// then: rows that came, went, changed. Commits that come while the consumer is at work go into one element, or none if they cancel out.
/// Acknowledged commits are seen, `.buffered` ones too.
///
/// Memory is bounded by what differs, however slow the consumer is: between two elements an iterator holds a view of the state it told of
/// last, as anyone may, and reads both states for the difference. Where the commits in between are still in memory and few, only the rows
/// they wrote are looked at.
public struct LiveQuery: AsyncSequence, Sendable {
  public typealias Element = LiveChange

  let engine: StoreEngine
  let query: Query

  public func makeAsyncIterator() -> Iterator { Iterator(engine: engine, query: query) }

  public struct Iterator: AsyncIteratorProtocol {
    private let engine: StoreEngine
    private let query: Query
    /// Told of last.
    private var answer: LiveAnswer?
    private var recent: RecentKeys?
    private var isAtEnd = false

    init(engine: StoreEngine, query: Query) {
      self.engine = engine
      self.query = query
    }

    /// The next change; waits for one if there is none yet. Nil once the store is closed or the task is cancelled, and behind an error.
    ///
    /// Reads on a thread of its own where there is much to read.
    ///
    /// - Throws: ``StoreError/unknownTable(_:)`` or ``StoreError/unknownColumn(table:column:)`` once another schema leaves the query without
    ///   meaning; ``StoreError/corrupt(_:)``, ``StoreError/ioFailed(_:)`` where a block cannot be read;
    ///   ``StoreError/poisoned(first:buffered:)`` once nothing more can come because a sync has failed.
    public mutating func next() async throws -> LiveChange? {
      while !isAtEnd, !Task.isCancelled {
        guard let snapshot = try? engine.snapshot() else { break }
        do {
          if let change = try await change(to: snapshot) { return change }
        } catch {
          isAtEnd = true
          throw error
        }
        if engine.isReadOnly { break }
        guard await engine.waitForNews(since: snapshot) else {
          isAtEnd = true
          if let poison = engine.poison, !Task.isCancelled { throw poison }
          break
        }
      }
      isAtEnd = true
      return nil
    }

    private mutating func change(to snapshot: Snapshot) async throws -> LiveChange? {
      let query = query
      guard let old = answer, var recent else {
        let first = try LiveAnswer(query, at: snapshot)
        let change = try await OwnThread.run { () throws(StoreError) in try first.first() }
        answer = first
        recent = RecentKeys(snapshot)
        return change
      }
      if old.snapshot.sequence == snapshot.sequence, old.snapshot.state === snapshot.state { return nil }
      let new = try LiveAnswer(query, at: snapshot)
      let keys = recent.take(new.rowPrefix, behind: old.snapshot.sequence, upTo: snapshot)
      let change: LiveChange?
      if let keys, keys.isEmpty || keys.count <= Self.keyCountOfCaller && query.plan.limit == nil {
        change = try new.difference(from: old, written: keys)
      } else {
        change = try await OwnThread.run { () throws(StoreError) in try new.difference(from: old, written: keys) }
      }
      answer = new
      self.recent = recent
      return change
    }

    /// So many rows are looked at on the caller's thread.
    private static let keyCountOfCaller = 32
  }
}

extension Store {
  /// Keeps a query answered: all its rows first, then what came, went and changed.
  ///
  /// ```swift
  /// for try await change in try store.observe(store.query("todos").where("done", .equals, false)) {
  ///   for row in change.came { print("new:", row.row) }
  /// }
  /// ```
  ///
  /// - Parameter query: from whatever source; it is asked of the states to come.
  /// - Throws: ``StoreError/invalidQuery(reason:)`` for a query that only counts or is for one row; ``StoreError/unknownTable(_:)``,
  ///   ``StoreError/unknownColumn(table:column:)``, ``StoreError/closed``.
  public func observe(_ query: Query) throws(StoreError) -> LiveQuery {
    guard !query.plan.isHead, !query.plan.isCounted, query.plan.cardinality == .many else {
      throw .invalidQuery(reason: "a live query answers rows, and does not count them")
    }
    let own = Query(query.table, from: self.source, plan: query.plan)
    _ = try own.explain()
    return LiveQuery(engine: engine, query: own)
  }

  /// A question about the rows of one table as of when it is answered.
  ///
  /// Each answer is of one state; two answers may be of two. ``view()`` holds a state.
  public func query(_ table: String) -> Query { Query(table, from: source) }

  private var source: NewestRows { NewestRows(engine: engine) }
}

/// Answers each query from the newest acknowledged state.
private struct NewestRows: QuerySource {
  let engine: StoreEngine

  func rows(of table: String, for plan: QueryPlan) throws(StoreError) -> QueryRows {
    try ReadView(engine.snapshot()).rows(of: table, for: plan)
  }

  func explain(_ plan: QueryPlan, over table: String) throws(StoreError) -> QueryExplanation {
    try ReadView(engine.snapshot()).explain(plan, over: table)
  }
}
