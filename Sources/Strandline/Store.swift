@_spi(Engine) public import StrandlineLog

/// A local store: tables, events and their history in one directory, folded from one log.
///
/// What a `.synced` write returned for survives power loss; what did not return is wholly there or wholly absent. Reads never wait for
/// writers. `reset()` is one record, whatever the store holds.
///
/// One process writes; others may read (``LogOptions/Access/readOnly``). Safe to use from any thread. Calls that block come in two forms of
/// one name: a synchronous one, not for tasks, and an asynchronous one, which blocks no thread of the concurrency pool for the disk. Letting
/// go of the last reference frees locks and descriptors and syncs nothing; call `close()` to end in order.
public final class Store: Sendable {
  let engine: StoreEngine
  /// What opening found and did.
  public let openReport: StoreOpenReport

  init(_ opened: (engine: StoreEngine, report: StoreOpenReport)) {
    engine = opened.engine
    openReport = opened.report
  }

  deinit { engine.endHelpers() }

  /// The store's directory, absolute.
  public var path: String { engine.log.path }

  // MARK: Open

  /// Opens the store in the directory `path`, and makes it if there is none.
  ///
  /// Reads the layers' indexes and the tail of the log, and none of the blocks. If `schema` asks for tables, columns or indexes that are
  /// not there yet, they are added in one commit before this returns; a new index over rows that are there is filled in the background.
  ///
  /// - Parameters:
  ///   - path: absolute, or relative to the working directory; its parent must exist.
  ///   - schema: what the application expects. Nil: as it is stored.
  ///   - migrations: how rows get from what earlier versions of the application declared to `schema`; those that are needed are part of the
  ///     same commit, which has every row of the table in it.
  ///   - options: checked first.
  /// - Throws: ``StoreError/locked(path:by:)``; ``StoreError/corrupt(_:)`` and ``StoreError/unsupportedFormat(file:detail:)`` with no byte
  ///   changed; ``StoreError/schemaMismatch(_:)`` and ``StoreError/invalidSchema(reason:)``,
  ///   ``StoreError/migrationFailed(table:column:reason:)`` with the store as it was;
  ///   ``StoreError/invalidOption(name:reason:)``, ``StoreError/noStore(path:)``, ``StoreError/outOfSpace(_:)``, ``StoreError/ioFailed(_:)``.
  /// - Complexity: O(bytes of log behind the last layer), at most about ``StoreOptions/memoryLayerByteCountMax`` twice, and one read a layer.
  @available(*, noasync, message: "blocks; use the async form")
  public static func open(
    at path: String, schema: Schema? = nil, migrations: [Migration] = [], options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Store {
    Store(try StoreOpener(path: path, options: try options.checked()).open(schema, migrations))
  }

  /// As the synchronous form, on a thread of its own.
  public static func open(
    at path: String, schema: Schema? = nil, migrations: [Migration] = [], options: StoreOptions = StoreOptions()
  ) async throws -> Store {
    try Task.checkCancellation()
    return try await OwnThread.run { () throws(StoreError) in
      Store(try StoreOpener(path: path, options: try options.checked()).open(schema, migrations))
    }
  }

  // MARK: Read

  /// The state as of the newest acknowledged commit, for as long as the view is held.
  ///
  /// A held view costs nobody anything but the space of what has been replaced since.
  ///
  /// - Throws: ``StoreError/closed``.
  public func view() throws(StoreError) -> ReadView { ReadView(try engine.snapshot()) }

  /// Runs `body` on the state as of now, on the calling thread. Inside a write it sees the state in front of that write.
  public func read<Result>(_ body: (ReadView) throws -> Result) throws -> Result { try body(view()) }

  /// As the synchronous form, on a thread of its own: for bodies that read much, so that no thread of the pool waits for the disk.
  ///
  /// - Throws: `CancellationError` if the task was cancelled before; what `body` throws.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (ReadView) throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    let view = try view()
    return try await OwnThread.run { () throws(StoreError) in Swift.Result { try body(view) } }.get()
  }

  /// The state right behind the commit `sequence`, with the tables as they were then.
  ///
  /// A number beyond the newest acknowledged commit gives the state as of now, and the view's ``ReadView/sequence`` says which that is.
  ///
  /// - Throws: ``StoreError/historyTrimmed(first:)`` if versions of then may be gone; see ``StoreOptions/history``.
  public func view(at sequence: SequenceNumber) throws(StoreError) -> ReadView {
    var snapshot = try engine.snapshot()
    let horizon = max(snapshot.state.stack.horizon, engine.log.status.resetSequence.rawValue)
    guard sequence.rawValue >= horizon else { throw .historyTrimmed(first: SequenceNumber(horizon)) }
    if sequence.rawValue < snapshot.sequence {
      // An index that was filled later knows nothing of then, and a column may have had another type.
      let tables = Tables(try Catalog(storedIn: snapshot.state.stack, at: sequence.rawValue))
      snapshot = Snapshot(state: snapshot.state.with(tables), sequence: sequence.rawValue)
    }
    return ReadView(snapshot)
  }

  // MARK: Write

  /// Runs `body` and makes what it wrote one commit; returns when that is as durable as asked.
  ///
  /// The calling thread writes and syncs itself if nobody else is doing so. After a crash either everything of the commit is there or
  /// nothing is. A `body` that throws leaves nothing; one that writes nothing makes no commit.
  ///
  /// - Parameters:
  ///   - metadata: kept with the commit, for people and for consumers of changes.
  ///   - durability: nil is ``StoreOptions/durability``.
  ///   - cause: what the commit is shown as.
  ///   - body: runs alone among writers; must not write to the same store by another way, which traps. Keep it short.
  /// - Throws: ``WriteError/body(_:)`` with what `body` threw; ``WriteError/store(_:)`` with nothing written, except
  ///   ``StoreError/poisoned(first:buffered:)``, where the outcome is unknown until the store is reopened.
  /// - Complexity: O(bytes written); at most one write and one `fdatasync`, shared with whoever commits at the same time.
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func write<Result, Failure: Error>(
    metadata: [String: String] = [:], durability: Durability? = nil, cause: Cause = .transaction,
    _ body: (inout Transaction) throws(Failure) -> Result
  ) throws(WriteError<Failure>) -> Result {
    let header = CommitHeader(cause: cause, metadata: metadata)
    let (result, queued) = try engine.transact(header, durability: durability ?? engine.options.durability, body)
    if let queued {
      do throws(StoreError) { _ = try engine.finish(queued) } catch { throw .store(error) }
      if queued.slowdown > 0 {
        engine.gate.pause(nanoseconds: queued.slowdown)
        engine.noteSlowdown(queued.slowdown)
      }
    }
    return result
  }

  /// As the synchronous form; suspends until the commit is as durable as asked, and blocks no thread of the pool for the disk.
  ///
  /// - Throws: `CancellationError` with nothing written if the task was cancelled before the commit was queued; afterwards the call waits
  ///   and answers what came of it. Otherwise ``WriteError`` as the synchronous form.
  @discardableResult
  public func write<Result, Failure: Error>(
    metadata: [String: String] = [:], durability: Durability? = nil, cause: Cause = .transaction,
    _ body: (inout Transaction) throws(Failure) -> Result
  ) async throws -> Result {
    let header = CommitHeader(cause: cause, metadata: metadata)
    let durability = durability ?? engine.options.durability
    var outcome: (result: Result, queued: StoreEngine.Queued?)?
    while outcome == nil {
      // Waiting for compaction or a reset must not hold a thread of the pool.
      if let failure = try await engine.waitForGate() { throw WriteError<Failure>.store(failure) }
      try Task.checkCancellation()
      var failure: WriteError<Failure>?
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        do throws(WriteError<Failure>) {
          outcome = try engine.transactAtOnce(header, durability: durability, continuation: continuation, body)
        } catch {
          failure = error
        }
        if outcome?.queued == nil { continuation.resume() }
      }
      if let failure { throw failure }
    }
    guard let outcome else { throw WriteError<Failure>.store(.closed) }
    if let queued = outcome.queued {
      do throws(StoreError) { _ = try engine.finish(queued) } catch { throw WriteError<Failure>.store(error) }
      if queued.slowdown > 0 {
        // A task that is cancelled now has its commit all the same.
        try? await Task.sleep(for: .nanoseconds(queued.slowdown))
        engine.noteSlowdown(queued.slowdown)
      }
    }
    return outcome.result
  }

  /// Makes every acknowledged commit survive power loss.
  @available(*, noasync, message: "blocks; use the async form")
  public func sync() throws(StoreError) {
    do throws(LogError) { try engine.log.sync() } catch { throw StoreError(error) }
  }

  /// As the synchronous form, on the committer thread.
  public func sync() async throws {
    do { try await engine.log.sync() } catch let error as LogError { throw StoreError(error) }
  }

  // MARK: Reset, compaction, copies, end

  /// Voids everything but the tables' definitions, with one record, and begins a new epoch.
  ///
  /// Costs one write into space kept for it and one `fdatasync`, whatever the store holds, and works on a full disk. Views of before stay
  /// readable for as long as they are held. Space is given back in the background. Unlinking does not scrub the medium.
  ///
  /// A crash before the sync leaves the store as it was; after it the next open finishes what is left to do.
  ///
  /// - Parameter keepCopy: first put a complete copy of the store into a `kept-…` directory inside it, with hard links. If that fails the
  ///   error is thrown and nothing has changed.
  /// - Throws: ``StoreError/poisoned(first:buffered:)`` when the outcome is unknown, which the next open finds out;
  ///   ``StoreError/outOfSpace(_:)``, ``StoreError/readOnly``, ``StoreError/closed`` with nothing changed.
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func reset(keepCopy: Bool = false) throws(StoreError) -> StoreResetReport {
    try engine.reset(keepCopy: keepCopy).report
  }

  /// As the synchronous form, on a thread of its own. `CancellationError` with nothing written if the task was cancelled before.
  @discardableResult
  public func reset(keepCopy: Bool = false) async throws -> StoreResetReport {
    try Task.checkCancellation()
    let engine = engine
    return try await OwnThread.run { () throws(StoreError) in try engine.reset(keepCopy: keepCopy).report }
  }

  /// Writes everything into one layer, dropping what neither the state nor the history needs.
  ///
  /// Commits and reads go on meanwhile. Interrupted at any point, the store is as before.
  @available(*, noasync, message: "blocks; use the async form")
  public func compact() throws(StoreError) { try engine.compactNow() }

  /// As the synchronous form, on the compactor's thread.
  public func compact() async throws {
    try Task.checkCancellation()
    let engine = engine
    try await OwnThread.run { () throws(StoreError) in try engine.compactNow() }
  }

  /// Writes a complete, synced copy of the store to the new directory `path`, as of now. Commits go on meanwhile. It is restored by
  /// opening it.
  ///
  /// - Throws: ``StoreError/targetExists(path:)``, ``StoreError/outOfSpace(_:)``, ``StoreError/ioFailed(_:)``, ``StoreError/readOnly``;
  ///   nothing new is at `path` then. ``StoreError/copyUnconfirmed(path:_:)`` with the whole copy there.
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func backup(to path: String) throws(StoreError) -> BackupReport {
    do throws(LogError) { return try engine.log.backup(to: path) } catch { throw StoreError(error) }
  }

  /// As the synchronous form, on a thread of its own.
  @discardableResult
  public func backup(to path: String) async throws -> BackupReport {
    do { return try await engine.log.backup(to: path) } catch let error as LogError { throw StoreError(error) }
  }

  /// Syncs what waits for it, marks the store as closed cleanly, and frees everything. Later calls answer ``StoreError/closed``; views
  /// that are held stay readable. A second call does nothing.
  ///
  /// - Throws: ``StoreError/poisoned(first:buffered:)`` if a sync or write failed, now or earlier. The store is closed all the same.
  @available(*, noasync, message: "blocks; use the async form")
  public func close() throws(StoreError) { try engine.close() }

  /// As the synchronous form, on a thread of its own.
  public func close() async throws {
    let engine = engine
    try await OwnThread.run { () throws(StoreError) in try engine.close() }
  }
}
