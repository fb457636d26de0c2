@_spi(Engine) public import StrandlineLog
internal import Synchronization

// How the state of another store becomes that of this one, in one record.
//
// The other store is a staging store: a directory `stage-<id>` inside this one's. Its visible facts are written as layers of *this* store:
// its identifier, its hash seed, and sequence numbers that this log has already given and synced, so that the numbers of what comes later
// are above all of them. A RESET names the layers as its base. Until it does nothing reaches them, and the next open removes them.

/// A layer in a store's directory that no root names yet.
@_spi(Engine) public struct StagedLayer: Hashable, Sendable {
  let entry: LayerEntry
  /// Versions of rows, index entries and definitions in it.
  public let versionCount: Int
  public var byteCount: UInt64 { entry.byteCount }
}

extension StoreEngine {
  /// Writes what is visible in `staging` as one layer, to be the bottom of the base.
  ///
  /// - Parameter shouldStop: asked every 256 versions.
  /// - Returns: nil: it was told to stop.
  func writeOut(_ staging: StoreEngine, shouldStop: () -> Bool) throws(StoreError) -> StagedLayer? {
    let stack = try staging.snapshot().state.stack
    let last = try syncedSequence()
    return try writeStaged(
      stack.cursors(usesCache: false),
      keyCountMax: stack.memory.reduce(0) { $0 + $1.versionCount } + stack.disk.reduce(0) { $0 + $1.keyCount },
      covering: 1...last, isBottom: true, shouldStop: shouldStop, where: { _ in true })
  }

  /// The last commit that no power loss takes away.
  func syncedSequence() throws(StoreError) -> UInt64 {
    let status = log.status
    if status.durable.sequence < status.last.sequence { try syncLog() }
    return max(1, log.status.durable.sequence.rawValue)
  }

  func writeStaged(
    _ cursors: [any VersionCursor], keyCountMax: Int, covering: ClosedRange<UInt64>, isBottom: Bool,
    shouldStop: () -> Bool, where isWanted: (VersionView) -> Bool
  ) throws(StoreError) -> StagedLayer? {
    var writer = try LayerWriter(
      in: directory, identifier: log.status.identifier, environment: environment, keySeed: seeds.disk,
      options: LayerOptions(keyCountMax: max(1, keyCountMax)))
    var count = 0
    do throws(StoreError) {
      let isDone = try VersionMerge.run(
        cursors, horizon: .max, isBottom: isBottom, shouldStop: { () throws(StoreError) in shouldStop() },
        output: { (version) throws(StoreError) in
          guard isWanted(version) else { return }
          count += 1
          try writer.append(
            VersionView(key: version.key, sequence: covering.upperBound, value: version.value))
        })
      guard isDone else {
        writer.abandon()
        return nil
      }
    } catch {
      writer.abandon()
      throw error
    }
    let entry = try writer.finish(
      level: 0, covering: SequenceNumber(covering.lowerBound)...SequenceNumber(covering.upperBound),
      horizon: covering.upperBound)
    return StagedLayer(entry: entry, versionCount: count)
  }

  /// Removes layers that were written out and are not wanted any more.
  func discard(_ layers: [StagedLayer]) {
    for layer in layers { directory.discard(directory.path(of: layer.entry.fileName)) }
  }

  /// Makes `layers` the whole state, with one record, if `expected` is still the last commit.
  ///
  /// - Parameters:
  ///   - layers: top first.
  ///   - willCommit: called in the lane, right before the record.
  /// - Returns: what was done, and the voided state; nil: there have been other commits, and nothing was changed.
  func adopt(
    _ layers: [StagedLayer], expecting expected: UInt64, keepCopy: Bool, copyPath: String?,
    willCommit: () -> Void
  ) throws(StoreError) -> (report: StoreResetReport, before: ReadView)? {
    let started = environment.clock.monotonicNanoseconds()
    precondition(!isInLane, "adoption inside write: adopt after it")
    var disk: [DiskLayer] = []
    for layer in layers {
      disk.append(
        try DiskLayer(
          opening: layer.entry, in: directory, identifier: log.status.identifier, cache: cache, keySeed: seeds.disk))
    }
    let layersOpened = disk
    let outcome = try gate.exclusively { () throws(StoreError) -> (StoreResetReport, ReadView)?? in
      try lane.withLock { (lane) throws(StoreError) -> (StoreResetReport, ReadView)?? in
        if gate.hasPending { return nil }
        if lane.next - 1 != expected { return .some(nil) }
        willCommit()
        let old = lane.state.stack
        let before = ReadView(Snapshot(state: lane.state, sequence: lane.next - 1))
        let stack = LayerStack(
          epoch: old.epoch + 1, seeds: seeds, memory: [MemoryLayer(seed: seeds.memory, pool: chunks)],
          disk: layersOpened)
        let state = StoreState(stack: stack, tables: Tables(try Catalog(storedIn: stack, at: .max)))
        let report = try resetLog(
          carrying: [CommitHeader(cause: .reset).encoded()], base: layers.map(\.entry), keepCopy: keepCopy,
          copyPath: copyPath)
        lane.owesDefinitions = false
        return .some((begin(state, report, instead: old, &lane), before))
      }
    }
    guard let (done, before) = outcome else { return nil }
    options.observer?.note(.reset(epoch: done.epoch))
    var report = done
    report.nanoseconds = environment.clock.monotonicNanoseconds() - started
    return (report, before)
  }
}

extension Transaction {
  /// Writes what this transaction has written so far as a layer of `store`, to lie above `base`. The transaction is to be given up then.
  @_spi(Engine) public mutating func writeOut(into store: Store, above base: StagedLayer) throws(StoreError)
    -> StagedLayer
  {
    let layer = state.stack.active
    layer.settle()
    let sequence = sequenceNumber
    let last = try store.engine.syncedSequence()
    precondition(last > base.entry.lastSequence.rawValue, "a commit lies between the layers of a base")
    let staged = try store.engine.writeStaged(
      [layer.makeCursor()], keyCountMax: layer.versionCount, covering: base.entry.lastSequence.rawValue + 1...last,
      isBottom: false, shouldStop: { false }, where: { $0.sequence == sequence })
    guard let staged else { throw .closed }
    return staged
  }
}

extension Store {
  /// As the engine's: on a thread of its own. `CancellationError` if the task was cancelled meanwhile.
  @_spi(Engine) public func writeOut(_ staging: Store) async throws -> StagedLayer {
    let (engine, other) = (engine, staging.engine)
    let stop = Atomic<Bool>(false)
    let layer = try await withTaskCancellationHandler {
      try await OwnThread.run { () throws(StoreError) in
        try engine.writeOut(other, shouldStop: { stop.load(ordering: .relaxed) })
      }
    } onCancel: {
      stop.store(true, ordering: .relaxed)
    }
    guard let layer else { throw CancellationError() }
    return layer
  }

  /// Makes `layers`, top first, the whole state, with one record; nil, with nothing changed, if `expected` is not the last commit any more.
  ///
  /// - Parameter willCommit: called in the writer lane, right before the record.
  /// - Throws: ``StoreError`` as ``reset(keepCopy:)-(Bool)``.
  @_spi(Engine) public func adopt(
    _ layers: [StagedLayer], expecting expected: SequenceNumber, keepCopy: Bool, copyPath: String?,
    willCommit: @escaping @Sendable () -> Void
  ) async throws -> (report: StoreResetReport, before: ReadView)? {
    let engine = engine
    return try await OwnThread.run { () throws(StoreError) in
      try engine.adopt(
        layers, expecting: expected.rawValue, keepCopy: keepCopy, copyPath: copyPath, willCommit: willCommit)
    }
  }

  /// Removes layers that were written out and are not wanted any more.
  @_spi(Engine) public func discard(_ layers: [StagedLayer]) { engine.discard(layers) }
}
