internal import Glibc
@_spi(Engine) internal import StrandlineLog
internal import Synchronization

/// The running store behind ``Store``: the log, the writer lane, the state that readers see, and compaction.
final class StoreEngine: @unchecked Sendable {
  // Sendable: what changes is behind `lane`, `published` and `gate`.

  /// What the holder of the lane works on: the newest state, commits on their way to the disk included.
  struct Lane {
    /// The number of the next commit.
    var next: UInt64
    var state: StoreState
    /// The last commit in each frozen memory layer, the newest first.
    var frozenThrough: [UInt64] = []
    /// The log does not hold the tables' definitions: the next commit begins with them.
    var owesDefinitions = false
  }

  struct Published {
    var snapshot: Snapshot
    var isClosed = false
    /// What a write or sync failed with, after which no commit comes any more.
    var poison: StoreError?
    var waiters = NewsWaiters()
  }

  let log: Log
  let options: StoreOptions
  let seeds: KeySeeds
  let directory: StoreDirectory
  let cache: BlockCache
  /// Memory of layers that were written out, for the next ones.
  let chunks: ChunkPool
  let gate = WriteGate()
  let lane: Lock<Lane>
  /// What readers see.
  let published: Lock<Published>
  let times: Lock<TimeTrail>
  let retired = Lock<[RetiredLayer]>([])
  let pace = Lock(WritePace())
  let trouble = Lock(CompactionTrouble())
  let waits = Lock(WriteWaits())
  /// The thread inside the lane, to tell a write within a write from one beside it.
  private let laneOwner = Atomic<UInt>(0)
  /// Writes out and merges layers, fills indexes; nil for a read-only store.
  let compactor: Compactor
  /// Walks over everything that are under way, and the thread that begins one again and again.
  let scrubbers = Lock<[ObjectIdentifier: Scrubber]>([:])
  let scrubThread = Lock<HelperThread?>(nil)

  var isReadOnly: Bool { options.log.access == .readOnly }
  var environment: Environment { options.log.environment }

  init(
    log: Log, options: StoreOptions, seeds: KeySeeds, directory: StoreDirectory, cache: BlockCache, chunks: ChunkPool,
    state: StoreState, times: TimeTrail, compactor: Compactor
  ) {
    self.log = log
    self.options = options
    self.seeds = seeds
    self.directory = directory
    self.cache = cache
    self.chunks = chunks
    let last = log.status.last.sequence.rawValue
    lane = Lock(Lane(next: last + 1, state: state))
    published = Lock(Published(snapshot: Snapshot(state: state, sequence: last)))
    self.times = Lock(times)
    self.compactor = compactor
    compactor.serve(self)
  }

  deinit { endHelpers() }

  /// Ends what goes on in the background, for good.
  func endHelpers() {
    compactor.end()
    endScrubs()
  }

  // MARK: Reading

  /// What is acknowledged now.
  func snapshot() throws(StoreError) -> Snapshot {
    try published.withLock { (seen) throws(StoreError) in
      if seen.isClosed { throw .closed }
      return seen.snapshot
    }
  }

  // MARK: Writing

  /// A commit that is on its way.
  struct Queued {
    var commit: QueuedCommit
    var token: UInt64
    var sequence: UInt64
    /// For how many nanoseconds its writer is to be held up, once it is as durable as asked.
    var slowdown: UInt64 = 0
    /// The compactor has something to do.
    var isFull: Bool
  }

  /// Runs `body` in the lane and queues what it wrote. Nil: it wrote nothing.
  ///
  /// - Parameter waits: for compaction, if the memory layer is full. The compactor itself must not.
  func transact<Result, Failure: Error>(
    _ header: CommitHeader, durability: Durability, waits: Bool = true,
    continuation: UnsafeContinuation<Void, Never>? = nil, _ body: (inout Transaction) throws(Failure) -> Result
  ) throws(WriteError<Failure>) -> (result: Result, queued: Queued?) {
    while true {
      if waits {
        precondition(!isInLane, "write inside write: use the transaction at hand, or write after it")
        do throws(StoreError) { try passGate() } catch { throw .store(error) }
      }
      let outcome = try transactAtOnce(
        header, durability: durability, minds: waits, continuation: continuation, body)
      if let outcome { return outcome }
    }
  }

  /// As ``transact(_:durability:waits:continuation:_:)``, without waiting for compaction or a reset: nil, with `body` not run, if there is one
  /// to be waited for.
  ///
  /// - Parameter minds: false: the compactor itself, which must not wait, is at work.
  func transactAtOnce<Result, Failure: Error>(
    _ header: CommitHeader, durability: Durability, minds: Bool = true,
    continuation: UnsafeContinuation<Void, Never>? = nil, _ body: (inout Transaction) throws(Failure) -> Result
  ) throws(WriteError<Failure>) -> (result: Result, queued: Queued?)? {
    precondition(!isInLane, "write inside write: use the transaction at hand, or write after it")
    return try lane.withLock { (lane) throws(WriteError<Failure>) -> (Result, Queued?)? in
      // Whoever was in the lane in front of this may have filled the layer.
      if minds {
        let passes: Bool
        do throws(StoreError) { passes = try gate.passAtOnce() } catch { throw .store(error) }
        if !passes { return nil }
      }
      return try transact(&lane, header, durability, continuation, body)
    }
  }

  private func transact<Result, Failure: Error>(
    _ lane: inout Lane, _ header: CommitHeader, _ durability: Durability,
    _ continuation: UnsafeContinuation<Void, Never>?, _ body: (inout Transaction) throws(Failure) -> Result
  ) throws(WriteError<Failure>) -> (Result, Queued?) {
    laneOwner.store(Self.thisThread, ordering: .relaxed)
    defer { laneOwner.store(0, ordering: .relaxed) }
    var transaction = Transaction(
      engine: self, state: lane.state, sequence: lane.next, header: header, owesDefinitions: lane.owesDefinitions)
    let result: Result
    do throws(Failure) {
      result = try body(&transaction)
      transaction.endQueries()
    } catch {
      transaction.endQueries()
      transaction.undo()
      throw .body(error)
    }
    if let failure = transaction.failure {
      transaction.undo()
      throw .store(failure)
    }
    guard let draft = transaction.takeDraft() else { return (result, nil) }
    let before = lane.state.tables
    if transaction.changesTables { adopt(transaction.state.tables, &lane) }
    do throws(StoreError) {
      return (result, try enqueue(draft, before, transaction.mark, &lane, durability, continuation))
    } catch {
      throw .store(error)
    }
  }

  /// Whether the calling thread is inside a write of this store.
  var isInLane: Bool { laneOwner.load(ordering: .relaxed) == Self.thisThread }

  private static var thisThread: UInt { pthread_self() }

  /// Gives the commit its number and hands it to the log.
  private func enqueue(
    _ draft: consuming CommitDraft, _ before: Tables, _ mark: MemoryLayer.Mark, _ lane: inout Lane,
    _ durability: Durability, _ continuation: UnsafeContinuation<Void, Never>?
  ) throws(StoreError) -> Queued {
    let sequence = lane.next
    let token = gate.begin(sequence, tablesBefore: before)
    let (byteCount, time) = (draft.byteCount, draft.time)
    do throws(LogError) {
      let commit = try log.enqueue(
        draft, durability: durability, expecting: SequenceNumber(sequence), continuation: continuation)
      lane.next += 1
      lane.owesDefinitions = false
      times.withLock { $0.note(time, sequence: sequence) }
      let isFull = freezeIfFull(&lane)
      return Queued(
        commit: commit, token: token, sequence: sequence, slowdown: slowdown(&lane, byteCount: byteCount),
        isFull: isFull)
    } catch {
      if let pending = gate.fail(token) {
        lane.state.stack.active.rollBack(to: mark)
        adopt(pending.tablesBefore, &lane)
      }
      throw StoreError(error)
    }
  }

  /// Waits for a queued commit and makes it visible.
  func finish(_ queued: Queued) throws(StoreError) -> Position {
    defer { if queued.isFull { compactor.submit { $0.compactInBackground() } } }
    do throws(LogError) {
      let position = try log.finish(queued.commit)
      show { $0.snapshot.sequence = max($0.snapshot.sequence, queued.sequence) }
      gate.end(queued.token)
      return position
    } catch {
      throw abandon(queued, error)
    }
  }

  /// Takes a commit that the log refused, and all behind it, back out of the state.
  private func abandon(_ queued: Queued, _ error: LogError) -> StoreError {
    // Poisoned: nobody knows what arrived. The commits stay invisible, and nothing more is written.
    if case .poisoned = error {
      gate.end(queued.token)
      show { $0.poison = StoreError(error) }
      return StoreError(error)
    }
    lane.withLock { lane in
      guard let first = gate.fail(queued.token) else { return }
      for layer in lane.state.stack.memory { layer.removeVersions(from: first.sequence) }
      lane.next = first.sequence
      // Definitions may have been among what failed; twice does no harm.
      lane.owesDefinitions = true
      for index in lane.frozenThrough.indices {
        lane.frozenThrough[index] = min(lane.frozenThrough[index], first.sequence - 1)
      }
      adopt(first.tablesBefore, &lane)
    }
    if case .outOfTurn = error { return gate.commitFailure ?? StoreError(error) }
    let failure = StoreError(error)
    gate.noteCommit(failure: failure)
    return failure
  }

  /// Puts `tables` in force for writers and readers.
  func adopt(_ tables: Tables, _ lane: inout Lane) {
    lane.state = lane.state.with(tables)
    publish(lane.state)
  }

  /// Shows readers another stack or tables; what they have seen of commits stays.
  func publish(_ state: StoreState) {
    show { $0.snapshot.state = state }
  }
}
