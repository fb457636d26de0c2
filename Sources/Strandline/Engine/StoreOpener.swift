@_spi(Engine) public import StrandlineLog

/// Opens a store: the log with its tail folded into a memory layer, the layers on disk, the tables, the declared schema.
struct StoreOpener {
  let path: String
  let options: StoreOptions

  func open(_ schema: Schema?, _ migrations: [Migration]) throws(StoreError) -> (
    engine: StoreEngine, report: StoreOpenReport
  ) {
    let started = options.log.environment.clock.monotonicNanoseconds()
    var attempt = 1
    var missing: Set<UInt64> = []
    while true {
      do throws(StoreError) {
        let engine = try assemble(&missing)
        if let schema { try engine.adopt(schema, migrations) }
        let stack = engine.lane.withLock { $0.state.stack }
        let report = StoreOpenReport(
          log: engine.log.openReport, layerCount: stack.disk.count,
          layerByteCount: stack.disk.reduce(0) { $0 + $1.entry.byteCount }, memoryByteCount: stack.active.byteCount,
          nanoseconds: options.log.environment.clock.monotonicNanoseconds() - started)
        try engine.startScrubRounds()
        engine.compactor.submit { engine in if !engine.isReadOnly { engine.compactInBackground() } }
        return (engine, report)
      } catch {
        // Beside a live writer of another process, layers may go between META and their opening.
        guard options.log.access == .readOnly, error == .generationGone, attempt < 3 else { throw error }
        attempt += 1
      }
    }
  }

  /// - Parameter missing: layers that META named and that were not there.
  private func assemble(_ missing: inout Set<UInt64>) throws(StoreError) -> StoreEngine {
    var logOptions = options.log
    let observer = options.observer
    let inner = logOptions.observer
    if observer != nil || inner != nil {
      logOptions.observer = { event in
        inner?(event)
        observer?.note(.log(event))
      }
    }
    let memorySeed = logOptions.environment.randomBits()
    let chunks = ChunkPool(byteCountMax: options.memoryLayerByteCountMax)
    var replay = StoreReplay(path: path, seed: memorySeed, chunks: chunks)
    let log: Log
    do throws(LogError) {
      log = try Log.open(at: path, options: logOptions) { (batch) throws(LogError) in try replay.take(batch) }
    } catch {
      throw StoreError(error)
    }
    let status = log.status
    let seeds = KeySeeds(memory: memorySeed, identifier: status.identifier)
    let directory = StoreDirectory(path: log.path, fileSystem: logOptions.environment.fileSystem)
    let cache = BlockCache(byteCountMax: options.cacheByteCountMax)
    var disk: [DiskLayer] = []
    var times = TimeTrail()
    for entry in status.layers {
      let layer = try openLayer(entry, directory, status.identifier, cache, seeds.disk, &missing)
      disk.append(layer)
    }
    for layer in disk.reversed() {
      for sample in layer.times { times.note(sample.milliseconds, sequence: sample.sequence) }
    }
    for sample in replay.times.samples { times.note(sample.milliseconds, sequence: sample.sequence) }
    let stack = LayerStack(epoch: status.epoch, seeds: seeds, memory: [replay.memory], disk: disk)
    let state = StoreState(stack: stack, tables: Tables(try Catalog(storedIn: stack, at: .max)))
    let compactor = try Compactor(
      hasThread: logOptions.access == .readWrite && logOptions.helpers == .threads, clock: logOptions.environment.clock,
      path: log.path)
    return StoreEngine(
      log: log, options: options, seeds: seeds, directory: directory, cache: cache, chunks: chunks, state: state,
      times: times, compactor: compactor)
  }

  private func openLayer(
    _ entry: LayerEntry, _ directory: StoreDirectory, _ identifier: StoreIdentifier, _ cache: BlockCache,
    _ seed: UInt64,
    _ missing: inout Set<UInt64>
  ) throws(StoreError) -> DiskLayer {
    do throws(StoreError) {
      return try DiskLayer(opening: entry, in: directory, identifier: identifier, cache: cache, keySeed: seed)
    } catch {
      // A layer that is not there: of a root that a writer beside us has replaced since. Where META, read again, still names it, it is lost.
      let path = directory.path(of: entry.fileName)
      guard options.log.access == .readOnly, case .some(.none) = try? directory.fileSystem.statusIfPresent(at: path)
      else {
        throw error
      }
      guard missing.insert(entry.id).inserted else { throw error }
      throw .generationGone
    }
  }
}

/// What opening a store found and did.
public struct StoreOpenReport: Hashable, Sendable {
  /// What the log found: what was cut, replayed, finished, removed.
  public var log: OpenReport
  /// Layers on disk, and their bytes. None of their blocks was read.
  public var layerCount: Int
  public var layerByteCount: UInt64
  /// Bytes of the memory layer that the tail of the log became.
  public var memoryByteCount: Int
  /// From the call to the return.
  public var nanoseconds: UInt64
}
