/// A commit that has its place in the order of commits and waits to be written.
@_spi(Engine) public struct QueuedCommit: Sendable {
  let member: PendingCommit
  /// The group to wait in and whether this caller leads; nil for the async form.
  let seat: (group: CommitGroup, leads: Bool)?
}

extension Log {
  /// Gives `draft` its place behind everything queued before, without waiting for the disk.
  ///
  /// For a layer above that keeps an order of its own: it calls this under its lock, and ``finish(_:)`` after. A commit that would get
  /// another number than `expected` is refused with ``LogError/outOfTurn(expected:next:)``, so one that fails takes all behind it along.
  ///
  /// - Parameter continuation: resumed when the commit has been answered; ``finish(_:)`` does not block then. Nil: ``finish(_:)`` blocks
  ///   and may write the whole group, and has to be called.
  @_spi(Engine) public func enqueue(
    _ draft: consuming CommitDraft, durability: Durability, expecting expected: SequenceNumber,
    continuation: UnsafeContinuation<Void, Never>? = nil
  ) throws(LogError) -> QueuedCommit {
    try core.checkIsWritable()
    precondition(draft.recordCount > 0, "a commit needs at least one record")
    let member = PendingCommit(frames: draft.frames(), durability: durability, expected: expected)
    guard let continuation else { return QueuedCommit(member: member, seat: queue.join(member)) }
    member.continuation = continuation
    queue.submit(member)
    return QueuedCommit(member: member, seat: nil)
  }

  /// What came of a queued commit. Blocks until it is as durable as asked; after a resumed continuation it answers at once.
  @_spi(Engine) public func finish(_ queued: QueuedCommit) throws(LogError) -> Position {
    if let seat = queued.seat { queue.wait(in: seat.group, leading: seat.leads) }
    return try queued.member.outcome.get()
  }
}
