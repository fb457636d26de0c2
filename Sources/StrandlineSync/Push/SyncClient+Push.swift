internal import StrandlineProtocol

extension SyncClient {
  /// What one push came to.
  enum PushStep {
    /// Nothing is queued, or the client is blocked: no request was made.
    case idle
    case answered
    /// The server, or the way to it, refused.
    case refused(Slice, RemoteFailure)
  }

  private struct PushTask {
    var slice: Slice
    var request: PushRequest
    var context: RemoteContext
  }

  /// Sends one slice of the queue and makes the answer true here. With the network gate held.
  ///
  /// - Throws: ``SyncError`` for answers that no server may give and for what the store refuses; nothing was changed then.
  func pushSlice(entryCountMax: Int = Slice.entryCountMax) async throws -> PushStep {
    guard let task = try await preparePush(entryCountMax) else { return .idle }
    noteSent(task.slice)
    let answer: RemoteAnswer<PushAnswer>
    do throws(RemoteFailure) {
      answer = try await configuration.remote.push(task.request, task.context)
    } catch {
      if Task.isCancelled || error.isCancellation { throw CancellationError() }
      if let demand = try demand(of: error.notes, isSignal: false, isPage: false) {
        try await latch(demand)
        return .answered
      }
      return .refused(task.slice, secretMask.told(error))
    }
    let slice = task.slice
    let reply = Result { () throws(SyncError) in try ReplyGuards.check(answer.body, to: slice, tables) }
    // An answer that is not taken answers no write.
    let isTaken = answer.body.signal == nil && (try? reply.get()) != nil
    answered { $0.uploaded(isTaken ? slice.entries.count : 0, answer.notes) }
    let isSignal = answer.body.signal == LifecycleSignal.resetRequired.rawValue
    if let demand = try demand(of: answer.notes, isSignal: isSignal, isPage: false) {
      try await latch(demand)
      return .answered
    }
    let now = configuration.clock.milliseconds()
    switch try reply.get() {
    // Latched above.
    case .resetRequired: break
    case .abort(let offender, let reason, let serverRow):
      try await commit(.batchAborted) { state in
        guard try state.softBlock() == nil else { return }
        try BatchAbort.undo(slice, offender: offender, reason: reason, serverRow: serverRow, now: now, &state)
      }
    case .verdicts(let verdicts):
      try await commit(.verdictsReconciled) { state in
        guard try state.softBlock() == nil else { return }
        try VerdictReconciler.reconcile(verdicts, now: now, &state)
      }
    }
    return .answered
  }

  /// Nil: nothing to send, or the client is blocked or paused.
  private func preparePush(_ entryCountMax: Int) async throws -> PushTask? {
    try await sessionGate.pass {
      try ensureOpen()
      try await keepIdentity()
      try await settleOwner()
      if try read({ try $0.softBlock() }) != nil { return nil }
      guard try mayRequest() else { return nil }
      return try read { view in
        let queue = try view.query(StateTable.outbox).rows()
        let chosen = try SliceChooser.choose(
          { try queue.next().map { (row) throws(SyncError) in try OutboxEntry(row) } }, countMax: entryCountMax,
          byteCount: { $0.encodedByteCount(without: tables.localOnlyColumns) })
        guard let slice = chosen else { return nil }
        let request = PushRequest(
          clientID: try view.metaText(.clientID), schemaVersion: Int64(configuration.schemaVersion),
          lastMutationID: try view.metaText(.lastMutationID), isAtomic: slice.isAtomic,
          mutations: slice.entries.map { $0.mutation(without: tables.localOnlyColumns) })
        withMemory { $0.session.requested(beginsSequence: false) }
        let context = RemoteContext(
          accessToken: withMemory { $0.token }, history: try view.metaText(.historyAnchor))
        return PushTask(slice: slice, request: request, context: context)
      }
    }
  }

  // MARK: The push half of a sync

  private static var roundCountMax: Int { 100_000 }

  /// Pushes until nothing is queued; gives up what the server refuses for good. With the network gate held.
  func pushAll() async throws {
    for _ in 0..<Self.roundCountMax {
      let (block, depth) = try read { (try $0.softBlock(), try $0.outboxDepth()) }
      if depth == 0 { withMemory { $0.budget.queueIsEmpty() } }
      if block != nil || depth == 0 { return }
      switch try await pushSlice(entryCountMax: withMemory { $0.budget.sliceEntryCountMax }) {
      case .idle: return
      case .answered:
        withMemory { $0.budget.succeeded() }
        if try read({ try $0.outboxDepth() }) >= depth { return }
      case .refused(let slice, let failure):
        if failure.isAnswerTooLarge, withMemory({ $0.budget.answerWasTooLarge(slice) }) { continue }
        guard failure.isPermanent else { throw SyncError(failure, pushing: slice) }
        let decision = withMemory { $0.budget.refused(slice, code: failure.code, message: failure.reason) }
        switch decision {
        case .fail: throw SyncError(failure, pushing: slice)
        case .retry: continue
        case .drop(let reason): try await drop(slice, reason: reason)
        }
      }
    }
  }

  private func drop(_ slice: Slice, reason: String) async throws {
    let now = configuration.clock.milliseconds()
    try await commit(.deadLettered) { state in
      guard try state.softBlock() == nil else { return }
      try DeadLetters.drop(slice, reason: reason, now: now, &state)
    }
  }
}

extension ReadView {
  func outboxDepth() throws -> Int { try OutboxEnds.read(try meta(.outboxEnds)).depth }
}

extension RemoteFailure {
  /// What the server says, where it said something.
  fileprivate var reason: String {
    if case .refused(let answer, _) = kind, !answer.message.isEmpty { return answer.message }
    return description
  }
}
