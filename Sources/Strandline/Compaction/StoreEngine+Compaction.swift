@_spi(Engine) internal import StrandlineLog

// Writing out and merging layers. Each step ends with a new root in META; a crash before that leaves files that the next open removes,
// and a crash after it leaves nothing to do.

extension StoreEngine {
  // MARK: Freezing

  /// Puts a fresh memory layer on top once the active one is full. Called in the lane; true if there is work for the compactor.
  func freezeIfFull(_ lane: inout Lane) -> Bool {
    let stack = lane.state.stack
    guard options.compactsInBackground, stack.active.byteCount >= options.memoryLayerByteCountMax else { return false }
    if stack.memory.count > 1 {
      gate.stall(true)
    } else {
      freeze(&lane)
    }
    return true
  }

  /// Called in the lane.
  func freeze(_ lane: inout Lane) {
    guard !lane.state.stack.active.isEmpty else { return }
    lane.frozenThrough.insert(lane.next - 1, at: 0)
    // As many keys again, unless one large commit was all there was.
    let keyCount = min(lane.state.stack.active.versionCount, options.memoryLayerByteCountMax / 256)
    let fresh = MemoryLayer(seed: seeds.memory, expectedKeyCount: keyCount, pool: chunks)
    lane.state = lane.state.with(lane.state.stack.freezing(into: fresh))
    publish(lane.state)
  }

  // MARK: Steps

  /// What the compactor's thread does when it is woken. A step that fails keeps none of the others from being made.
  func compactInBackground() {
    var failures: [StoreError] = []
    func attempt(_ step: () throws(StoreError) -> Void) {
      guard !compactor.shouldStop, !failures.contains(.closed) else { return }
      do throws(StoreError) {
        try step()
      } catch {
        if !failures.contains(error) { failures.append(error) }
      }
    }
    attempt { () throws(StoreError) in try writeOutFrozen(effort: .fast) }
    attempt { () throws(StoreError) in try mergeInBackground() }
    attempt { () throws(StoreError) in try releaseHistory() }
    attempt { () throws(StoreError) in try buildIndexes() }
    guard !compactor.shouldStop, !failures.contains(.closed) else { return }
    for failure in failures { options.observer?.note(.compactionFailed(failure)) }
    let pause = trouble.withLock { trouble in
      trouble.noteRound(failed: !failures.isEmpty)
      return trouble.pause(writersWait: gate.writeOutFailure != nil)
    }
    // Nothing can be written any more before the store is opened again.
    guard !failures.isEmpty, log.status.poison == nil else { return }
    compactor.retry(at: environment.clock.monotonicNanoseconds() + pause)
  }

  /// Has the compactor write everything into one layer, and waits for it.
  func compactNow() throws(StoreError) {
    precondition(!isInLane, "compact inside write: compact after it")
    try onCompactor { (engine) throws(StoreError) in try engine.compactFully() }
  }

  /// Runs `body` on the compactor's thread and waits for it.
  func onCompactor(_ body: @escaping @Sendable (StoreEngine) throws(StoreError) -> Void) throws(StoreError) {
    if isReadOnly { throw .readOnly }
    let outcome = Waiter()
    let isAccepted = compactor.submit { engine in
      do throws(StoreError) {
        try body(engine)
        outcome.monitor.change { $0 = .success(()) }
      } catch {
        outcome.monitor.change { $0 = .failure(error) }
      }
    }
    guard isAccepted else { throw .closed }
    try outcome.monitor.wait { $0 }.get()
  }

  private final class Waiter: Sendable {
    let monitor = Monitor<Result<Void, StoreError>?>(nil)
  }

  /// Writes everything into one layer. On the compactor's thread.
  private func compactFully() throws(StoreError) {
    lane.withLock { lane in freeze(&lane) }
    try writeOutFrozen(effort: .thorough)
    let stack = lane.withLock { $0.state.stack }
    var failure: StoreError?
    if stack.disk.count > 1 || stack.disk.first.map(hasGarbage) ?? false {
      do throws(StoreError) { _ = try merge(0..<stack.disk.count, effort: .thorough) } catch { failure = error }
    }
    // The log goes also where a layer is damaged.
    try releaseHistory(leavesActive: true)
    if let failure { throw failure }
  }

  private var mergeUnit: UInt64 { UInt64(options.memoryLayerByteCountMax) }

  private func mergeInBackground() throws(StoreError) {
    while true {
      let layers = lane.withLock { $0.state.stack.disk }
      let damaged = trouble.withLock { $0.damagedLayers }
      let range = MergePolicy.next(
        byteCounts: layers.map(\.entry.byteCount), unit: mergeUnit,
        around: layers.indices.filter { damaged.contains(layers[$0].entry.id) })
      guard let range else { return }
      do throws(StoreError) {
        guard try merge(range, effort: .fast) else { return }
      } catch {
        guard case .corrupt(let report) = error,
          let layer = layers[range].first(where: { $0.reader.path == report.file }),
          trouble.withLock({ $0.noteDamage(of: layer.entry.id) })
        else { throw error }
        options.observer?.note(.compactionFailed(error))
      }
    }
  }

  /// Whether rewriting the bottom layer alone would drop anything.
  private func hasGarbage(_ layer: DiskLayer) -> Bool {
    layer.deleteCount > 0 || layer.horizon < min(historyHorizon, layer.entry.lastSequence.rawValue)
  }

  /// Writes the oldest frozen memory layer to disk. False: there is none.
  private func writeOutOldestFrozen(effort: LayerOptions.Effort) throws(StoreError) -> Bool {
    let (stack, through) = lane.withLock { ($0.state.stack, $0.frozenThrough.last) }
    guard stack.memory.count > 1, let frozen = stack.memory.last, through != nil else { return false }
    guard gate.waitForCommits(through: frozen.lastSequence ?? 0) else { throw .closed }
    // Commits that failed meanwhile have taken numbers back, and perhaps all that was in the layer.
    guard let last = lane.withLock({ $0.frozenThrough.last }) else { return false }
    guard !frozen.isEmpty else {
      replaceOldestFrozen(of: stack, by: nil)
      return true
    }
    // Of a salvaged store the log may be replayed over layers that cover it, to make up for what they lost.
    let first = min((stack.disk.first?.entry.lastSequence.rawValue ?? 0) + 1, last)
    let step = try build(
      [frozen.makeCursor()], level: 0, covering: first...last, horizon: min(historyHorizon, last),
      isBottom: stack.disk.isEmpty, versionCountMax: frozen.versionCount, effort: effort,
      tables: settledTables(of: stack))
    guard let step else { throw .closed }
    let entries = (step.layer.map { [$0.entry] } ?? []) + stack.disk.map(\.entry)
    guard try putInForce(entries, through: last, epoch: stack.epoch, made: step.layer) else { return true }
    replaceOldestFrozen(of: stack, by: step.layer)
    pace.withLock { $0.noteWrittenOut(byteCount: UInt64(frozen.byteCount), nanoseconds: step.nanoseconds) }
    note(step, inputs: 1, isFromMemory: true, inputByteCount: UInt64(frozen.byteCount))
    return true
  }

  private func replaceOldestFrozen(of stack: LayerStack, by layer: DiskLayer?) {
    lane.withLock { lane in
      guard lane.state.stack.epoch == stack.epoch else { return }
      lane.frozenThrough.removeLast()
      lane.state = lane.state.with(lane.state.stack.replacingOldestFrozen(by: layer))
      publish(lane.state)
    }
    gate.noteWrittenOut()
  }

  /// Writes all frozen memory layers to disk. Writers who wait for that are told if it fails.
  private func writeOutFrozen(effort: LayerOptions.Effort) throws(StoreError) {
    do throws(StoreError) {
      while try writeOutOldestFrozen(effort: effort) {}
    } catch {
      gate.noteWriteOut(failure: error)
      throw error
    }
    gate.noteWriteOut(failure: nil)
  }

  /// A merge takes seconds, and a frozen layer that waits for its end would make writers wait.
  private func writeOutFrozenMeanwhile() throws(StoreError) {
    guard published.withLock({ $0.snapshot.state.stack.memory.count > 1 }) else { return }
    try writeOutFrozen(effort: .fast)
  }

  /// Merges layers on disk into one. False: it was told to stop, or a reset made it useless.
  private func merge(_ range: Range<Int>, effort: LayerOptions.Effort) throws(StoreError) -> Bool {
    let state = lane.withLock { $0.state }
    let layers = Array(state.stack.disk[range])
    guard let top = layers.first, let bottom = layers.last else { return false }
    let isBottom = range.upperBound == state.stack.disk.count
    let size = layers.reduce(UInt64(0)) { $0 + $1.entry.byteCount }
    let last = top.entry.lastSequence.rawValue
    let horizon = max(layers.reduce(0) { max($0, $1.horizon) }, min(historyHorizon, last))
    let step = try build(
      layers.map { $0.makeCursor() }, level: MergePolicy.level(byteCount: size, unit: mergeUnit),
      covering: bottom.entry.firstSequence.rawValue...last, horizon: horizon, isBottom: isBottom,
      versionCountMax: layers.reduce(0) { $0 + $1.versionCount }, dictionary: Self.dictionary(of: layers),
      effort: effort, tables: settledTables(of: state.stack), meanwhile: writeOutFrozenMeanwhile)
    guard let step else { return false }
    // Layers that were written out meanwhile lie on top; those below are as they were, unless there was a reset.
    let now = lane.withLock { $0.state.stack }
    let added = now.epoch == state.stack.epoch ? now.disk.count - state.stack.disk.count : 0
    let place = range.lowerBound + added..<range.upperBound + added
    var disk = added > 0 ? now.disk : state.stack.disk
    disk.replaceSubrange(place, with: step.layer.map { [$0] } ?? [])
    guard try putInForce(disk.map(\.entry), through: nil, epoch: state.stack.epoch, made: step.layer) else {
      return false
    }
    retire(layers)
    lane.withLock { lane in
      guard lane.state.stack.epoch == state.stack.epoch else { return }
      lane.state = lane.state.with(lane.state.stack.replacing(place, by: step.layer))
      publish(lane.state)
    }
    note(step, inputs: layers.count, isFromMemory: false, inputByteCount: size)
    return true
  }

  /// What a merge of `layers` is compressed against: what most of it was before.
  private static func dictionary(of layers: [DiskLayer]) -> LayerOptions.Dictionary {
    guard let largest = layers.max(by: { $0.byteCount < $1.byteCount }), !largest.dictionary.isEmpty else {
      return .sampled
    }
    return .given(largest.dictionary)
  }

  // MARK: Building

  private struct Step {
    /// Nil where nothing was left to write.
    var layer: DiskLayer?
    var versionCount: UInt64
    var nanoseconds: UInt64
  }

  /// Writes the merge of `cursors` into a new layer file and opens it. Nil: told to stop.
  private func build(
    _ cursors: [any VersionCursor], level: UInt8, covering: ClosedRange<UInt64>, horizon: UInt64, isBottom: Bool,
    versionCountMax: Int, dictionary: LayerOptions.Dictionary = .sampled, effort: LayerOptions.Effort,
    tables: Tables?,
    meanwhile: () throws(StoreError) -> Void = {}
  ) throws(StoreError) -> Step? {
    let started = environment.clock.monotonicNanoseconds()
    // No root can be written for it.
    if let poison = log.status.poison { throw .poisoned(first: poison, buffered: log.status.bufferedCommitCount) }
    // No layer may hold what a sync of the log has not covered.
    if log.status.durable.sequence.rawValue < covering.upperBound { try syncLog() }
    var writer = try LayerWriter(
      in: directory, identifier: log.status.identifier, environment: environment, keySeed: seeds.disk,
      options: LayerOptions(keyCountMax: versionCountMax, dictionary: dictionary, effort: effort))
    var count: UInt64 = 0
    do throws(StoreError) {
      let isDone = try VersionMerge.run(
        cursors, horizon: horizon, isBottom: isBottom,
        shouldStop: { () throws(StoreError) in
          try meanwhile()
          return compactor.shouldStop
        },
        output: { (version) throws(StoreError) in
          guard tables?.keeps(version.key) ?? true else { return }
          count += 1
          try writer.append(version)
        })
      guard isDone else {
        writer.abandon()
        return nil
      }
    } catch {
      writer.abandon()
      throw error
    }
    guard count > 0 else {
      writer.abandon()
      return Step(layer: nil, versionCount: 0, nanoseconds: environment.clock.monotonicNanoseconds() - started)
    }
    let entry = try writer.finish(
      level: level, covering: SequenceNumber(covering.lowerBound)...SequenceNumber(covering.upperBound),
      horizon: horizon,
      times: times.withLock { $0.samples })
    let layer: DiskLayer
    do throws(StoreError) {
      layer = try DiskLayer(
        opening: entry, in: directory, identifier: log.status.identifier, cache: cache, keySeed: seeds.disk)
    } catch {
      directory.discard(directory.path(of: entry.fileName))
      throw error
    }
    return Step(layer: layer, versionCount: count, nanoseconds: environment.clock.monotonicNanoseconds() - started)
  }

  /// The tables as of the newest commit that is acknowledged and of which no history is kept: what was dropped by then nobody can see.
  /// Nil: they cannot be read just now. Then nothing is dropped, for a damaged block must not keep memory from being written out.
  private func settledTables(of stack: LayerStack) -> Tables? {
    let acknowledged = published.withLock { $0.snapshot.sequence }
    do throws(StoreError) {
      return Tables(try Catalog(storedIn: stack, at: max(stack.horizon, min(historyHorizon, acknowledged))))
    } catch {
      return nil
    }
  }

  func syncLog() throws(StoreError) {
    do throws(LogError) { try log.sync() } catch { throw StoreError(error) }
  }

  /// Has META name the layers `entries`; replay begins behind `sequence`, or where it does now. False: a reset came in between, and `layer`,
  /// which was made for this, is gone.
  private func putInForce(
    _ entries: [LayerEntry], through sequence: UInt64?, epoch: UInt64, made layer: DiskLayer?
  ) throws(StoreError) -> Bool {
    do throws(LogError) {
      let anchor = try sequence.map { (sequence) throws(LogError) in try ownPosition(of: SequenceNumber(sequence)) }
      try log.publishRoot(layers: entries, anchor: anchor, epoch: epoch)
      return true
    } catch {
      let status = log.status
      if status.epoch == epoch, status.poison != nil {
        // META may name the new layer or not. Whoever opens the store next knows, and removes what it does not name.
        throw StoreError(error)
      }
      // META is as it was.
      if let layer { directory.discard(directory.path(of: layer.entry.fileName)) }
      // A reset in between also takes away the commit that replay was to begin behind.
      guard status.epoch != epoch else { throw StoreError(error) }
      return false
    }
  }

  /// Of a commit that this store has written and not released.
  private func ownPosition(of sequence: SequenceNumber) throws(LogError) -> Position {
    do throws(LogError) {
      return try log.position(of: sequence)
    } catch {
      switch error {
      // The files are not those that were written.
      case .historyTrimmed, .historyForked:
        throw .ioFailed(IOFailure(operation: .read, path: log.path, errno: .staleFile))
      default: throw error
      }
    }
  }

  private func note(_ step: Step, inputs: Int, isFromMemory: Bool, inputByteCount: UInt64) {
    options.observer?.note(
      .compacted(
        CompactionStep(
          inputLayerCount: inputs, isFromMemory: isFromMemory, inputByteCount: inputByteCount,
          outputByteCount: step.layer?.entry.byteCount ?? 0, versionCount: step.versionCount,
          nanoseconds: step.nanoseconds)))
  }

  // MARK: History

  /// Versions that a newer one at or below this replaced need not be kept.
  var historyHorizon: UInt64 {
    switch options.history {
    case .none: return .max
    case .commits(let count):
      let last = published.withLock { $0.snapshot.sequence }
      return last > count ? last - count : 0
    case .age(let age):
      let milliseconds = age.components.seconds.multipliedReportingOverflow(by: 1000)
      let oldest = environment.clock.wallMilliseconds().subtractingReportingOverflow(milliseconds.partialValue)
      // So old that everything is younger.
      if milliseconds.overflow || oldest.overflow { return 0 }
      return times.withLock { $0.sequence(before: oldest.partialValue) }
    case .bytes(let limit):
      var rest = limit
      // The segment that is written to stays, however large.
      var first: SequenceNumber?
      for extent in log.segmentExtents.reversed() {
        guard first == nil || extent.byteCount <= rest else { return (first?.rawValue ?? 1) - 1 }
        rest -= min(rest, extent.byteCount)
        first = extent.first
      }
      return 0
    }
  }

  /// Removes segments of the log that neither an open nor the history needs.
  ///
  /// - Parameter leavesActive: whether the active segment goes too where none of its commits is needed.
  private func releaseHistory(leavesActive: Bool = false) throws(StoreError) {
    let horizon = historyHorizon
    let needed = horizon == .max ? SequenceNumber.max : SequenceNumber(horizon + 1)
    do throws(LogError) {
      try log.releaseSegments(before: needed, leavesActive: leavesActive)
    } catch {
      throw StoreError(error)
    }
  }

  /// Layers that no root names any more and that views may still hold.
  func retire(_ layers: [DiskLayer]) {
    retired.withLock { known in
      known.removeAll { $0.layer == nil }
      known += layers.map { RetiredLayer(layer: $0) }
    }
  }

  /// Bytes on disk that only held views keep.
  var pinnedByteCount: UInt64 {
    retired.withLock { known in known.reduce(0) { $0 + ($1.layer?.entry.byteCount ?? 0) } }
  }
}

/// A layer that goes with its last view.
struct RetiredLayer {
  weak var layer: DiskLayer?
}
