internal import Glibc

/// The running log behind ``Log``: the lane, the writer that its holder may use, and what everybody may see.
final class LogCore: WriteLaneOwner, @unchecked Sendable {
  let directory: StoreDirectory
  let options: LogOptions
  let published: Lock<Published>
  private let lane = WriteLane()
  /// Touched only while the lane is held; nil if the log was opened read-only.
  private let writer: Writer?
  private let directoryLock: DirectoryLock?
  private let processID = getpid()
  private let helpers: LogHelpers?

  init(
    directory: StoreDirectory, options: LogOptions, published: Published, writer: Writer, directoryLock: DirectoryLock,
    helpers: LogHelpers
  ) {
    self.directory = directory
    self.options = options
    self.published = Lock(published)
    self.writer = writer
    self.directoryLock = directoryLock
    self.helpers = helpers
    helpers.serve(self)
  }

  init(readOnly directory: StoreDirectory, options: LogOptions, published: Published) {
    self.directory = directory
    self.options = options
    self.published = Lock(published)
    writer = nil
    directoryLock = nil
    helpers = nil
  }

  var isReadOnly: Bool { writer == nil }
  /// Leads groups of async commits and runs timed syncs and marks; nil where callers do it.
  var committer: HelperThread? { helpers?.committer }
  var environment: Environment { options.environment }

  // MARK: The lane

  func enterAsLeader() { lane.enterAsLeader() }
  func leave() { lane.leave() }

  /// Runs `body` with the lane held by the caller alone. Blocks.
  func withWriter<Result>(_ body: (Writer) throws(LogError) -> Result) throws(LogError) -> Result {
    try checkProcess()
    guard let writer else { throw .readOnly }
    lane.enterExclusively()
    defer { lane.leave() }
    try checkOpen(writer)
    defer { publish(writer) }
    return try body(writer)
  }

  func checkProcess() throws(LogError) {
    guard getpid() == processID else { throw .wrongProcess }
  }

  private func checkOpen(_ writer: Writer) throws(LogError) {
    if published.withLock({ $0.isClosed }) { throw .closed }
    if let error = writer.poisonError { throw error }
  }

  /// Refuses what cannot succeed before any work is done for it.
  func checkIsWritable() throws(LogError) {
    try checkProcess()
    if isReadOnly { throw .readOnly }
    if published.withLock({ $0.isClosed }) { throw .closed }
  }

  var status: LogStatus {
    published.withLock { state in
      LogStatus(
        identifier: state.root.identifier, incarnation: state.root.incarnation, epoch: state.epoch, last: state.last,
        durable: state.durable, resetSequence: state.resetSequence,
        firstLiveOrdinal: state.segments.first?.ordinal ?? 0, lastOrdinal: state.segments.last?.ordinal ?? 0,
        layers: state.root.layers, poison: state.poison, bufferedCommitCount: state.bufferedCommitCount,
        counters: state.counters)
    }
  }

  // MARK: Groups

  func write(_ members: [PendingCommit]) {
    guard let writer else { return }
    do throws(LogError) {
      try checkOpen(writer)
      if members.contains(where: { !$0.frames.isEmpty }) { try writer.beginWriting() }
      try writeGroup(members, writer)
    } catch {
      for member in members { member.outcome = .failure(error) }
    }
    publish(writer)
  }

  /// Composes, writes and, if anybody asked for it, syncs. Members that fail by themselves get their own outcome; a thrown error is
  /// everybody's.
  private func writeGroup(_ members: [PendingCommit], _ writer: Writer) throws(LogError) {
    var wantsSync = isTimedSyncDue(writer)
    var commitCount = 0
    let writtenBefore = writer.counters.writtenByteCount
    if options.alignsCommits, members.contains(where: { !$0.frames.isEmpty }) { try writer.align() }
    for member in members {
      do throws(LogError) {
        if !member.frames.isEmpty {
          if let expected = member.expected, expected != writer.chain.sequence.next {
            throw LogError.outOfTurn(expected: expected, next: writer.chain.sequence.next)
          }
          try writer.compose(member.frames)
          commitCount += 1
        }
        member.outcome = .success(writer.position)
        if member.durability == .synced { wantsSync = true }
      } catch {
        if writer.poison != nil { throw error }
        member.outcome = .failure(error)
      }
    }
    try writer.flush()
    let started = environment.clock.monotonicNanoseconds()
    if wantsSync {
      try writer.sync()
    } else {
      writer.leaveUnsynced(commitCount)
    }
    let ended = environment.clock.monotonicNanoseconds()
    writer.counters.commits += commitCount
    writer.counters.groups += 1
    let byteCount = Int(writer.counters.writtenByteCount - writtenBefore)
    options.observer?(
      .groupWritten(commitCount: commitCount, byteCount: byteCount, syncNanoseconds: wantsSync ? ended &- started : 0))
    writer.noteTail(groupByteCount: byteCount)
    scheduleTimers(writer, after: ended)
  }

  // MARK: Timers

  private func isTimedSyncDue(_ writer: Writer) -> Bool {
    writer.unsyncedCommitCount > 0
      && environment.clock.monotonicNanoseconds() &- writer.unsyncedSince >= options.bufferedSyncInterval.nanoseconds
  }

  private func scheduleTimers(_ writer: Writer, after now: UInt64) {
    guard let committer else { return }
    if writer.unsyncedCommitCount > 0 {
      committer.wake(at: writer.unsyncedSince &+ options.bufferedSyncInterval.nanoseconds)
    }
    if let idle = options.idleMarkInterval { committer.wake(at: now &+ idle.nanoseconds) }
    lastGroup = now
  }

  /// When the last group was written. Touched only while the lane is held.
  private var lastGroup: UInt64 = 0

  /// When META last said how far is synced. Touched only while the lane is held.
  private var lastRootMark: UInt64 = 0

  /// While commits never pause, META says how far is synced once in so many intervals of the mark.
  private static let rootMarkFactor: UInt64 = 10

  /// Syncs what waits for it, and marks a pause. Runs on the committer thread.
  func timersFired() {
    guard let writer else { return }
    lane.enterExclusively()
    defer { lane.leave() }
    guard !published.withLock({ $0.isClosed }), writer.poison == nil else { return }
    defer { publish(writer) }
    let now = environment.clock.monotonicNanoseconds()
    do throws(LogError) {
      if writer.unsyncedCommitCount > 0 {
        if isTimedSyncDue(writer) {
          try writer.sync()
        } else {
          committer?.wake(at: writer.unsyncedSince &+ options.bufferedSyncInterval.nanoseconds)
        }
      }
      if let idle = options.idleMarkInterval, lastGroup > 0 {
        if now &- lastGroup >= idle.nanoseconds {
          try writer.mark()
          try writer.markRoot()
          lastRootMark = now
        } else {
          if now &- lastRootMark >= Self.rootMarkFactor &* idle.nanoseconds {
            try writer.markRoot()
            lastRootMark = now
          }
          committer?.wake(at: lastGroup &+ idle.nanoseconds)
        }
      }
    } catch {
      // A failed sync has poisoned the log, and the next caller is told. A mark that found no space was no promise.
    }
  }

  // MARK: What everybody sees

  /// Copies the writer's state to where readers look, and wakes those who wait for more. The lane is held.
  private func publish(_ writer: Writer) {
    let woken = published.withLock { state in
      state.epoch = writer.syncedPosition.epoch
      // What was composed for a write that failed was never acknowledged.
      if writer.poison == nil {
        state.last = writer.position
        state.resetSequence = writer.chain.reset.sequence
      }
      state.bufferedCommitCount = writer.unsyncedCommitCount
      state.poison = writer.poison
      state.root = writer.root.current
      state.counters = writer.counters
      state.segments += writer.takeBegun()
      let isNews = writer.syncedPosition != state.durable || writer.poison != nil
      state.durable = writer.syncedPosition
      state.durableLSN = writer.synced
      guard isNews, !state.waiting.isEmpty else { return [UnsafeContinuation<Void, Never>]() }
      let waiting = Array(state.waiting.values)
      state.waiting = [:]
      return waiting
    }
    for continuation in woken { continuation.resume() }
  }

  // MARK: End

  /// Ends the log. With `orderly` everything is synced and META says so; else descriptors and locks are freed and nothing is
  /// written.
  func shutDown(orderly: Bool) throws(LogError) {
    guard getpid() == processID else {
      // A child process must not write to the parent's log nor take its files away, and what another thread of the parent held when
      // the child was made never comes free here.
      directoryLock?.release()
      if orderly { throw .wrongProcess }
      return
    }
    if orderly, writer != nil { completeReset() }
    lane.enterExclusively()
    let wasOpen = published.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    var failure: LogError?
    if let writer {
      if wasOpen, orderly {
        failure = writer.poisonError
        if failure == nil {
          do throws(LogError) { try closeCleanly(writer) } catch { failure = error }
        }
      }
      writer.space.close()
    }
    lane.leave()
    let waiting = published.withLock { state in
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume() }
    helpers?.stop()
    directoryLock?.release()
    if let failure { throw failure }
  }

  private func closeCleanly(_ writer: Writer) throws(LogError) {
    guard !writer.root.current.closedCleanly else { return }
    do throws(LogError) {
      try writer.mark()
    } catch {
      // On a full disk META alone vouches for the last group: it can be written in place.
      guard case .outOfSpace = error else { throw error }
      try writer.sync()
    }
    try writer.giveSpaceBack()
    let tag = writer.chain.tag
    try writer.writeRoot { slot in
      slot.closedCleanly = true
      slot.tailTag = tag
    }
  }
}

@_spi(Engine) extension Duration {
  public var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
  }
}
