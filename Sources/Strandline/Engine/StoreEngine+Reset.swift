@_spi(Engine) public import StrandlineLog

extension StoreEngine {
  /// Voids everything but the tables' definitions.
  func reset(keepCopy: Bool) throws(StoreError) -> StoreResetReport {
    let started = environment.clock.monotonicNanoseconds()
    precondition(!isInLane, "reset inside write: reset after it")
    let report = try gate.exclusively { () throws(StoreError) in
      try lane.withLock { (lane) throws(StoreError) in
        gate.hasPending ? nil : try reset(&lane, keepCopy: keepCopy)
      }
    }
    options.observer?.note(.reset(epoch: report.epoch))
    var result = report
    result.nanoseconds = environment.clock.monotonicNanoseconds() - started
    return result
  }

  private func reset(_ lane: inout Lane, keepCopy: Bool) throws(StoreError) -> StoreResetReport {
    let old = lane.state.stack
    // The definitions live on in the RESET itself where they fit; the limit is the log's.
    var records = [CommitHeader(cause: .reset).encoded()]
    for definition in lane.state.tables.definitions {
      let value = definition.encoded()
      records.append(
        definition.storeKey.withView { key in value.span.bytes.withUnsafeBytes { FactView.put(key, $0) } })
    }
    let fits = records.reduce(0) { $0 + $1.count + 5 } <= 32 << 10
    // Otherwise the next commit writes them.
    let carried = fits ? records : [records[0]]
    let report: ResetReport
    do throws(LogError) {
      report = try log.reset(carrying: carried, cause: Cause.reset.rawValue, keepCopy: keepCopy)
    } catch {
      throw StoreError(error)
    }
    let sequence = report.position.sequence.rawValue
    let memory = MemoryLayer(seed: seeds.memory, pool: chunks)
    for record in carried {
      record.span.bytes.withUnsafeBytes { bytes in
        guard case .put(let key, let value)? = FactView.decode(bytes) else { return }
        memory.put(key, hash: KeyHash.of(key, seed: seeds.memory), sequence: sequence, value: value)
      }
    }
    let stack = LayerStack(epoch: report.epoch, seeds: seeds, memory: [memory], disk: [])
    lane.state = StoreState(stack: stack, tables: lane.state.tables)
    lane.owesDefinitions = !fits
    lane.next = sequence + 1
    lane.frozenThrough = []
    show { $0.snapshot = Snapshot(state: lane.state, sequence: sequence) }
    times.withLock { $0 = TimeTrail() }
    gate.stall(false)
    retire(old.disk)
    let versionCount = old.disk.reduce(0) { $0 + $1.versionCount } + old.memory.reduce(0) { $0 + $1.versionCount }
    return StoreResetReport(
      epoch: report.epoch, position: report.position, keptCopy: report.keptCopy,
      voidedVersionCount: UInt64(versionCount),
      voidedByteCount: report.voidedByteCount + old.disk.reduce(0) { $0 + $1.entry.byteCount }, nanoseconds: 0)
  }
}

/// What a reset of a store did.
public struct StoreResetReport: Hashable, Sendable {
  /// The epoch that began.
  public var epoch: UInt64
  /// Of the RESET.
  public var position: Position
  /// Directory of the kept copy, absolute; nil if none was asked for.
  public var keptCopy: String?
  /// Versions of rows, index entries and events in the layers that were voided.
  public var voidedVersionCount: UInt64
  /// Bytes of log and layers that are given back in the background, or when the last view of them goes.
  public var voidedByteCount: UInt64
  /// From the call to the return.
  public var nanoseconds: UInt64
}
