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
    let queued = try store.query(StateTable.outbox).where("mutation_id", .equals, .string(entry.mutationID)).first()
    if queued != nil { throw SyncError(.localConstraint, "mutation \(entry.mutationID) is queued already") }
    var (next, depth) = try outboxEnds()
    var entry = entry
    entry.seq = next
    try store.put(entry.row, into: StateTable.outbox)
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
  }

  mutating func entry(seq: Int64) throws -> OutboxEntry? {
    try store.get(key: [.int(seq)], in: StateTable.outbox).map { (row) throws(SyncError) in try OutboxEntry(row) }
  }

  mutating func update(_ entry: OutboxEntry) throws { try store.put(entry.row, into: StateTable.outbox) }

  /// What is queued for a row, in the order of the queue.
  mutating func pending(_ name: RowName) throws -> [OutboxEntry] {
    let rows = try store.query(StateTable.outbox)
      .where("table", .equals, .string(name.table)).where("pk", .equals, .string(name.pk)).order(by: "seq").all()
    var entries: [OutboxEntry] = []
    for row in rows { entries.append(try OutboxEntry(row)) }
    return entries
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
