internal import StrandlineProtocol

extension SyncState {
  /// Entries that wait for an answer.
  mutating func outboxDepth() throws -> Int { try outboxEnds().depth }

  private mutating func outboxEnds() throws -> (next: Int64, depth: Int) {
    try OutboxEnds.read(try meta(.outboxEnds))
  }

  private mutating func setOutboxEnds(next: Int64, depth: Int) throws {
    try setMeta(.outboxEnds, [.int(next), .int(Int64(depth))])
  }

  /// Queues an entry behind all others; answers how many there are now. The entry's `seq` is given here.
  ///
  /// - Throws: ``SyncErrorCode/localConstraint`` if the mutation is queued already.
  @discardableResult
  mutating func enqueue(_ entry: OutboxEntry) throws -> Int {
    let twin = try store.query(StateTable.outbox).where("mutation_id", .equals, .string(entry.mutationID)).first()
    if twin != nil { throw SyncError(.localConstraint, "mutation \(entry.mutationID) is queued already") }
    var (next, depth) = try outboxEnds()
    var entry = entry
    entry.seq = next
    try store.put(entry.row, into: StateTable.outbox)
    touchesQueue = true
    queued.note(QueuedRows.Entry(name: entry.name, seq: entry.seq))
    next &+= 1
    depth += 1
    try setOutboxEnds(next: next, depth: depth)
    return depth
  }

  /// Takes answered entries out of the queue.
  mutating func dequeue(_ entries: [OutboxEntry]) throws {
    var (next, depth) = try outboxEnds()
    for entry in entries where try store.delete(key: [.int(entry.seq)], from: StateTable.outbox) { depth -= 1 }
    next = max(next, 1)
    try setOutboxEnds(next: next, depth: max(depth, 0))
    touchesQueue = true
    dequeued += entries.map { QueuedRows.Entry(name: $0.name, seq: $0.seq) }
  }

  mutating func update(_ entry: OutboxEntry) throws { try store.put(entry.row, into: StateTable.outbox) }

  /// What is queued for these rows, row by row in the order of the queue.
  ///
  /// - Complexity: a look in memory for each row, and a read for each of their entries; the whole queue is read once after an open.
  mutating func pending(of names: Set<RowName>) throws -> [[OutboxEntry]] {
    if try outboxDepth() == 0 { return [] }
    var pending: [[OutboxEntry]] = []
    for (name, seqs) in try queued.seqs(of: names, read: { try readQueue() }) {
      var entries: [OutboxEntry] = []
      for seq in seqs {
        guard let row = try store.get(key: [.int(seq)], in: StateTable.outbox) else { continue }
        if try RowName(queued: row) == name { entries.append(try OutboxEntry(row)) }
      }
      if !entries.isEmpty { pending.append(entries) }
    }
    return pending
  }

  private mutating func readQueue() throws -> QueuedRows.Index {
    touchesQueue = true
    var index = QueuedRows.Index()
    let queue = try store.query(StateTable.outbox).select("seq", "table", "pk").rows()
    while let row = try queue.next() {
      let seq = try StateCells(row, "an entry of the outbox").number("seq")
      index.insert(QueuedRows.Entry(name: try RowName(queued: row), seq: seq))
    }
    // Should this commit fail, they are queued still, and another may ask before all is forgotten.
    for entry in dequeued { index.insert(entry) }
    return index
  }
}

extension RowName {
  /// The row of an entry of the queue, as the entry is kept.
  fileprivate init(queued row: Row) throws(SyncError) {
    let cells = StateCells(row, "an entry of the outbox")
    self.init(table: try cells.text("table"), pk: try cells.text("pk"))
  }
}

/// The two ends of the queue as `strandline.meta` keeps them.
enum OutboxEnds {
  static func read(_ value: Value?) throws(SyncError) -> (next: Int64, depth: Int) {
    switch value {
    case nil: return (1, 0)
    case .array(let ends)? where ends.count == 2:
      if case .int(let next) = ends[0], case .int(let depth) = ends[1] { return (next, Int(depth)) }
    default: break
    }
    throw SyncError(.json, "the stored ends of the outbox do not decode")
  }
}
