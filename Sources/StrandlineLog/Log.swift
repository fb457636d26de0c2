/// An append-only log of commits in a directory: what was acknowledged is there after any crash, in order, and nothing else is.
///
/// One process writes; others may read. A commit is an ordered list of records, which are bytes to the log. It is replayed wholly or not
/// at all. Reset is one record: what came before it is void at that moment, and its files go away in the background.
///
/// Safe to use from any thread. Letting go of the last reference frees locks and descriptors and syncs nothing; call `close()` to
/// end in order.
///
/// Calls that block come in two forms of one name: a synchronous one, not for tasks, and an asynchronous one, which blocks no thread of
/// the concurrency pool. `open`, `read` and the synchronous forms read or write on the calling thread.
public final class Log: Sendable {
  let core: LogCore
  let queue: CommitQueue

  /// What opening found and did.
  public let openReport: OpenReport

  init(core: LogCore, report: OpenReport) {
    self.core = core
    openReport = report
    queue = CommitQueue(lane: core, committer: core.committer)
  }

  deinit {
    // Not orderly: nothing is written, so nothing can fail.
    do throws(LogError) { try core.shutDown(orderly: false) } catch {}
  }

  /// The store's directory, absolute.
  public var path: String { core.directory.path }

  /// How the log stands now.
  public var status: LogStatus { core.status }

  // MARK: Open

  /// Opens the log in the directory `path`, and makes it if there is none.
  ///
  /// Recovers first: verifies everything behind the anchor, cuts a torn tail, finishes a reset that a crash interrupted. What a crash
  /// during any of this leaves is recovered by the next open. Nothing of the tail is handed out before it has been synced and read
  /// again. With ``LogOptions/Access/readOnly`` nothing is changed, and what verifies is delivered even beside damage.
  ///
  /// - Parameters:
  ///   - path: absolute, or relative to the working directory; its parent must exist.
  ///   - options: checked first.
  ///   - replay: called on this thread for every batch of live frames, in log order, before open returns. May keep the memory
  ///     of a batch (``ReplayBatch/takeBytes()``). If open throws, what earlier calls were given is to be thrown away. Nil: everything
  ///     is verified all the same.
  /// - Throws: ``LogError/invalidOption(name:reason:)``; ``LogError/locked(path:by:)``; ``LogError/corrupt(_:)`` and
  ///   ``LogError/unsupportedFormat(file:detail:)`` with no byte changed; ``LogError/noStore(path:)`` where none may be made;
  ///   ``LogError/outOfSpace(_:)`` and ``LogError/ioFailed(_:)``, after which opening again takes up where this left off; what `replay`
  ///   throws, with no byte of the log changed.
  /// - Complexity: O(bytes behind the anchor), on ``LogOptions/replayThreadCount`` threads, at most two units of about
  ///   3 MiB a thread in memory.
  /// - SeeAlso: Docs/Recovery.md
  public static func open(
    at path: String, options: LogOptions = LogOptions(), replay: ((inout ReplayBatch) throws(LogError) -> Void)? = nil
  ) throws(LogError) -> Log {
    Tag.checkImplementation()
    var opener = try LogOpener(path: path, options: options)
    switch options.access {
    case .readOnly:
      let (published, report) = try opener.openForReading(replay)
      return Log(core: LogCore(readOnly: opener.directory, options: options, published: published), report: report)
    case .readWrite:
      let helpers = try LogHelpers(options: options, path: opener.directory.path)
      do throws(LogError) {
        let opened = try opener.openForWriting(replay, extender: helpers.extender)
        let core = LogCore(
          directory: opener.directory, options: options, published: opened.published, writer: opened.writer,
          directoryLock: opened.lock, helpers: helpers)
        return Log(core: core, report: opened.report)
      } catch {
        helpers.stop()
        throw error
      }
    }
  }

  // MARK: Append

  /// An empty commit to be filled and appended, or thrown away. Takes the time of day now. Writes nothing.
  public func draft() -> CommitDraft {
    // Member by member: a copy of the options would count its references up and down for each commit.
    CommitDraft(
      time: core.options.environment.clock.wallMilliseconds(), compresses: core.options.compresses,
      byteCountMax: core.options.commitByteCountMax)
  }

  /// Appends `draft` as one commit and returns when it is as durable as asked.
  ///
  /// The calling thread writes and syncs itself if nobody else is doing so, with whatever other commits wait; it leads, others
  /// follow. After a crash either every record of the commit is replayed or none is.
  ///
  /// - Parameters:
  ///   - draft: holds at least one record; one without is a mistake of the caller and traps. Used up.
  ///   - durability: `.synced` survives power loss when this returns; `.buffered` the end of the process.
  /// - Returns: the commit's position. For `.buffered` it is provisional until the next sync.
  /// - Throws: ``LogError/outOfSpace(_:)``, ``LogError/limitExceeded(_:)``, ``LogError/readOnly``, ``LogError/closed``,
  ///   ``LogError/wrongProcess`` with nothing of the commit written; ``LogError/poisoned(first:buffered:)`` when the outcome is
  ///   unknown, after which nothing more is written. An error of one commit of a group leaves the others alone.
  /// - Complexity: O(bytes); at most one write and one `fdatasync` a group, and those of a roll where a segment is full.
  /// - SeeAlso: Docs/Architecture.md, "How a commit travels". Refusing writes after a failed sync: Rebello et al., "Can Applications
  ///   Recover from fsync Failures?", USENIX ATC 2020.
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func append(_ draft: consuming CommitDraft, durability: Durability = .synced) throws(LogError) -> Position {
    let member = try member(draft, durability)
    queue.commit(member)
    return try member.outcome.get()
  }

  /// Appends `draft` as one commit; suspends until it is as durable as asked. The log's committer thread writes and syncs, so no thread
  /// of the pool blocks.
  ///
  /// - Parameters:
  ///   - draft: holds at least one record. Used up.
  ///   - durability: as in the synchronous form.
  /// - Throws: `CancellationError` with nothing written if the task was cancelled before the commit was queued; afterwards the call waits
  ///   and answers what came of it. Otherwise ``LogError`` as the synchronous form.
  @discardableResult
  public func append(_ draft: consuming CommitDraft, durability: Durability = .synced) async throws -> Position {
    try Task.checkCancellation()
    let member = try member(draft, durability)
    await withUnsafeContinuation { continuation in
      member.continuation = continuation
      queue.submit(member)
    }
    return try member.outcome.get()
  }

  /// Appends `records`, at least one, as one commit; the bytes are copied. Otherwise as the form for a draft.
  ///
  /// - Throws: as the form for a draft; ``LogError/limitExceeded(_:)`` with nothing written if a record or the commit is too large.
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func append(_ records: [[UInt8]], durability: Durability = .synced) throws(LogError) -> Position {
    var draft = draft()
    for record in records { try draft.append(record) }
    return try append(draft, durability: durability)
  }

  /// Appends `records`, at least one, as one commit; the bytes are copied. Otherwise as the asynchronous form for a draft.
  @discardableResult
  public func append(_ records: [[UInt8]], durability: Durability = .synced) async throws -> Position {
    var draft = draft()
    for record in records { try draft.append(record) }
    return try await append(draft, durability: durability)
  }

  private func member(_ draft: consuming CommitDraft, _ durability: Durability) throws(LogError) -> PendingCommit {
    try core.checkIsWritable()
    precondition(draft.recordCount > 0, "a commit needs at least one record")
    return PendingCommit(frames: draft.frames(), durability: durability)
  }

  /// Makes every acknowledged commit survive power loss. One `fdatasync`, or none if nothing waits for one.
  ///
  /// - Throws: ``LogError/poisoned(first:buffered:)`` if the sync failed, now or earlier; ``LogError/readOnly``, ``LogError/closed``,
  ///   ``LogError/wrongProcess``.
  @available(*, noasync, message: "blocks; use the async form")
  public func sync() throws(LogError) {
    try core.checkIsWritable()
    let member = PendingCommit(frames: [], durability: .synced)
    queue.commit(member)
    _ = try member.outcome.get()
  }

  /// Makes every acknowledged commit survive power loss, on the committer thread. Errors as the synchronous form.
  public func sync() async throws {
    try core.checkIsWritable()
    let member = PendingCommit(frames: [], durability: .synced)
    await withUnsafeContinuation { continuation in
      member.continuation = continuation
      queue.submit(member)
    }
    _ = try member.outcome.get()
  }

  // MARK: Read

  /// Reads commits in order from a position on.
  ///
  /// - Parameter position: what was read last. Nil: from the beginning of the live log, which is the last RESET if there was one.
  ///   ``Position/start``: from the first commit ever, resets included.
  /// - Throws: ``LogError/historyTrimmed(first:)``, ``LogError/resetSince(epoch:)``, ``LogError/historyForked(at:)`` if the log does not
  ///   hold what follows the position; ``LogError/generationGone`` if another process removed it under a read-only log;
  ///   ``LogError/noStore(path:)`` for a read-only log that nothing was ever written to; ``LogError/closed``,
  ///   ``LogError/wrongProcess``, ``LogError/ioFailed(_:)``. The log goes on as before.
  /// - Complexity: one walk over the headers of one segment.
  public func read(after position: Position? = nil) throws(LogError) -> LogReader {
    LogReader(self, at: try core.place(after: position))
  }

  /// The commits from a position on, and then those to come, each when a sync has covered it.
  ///
  /// - Parameter position: as for ``read(after:)``; looked up when iteration begins, which throws as ``read(after:)`` does.
  public func commits(after position: Position? = nil) -> CommitTail { CommitTail(log: self, position: position) }

  // MARK: Reset, copies, end

  /// Voids everything in the log with one record, and begins a new epoch.
  ///
  /// Costs one write into space that is kept for it and one `fdatasync`, whatever the log holds, and works on a full disk. Segments in
  /// front of it are removed in the background; readers and copies in progress keep theirs until they let go. Unlinking does not scrub
  /// the medium.
  ///
  /// A crash before the sync leaves the log as it was; after it the next open finishes what is left to do.
  ///
  /// - Parameters:
  ///   - records: live on as the first records of the new epoch; 32 KiB at most with their lengths.
  ///   - base: layers the new state begins with; written, synced and named in the directory before the call.
  ///   - cause: a number of the caller's, kept in the record.
  ///   - keepCopy: first put a complete copy of the store into a `kept-…` directory inside it, with hard links. If that fails the
  ///     error is thrown and the log is not reset, also with ``LogError/copyUnconfirmed(path:_:)``, where the copy stands.
  ///   - copyPath: where the copy goes: a name `kept-…` inside the store's directory, or an absolute path; nil makes a name up.
  /// - Throws: ``LogError/limitExceeded(_:)`` with nothing written; ``LogError/poisoned(first:buffered:)`` when the outcome is unknown,
  ///   which the next open finds out; ``LogError/outOfSpace(_:)`` only with `keepCopy`, or where the space that is kept for a reset could
  ///   not be made again after an open on a full disk; ``LogError/readOnly``, ``LogError/closed``, ``LogError/wrongProcess``.
  /// - Complexity: O(bytes of `records`); one write, one `fdatasync`. META and the removal of files follow on the committer thread.
  /// - SeeAlso: Docs/Recovery.md, "Reset"
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func reset(
    carrying records: [[UInt8]] = [], base: [LayerEntry] = [], cause: UInt32 = 0, keepCopy: Bool = false,
    copyPath: String? = nil
  ) throws(LogError) -> ResetReport {
    try core.reset(carrying: records, base: base, cause: cause, keepCopy: keepCopy, copyPath: copyPath)
  }

  /// As the synchronous form, on the committer thread. `CancellationError` with nothing written if the task was cancelled before.
  @discardableResult
  public func reset(
    carrying records: [[UInt8]] = [], base: [LayerEntry] = [], cause: UInt32 = 0, keepCopy: Bool = false,
    copyPath: String? = nil
  ) async throws -> ResetReport {
    try Task.checkCancellation()
    return try await core.onCommitter { (core) throws(LogError) in
      try core.reset(carrying: records, base: base, cause: cause, keepCopy: keepCopy, copyPath: copyPath)
    }
  }

  /// Writes a complete, synced copy of the store to the new directory `path`, as of now. Commits go on meanwhile.
  ///
  /// The copy has an incarnation of its own and opens like any store. An interrupted backup is a directory `….tmp-…` and nothing else.
  ///
  /// - Parameter path: absolute, or relative to the working directory; its parent must exist, and nothing may be there.
  /// - Throws: ``LogError/targetExists(path:)``, ``LogError/outOfSpace(_:)``, ``LogError/ioFailed(_:)``, ``LogError/readOnly``;
  ///   ``LogError/corrupt(_:)`` if a segment is shorter than it was. Nothing new is at `path` then.
  ///   ``LogError/copyUnconfirmed(path:_:)`` with the whole copy there.
  /// - Complexity: O(bytes of the store); files are shared instead of copied where the file system can.
  @available(*, noasync, message: "blocks; use the async form")
  @discardableResult
  public func backup(to path: String) throws(LogError) -> BackupReport { try core.backup(to: path) }

  /// As the synchronous form, on a thread of its own.
  @discardableResult
  public func backup(to path: String) async throws -> BackupReport {
    try Task.checkCancellation()
    return try await core.onOwnThread { (core) throws(LogError) in try core.backup(to: path) }
  }

  /// The position of the commit `sequence`, which a sync has covered.
  ///
  /// - Throws: ``LogError/historyTrimmed(first:)``, ``LogError/historyForked(at:)`` if the log does not hold it.
  /// - Complexity: one walk over the headers of one segment.
  @_spi(Engine) public func position(of sequence: SequenceNumber) throws(LogError) -> Position {
    try core.position(of: sequence)
  }

  /// Where each segment begins and how long it is, oldest first; the last one up to what is durable.
  @_spi(Engine) public var segmentExtents: [(first: SequenceNumber, byteCount: UInt64)] {
    core.published.withLock { state in
      state.segments.indices.map { index in
        let end = index + 1 < state.segments.count ? state.segments[index + 1].baseLSN : state.durableLSN
        let header = state.segments[index]
        return (SequenceNumber(header.baseSequence.rawValue + 1), end.rawValue - min(end, header.baseLSN).rawValue)
      }
    }
  }

  /// Names the layers that hold the state up to `anchor`, where replay begins from now on. For compaction. A nil anchor stays as it is.
  ///
  /// Everything up to `anchor` is synced first. Both slots of META are written before layers that the old root named are removed.
  ///
  /// - Throws: ``LogError/epochEnded(_:)`` if a reset came in between; the caller removes its layers.
  @_spi(Engine) public func publishRoot(
    layers: [LayerEntry], anchor: Position?, epoch: UInt64
  ) throws(LogError) {
    try core.publishRoot(layers: layers, anchor: anchor, epoch: epoch)
  }

  /// Removes closed segments whose commits all come before `sequence` and that lie in front of the anchor, lowest first.
  ///
  /// - Parameter leavesActive: whether the active segment is ended first, so that it can go too, if no commit stands behind the anchor
  ///   and it holds 1 MiB or more. On a full disk it stays.
  @_spi(Engine) @discardableResult
  public func releaseSegments(
    before sequence: SequenceNumber, leavesActive: Bool = false
  ) throws(LogError) -> Int {
    try core.releaseSegments(before: sequence, leavesActive: leavesActive)
  }

  /// Syncs what waits for it, marks the log as closed cleanly, and frees everything. Later calls answer ``LogError/closed``.
  ///
  /// Waits for the commit that is being written. A second call does nothing. A read-only log has nothing to sync.
  ///
  /// - Throws: ``LogError/poisoned(first:buffered:)`` if a sync or write failed, now or earlier; no mark is made then. The log is
  ///   closed all the same, and the next open finds out what arrived. ``LogError/wrongProcess`` in a child that `fork` made, where
  ///   nothing is done to the log, which stays the parent's.
  @available(*, noasync, message: "blocks; use the async form")
  public func close() throws(LogError) { try core.shutDown(orderly: true) }

  /// As the synchronous form, on a thread of its own.
  public func close() async throws {
    try await core.onOwnThread { (core) throws(LogError) in try core.shutDown(orderly: true) }
  }
}
