@_spi(Engine) public import StrandlineLog

/// Reads and writes that become one commit, or nothing.
///
/// Handed to the closure of ``Store/write(metadata:durability:_:)`` and gone with it. It sees the newest state: every commit in front of
/// it, those on their way to the disk included, and what it wrote itself. One writer at a time; keep the closure short.
///
/// An operation that throws has changed nothing, and the transaction can go on.
public struct Transaction: ~Copyable {
  let engine: StoreEngine
  private(set) var state: StoreState
  /// The number the commit will have.
  let sequenceNumber: UInt64
  private(set) var changesTables = false
  /// Where the memory layer stood in front of the first write.
  let mark: MemoryLayer.Mark
  private let header: CommitHeader
  private let owesDefinitions: Bool
  private var factCount = 0
  /// Why the commit cannot be made, though the closure may have gone on.
  private(set) var failure: StoreError?
  private var draft: CommitDraft?
  private var source: TransactionRows?
  /// Memory for reads.
  var buffer = ValueBuffer()
  init(
    engine: StoreEngine, state: StoreState, sequence: UInt64, header: CommitHeader, owesDefinitions: Bool
  ) {
    self.engine = engine
    self.state = state
    self.header = header
    self.owesDefinitions = owesDefinitions
    sequenceNumber = sequence
    mark = state.stack.active.mark
  }

  /// The number that the commit will have if it is made.
  public var sequence: SequenceNumber { SequenceNumber(sequenceNumber) }

  /// Whether nothing has been written yet. A transaction that stays empty makes no commit.
  public var isEmpty: Bool { factCount == 0 }

  // MARK: Facts

  /// Writes that `key` has `value` from now on; nil: that it is gone.
  mutating func apply(_ key: KeyView, _ value: UnsafeRawBufferPointer?) throws(StoreError) {
    try apply(key, isDelete: value == nil, valueByteCount: value?.count ?? 0) { room in
      if let value, value.count > 0 { room.copyMemory(from: value) }
    }
  }

  /// As ``apply(_:_:)``, with a value that `fill` writes where the log wants it.
  @inline(__always)
  mutating func apply(
    _ key: KeyView, isDelete: Bool = false, valueByteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StoreError) {
    if draft == nil { try begin() }
    let layer = state.stack.active
    let seed = state.stack.seeds.memory
    let sequence = sequenceNumber
    let head = FactView.headByteCount(key)
    do throws(LogError) {
      try draft?.append(byteCount: head + valueByteCount) { record in
        guard let base = record.baseAddress else { return }
        FactView.writeHead(key, isDelete: isDelete, to: base)
        let value = UnsafeMutableRawBufferPointer(start: base + head, count: valueByteCount)
        fill(value)
        layer.putSoon(
          key, hash: KeyHash.of(key, seed: seed), sequence: sequence,
          value: isDelete ? nil : UnsafeRawBufferPointer(value))
      }
    } catch {
      // Part of the operation may stand already: the commit cannot be made any more.
      failure = StoreError(error)
      throw StoreError(error)
    }
    factCount += 1
  }

  private mutating func begin() throws(StoreError) {
    var fresh = engine.log.draft()
    do throws(LogError) { try fresh.append(header.encoded()) } catch { throw StoreError(error) }
    draft = consume fresh
    guard owesDefinitions else { return }
    for definition in state.tables.definitions { try apply(definition.storeKey, definition.encoded()) }
  }

  mutating func apply(_ key: StoreKey, _ value: [UInt8]?) throws(StoreError) {
    try key.withView { (key) throws(StoreError) in
      guard let value else { return try apply(key, nil as UnsafeRawBufferPointer?) }
      try value.span.bytes.withUnsafeBytes { (value) throws(StoreError) in try apply(key, value) }
    }
  }

  /// The newest version of `key`; its value lies in ``buffer``.
  mutating func find(_ key: KeyView) throws(StoreError) -> Finding {
    state.stack.active.settle()
    return try state.stack.find(key, at: .max, into: &buffer)
  }

  /// Puts other definitions of tables in force, as facts of this commit.
  mutating func define(_ tables: Tables, changed: [TableDefinition]) throws(StoreError) {
    for definition in changed { try apply(definition.storeKey, definition.encoded()) }
    state = state.with(tables)
    source?.state = state
    changesTables = true
  }

  // MARK: Queries

  /// What queries of this transaction read; made with the first.
  mutating func rowsForQueries() -> TransactionRows {
    if let source { return source }
    let fresh = TransactionRows(engine: engine, sequence: sequenceNumber, state: state)
    source = fresh
    return fresh
  }

  // MARK: End

  /// Queries that outlive the transaction answer an error from now on.
  func endQueries() { source?.state = nil }

  /// Takes everything back out of the memory layer.
  func undo() {
    state.stack.active.settle()
    state.stack.active.rollBack(to: mark)
  }

  /// What is to be written; nil if nothing was.
  mutating func takeDraft() -> CommitDraft? {
    state.stack.active.settle()
    return factCount == 0 ? nil : draft.take()
  }
}
