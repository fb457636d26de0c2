@_spi(Engine) public import StrandlineLog

extension StoreEngine {
  /// Voids everything but the tables' definitions and the rows that `carrying` answers.
  ///
  /// - Parameter carrying: handed the state that the reset voids, which nothing changes any more; the rows it answers, of tables with
  ///   declared columns and without indexes, are there behind the reset, in the same record.
  /// - Returns: what was done, and the voided state.
  func reset(
    keepCopy: Bool, copyPath: String? = nil,
    carrying: (ReadView) throws(StoreError) -> [(table: String, row: Row)] = { _ in [] }
  ) throws(StoreError) -> (report: StoreResetReport, before: ReadView) {
    let started = environment.clock.monotonicNanoseconds()
    precondition(!isInLane, "reset inside write: reset after it")
    var (report, before) = try gate.exclusively { () throws(StoreError) in
      try lane.withLock { (lane) throws(StoreError) in
        gate.hasPending ? nil : try reset(&lane, keepCopy: keepCopy, copyPath: copyPath, carrying: carrying)
      }
    }
    options.observer?.note(.reset(epoch: report.epoch))
    report.nanoseconds = environment.clock.monotonicNanoseconds() - started
    return (report, before)
  }

  private func reset(
    _ lane: inout Lane, keepCopy: Bool, copyPath: String?,
    carrying: (ReadView) throws(StoreError) -> [(table: String, row: Row)]
  ) throws(StoreError) -> (StoreResetReport, ReadView) {
    let old = lane.state.stack
    let before = ReadView(Snapshot(state: lane.state, sequence: lane.next - 1))
    let (carried, isComplete) = try records(lane.state.tables, try carrying(before))
    let report = try resetLog(carrying: carried, base: [], keepCopy: keepCopy, copyPath: copyPath)
    let sequence = report.position.sequence.rawValue
    let memory = MemoryLayer(seed: seeds.memory, pool: chunks)
    for record in carried {
      record.span.bytes.withUnsafeBytes { bytes in
        guard case .put(let key, let value)? = FactView.decode(bytes) else { return }
        memory.put(key, hash: KeyHash.of(key, seed: seeds.memory), sequence: sequence, value: value)
      }
    }
    let stack = LayerStack(epoch: report.epoch, seeds: seeds, memory: [memory], disk: [])
    lane.owesDefinitions = !isComplete
    return (begin(StoreState(stack: stack, tables: lane.state.tables), report, instead: old, &lane), before)
  }

  func resetLog(
    carrying records: [[UInt8]], base: [LayerEntry], keepCopy: Bool, copyPath: String?
  ) throws(StoreError) -> ResetReport {
    do throws(LogError) {
      return try log.reset(
        carrying: records, base: base, cause: Cause.reset.rawValue, keepCopy: keepCopy, copyPath: copyPath)
    } catch {
      throw StoreError(error)
    }
  }

  /// Shows everybody the state that a RESET began.
  func begin(
    _ state: StoreState, _ report: ResetReport, instead old: LayerStack, _ lane: inout Lane
  ) -> StoreResetReport {
    let sequence = report.position.sequence.rawValue
    lane.state = state
    lane.next = sequence + 1
    lane.frozenThrough = []
    show { $0.snapshot = Snapshot(state: state, sequence: sequence) }
    times.withLock { $0 = TimeTrail() }
    gate.stall(false)
    retire(old.disk)
    let versionCount = old.disk.reduce(0) { $0 + $1.versionCount } + old.memory.reduce(0) { $0 + $1.versionCount }
    return StoreResetReport(
      epoch: report.epoch, position: report.position, keptCopy: report.keptCopy,
      voidedVersionCount: UInt64(versionCount),
      voidedByteCount: report.voidedByteCount + old.disk.reduce(0) { $0 + $1.entry.byteCount }, nanoseconds: 0)
  }

  /// What a RESET carries, and whether every table's definition is in it: those that do not fit are written by the next commit. The limit
  /// is the log's. Rows that live on come with the definitions of their tables in any case.
  private func records(
    _ tables: Tables, _ rows: [(table: String, row: Row)]
  ) throws(StoreError) -> (records: [[UInt8]], isComplete: Bool) {
    var records = [CommitHeader(cause: .reset).encoded()]
    var carriedTables: Set<UInt16> = []
    for (name, row) in rows {
      let table = try tables.named(name)
      if carriedTables.insert(table.definition.number).inserted { records.append(table.definition.putRecord) }
      records.append(try table.putRecord(row))
    }
    let others = tables.definitions.filter { !carriedTables.contains($0.number) }.map(\.putRecord)
    let fits = (records + others).reduce(0) { $0 + $1.count + 5 } <= 32 << 10
    return (fits ? records + others : records, fits)
  }
}

extension TableDefinition {
  fileprivate var putRecord: [UInt8] { storeKey.putRecord(encoded()) }
}

extension StoreKey {
  fileprivate func putRecord(_ value: [UInt8]) -> [UInt8] {
    withView { key in value.span.bytes.withUnsafeBytes { FactView.put(key, $0) } }
  }
}

extension Table {
  /// The fact of a row without index entries.
  fileprivate func putRecord(_ row: Row) throws(StoreError) -> [UInt8] {
    var cells: [(column: UInt16, value: Value)] = []
    var key: [Value] = []
    for name in keyNames { key.append(row[name] ?? .null) }
    for cell in row.cells where !keyNames.containsExactly(cell.name) {
      guard let column = column(cell.name) else { throw .unknownColumn(table: name, column: cell.name) }
      cells.append((column.number, try checked(cell.value, column)))
    }
    cells.sort { $0.column < $1.column }
    var value: [UInt8] = []
    try RowEncoding.encode(cells, into: &value)
    return try storeKey(key).putRecord(value)
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
