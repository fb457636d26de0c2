import StrandlineLog
@_spi(Engine) import StrandlineSync

/// What one round of syncing came to.
struct SyncRound: Sendable {
  var counts = MeteredRemote.Counts()
  var events: [SyncEvent] = []
  /// Rows of the mutations that the events name.
  var targets: [String: MeteredRemote.Target] = [:]
  /// Local writes that wait still.
  var depth = 0
  var cursor = "0"
  /// The newest commit of the store when it was closed.
  var sequence = SequenceNumber.zero
  var stop: SyncStop?
  /// What ended the round.
  var error: SyncError?
  var duration = Duration.zero

  /// Whether somebody should look: a write did not stand, or syncing has stopped.
  var hasFinding: Bool {
    stop != nil
      || events.contains { event in
        switch event {
        case .mutationRejected, .batchAborted, .deadLetter: true
        default: false
        }
      }
  }

  /// Whether there is anything to tell.
  var isQuiet: Bool {
    counts.total == 0 && !hasFinding && error == nil && !events.contains { $0 == .checkpointExpired }
  }

  /// What the commands say before a client syncs.
  struct Plan: Sendable {
    /// Bucket values by column.
    var buckets: [String: String] = [:]
    /// Goes on where a token of another user had stopped syncing.
    var resumes = false
    /// Resets the client whether the server asks for it or not.
    var startsReset = false
    /// Rounds at most, while the server refuses a write for good.
    var attempts = 1
  }

  /// Opens the client, syncs, and closes it again. An error of the sync is part of the answer.
  ///
  /// - Parameter budget: refusals that earlier rounds of this process counted; taken up, and left as this one leaves them.
  static func run(
    _ access: SyncAccess, _ settings: SyncSettings, _ plan: Plan, over remote: MeteredRemote,
    budget: DeadLetterBudget = DeadLetterBudget()
  ) async throws -> (round: SyncRound, budget: DeadLetterBudget) {
    let started = ContinuousClock.now
    let (round, stream, spent) = try await access.withClient(
      settings, over: remote, makes: true, performsAction: !plan.startsReset
    ) {
      client in
      client.deadLetterBudget = budget
      let stream = client.events
      var round = SyncRound()
      if !plan.buckets.isEmpty { try await client.setBucket(plan.buckets) }
      if plan.resumes { try await client.resumeAsOwner() }
      for attempt in 1...plan.attempts {
        do {
          round.error = nil
          if plan.startsReset { try await client.startClientReset() } else { try await client.sync() }
          break
        } catch let error as SyncError {
          round.error = error
          if error.catalogueCode != .permanentTransport || attempt == plan.attempts { break }
        }
      }
      let checkpoint = try await client.checkpoint()
      round.cursor = checkpoint.cursor
      round.stop = try await SyncStop(client)
      if let report = client.resetAtOpen { round.events.append(.didReset(report)) }
      round.depth = try await client.outboxDepth()
      round.sequence = try await client.view().sequence
      return (round, stream, client.deadLetterBudget)
    }
    var result = round
    // The client is closed, so the stream ends, behind everything that was raised.
    for await event in stream { result.events.append(event) }
    result.counts = remote.counts
    result.duration = ContinuousClock.now - started
    for id in result.events.compactMap(\.refusedMutationID) { result.targets[id] = remote.target(of: id) }
    return (result, spent)
  }
}

extension SyncEvent {
  /// The mutation that did not stand, of the events that tell of one.
  var refusedMutationID: String? {
    switch self {
    case .mutationRejected(let id, _), .batchAborted(let id, _), .deadLetter(let id, _): id
    default: nil
    }
  }
}
