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

  mutating func update(_ entry: OutboxEntry) throws { try store.put(entry.row, into: StateTable.outbox) }

  /// What is queued for these rows, row by row in the order of the queue.
  ///
  /// - Complexity: one look at the queue, or one at an index for each row, whichever is less.
  mutating func pending(of names: Set<RowName>) throws -> [[OutboxEntry]] {
    let depth = try outboxDepth()
    if depth == 0 { return [] }
    var entries: [RowName: [OutboxEntry]] = [:]
    if depth <= names.count {
      let queue = try store.query(StateTable.outbox).rows()
      while let row = try queue.next() {
        let cells = StateCells(row, "an entry of the outbox")
        let name = RowName(table: try cells.text("table"), pk: try cells.text("pk"))
        if names.contains(name) { entries[name, default: []].append(try OutboxEntry(row)) }
      }
    } else {
      for name in names {
        let rows = try store.query(StateTable.outbox)
          .where("table", .equals, .string(name.table)).where("pk", .equals, .string(name.pk)).order(by: "seq").all()
        for row in rows { entries[name, default: []].append(try OutboxEntry(row)) }
      }
    }
    return entries.sorted { $0.key < $1.key }.map(\.value)
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
