internal import StrandlineProtocol

extension SyncClient {
  private struct PullTask {
    var request: PullRequest
    var context: RemoteContext
    /// Of the scope that the request asks for.
    var generation: Int64
  }

  /// What one page came to.
  enum PageStep {
    /// The client is blocked or paused: no request was made.
    case idle
    case answered
    /// The answer leads nowhere: the same request would follow.
    case fruitless
    /// The answer was larger than is taken; the next request asks for a shorter page.
    case tooLarge(SyncError)
    /// The scope was replaced while the request was out, and the request failed.
    case failedBesideNewScope(SyncError)
  }

  /// Asks for one page and stages it, or closes the sequence with it. With the network gate held.
  ///
  /// - Throws: ``SyncError``. A fault of the remote takes back what the sequence has staged; any other leaves everything as it was.
  func pullPage() async throws -> PageStep {
    guard let task = try await preparePull() else { return .idle }
    let answer: RemoteAnswer<PullAnswer>
    do throws(RemoteFailure) {
      answer = try await configuration.remote.pull(task.request, task.context)
    } catch {
      if Task.isCancelled || error.isCancellation { throw CancellationError() }
      if let demand = try demand(of: error.notes, isSignal: false, isPage: false) {
        try await latch(demand)
        return .answered
      }
      let failure = SyncError(error, during: .pull)
      if error.isAnswerTooLarge, shortenPages(task.request.limit) { return .tooLarge(failure) }
      return try await fail(task, failure)
    }
    let check = Result { () throws(SyncError) in try PageGuards.check(answer.body, of: tables) }
    let isGood = (try? check.get()) != nil
    answered { $0.downloaded(isGood ? PageGuards.rowCount(answer.body, of: tables) : 0, answer.notes) }
    let isSignal = answer.body.signal == LifecycleSignal.resetRequired.rawValue
    if let demand = try demand(of: answer.notes, isSignal: isSignal, isPage: answer.body.signal == nil) {
      // Of another history nothing is taken, whatever was asked for.
      try await latch(demand) { state in try demand.kind == .history || state.isCurrent(task.generation) }
      return .answered
    }
    if answer.body.signal == nil, try isOfAnotherHistory(answer.notes) {
      return try await fail(
        task, SyncError(.remote, "the server's history changed in the middle of a pull; the next run begins it anew"))
    }
    return try await take(answer, task, check)
  }

  /// Pages that a server makes where no limit is asked for.
  private static let usualPageLimit: Int64 = 500

  /// Whether the next request can ask for less; until a sequence has closed it does.
  private func shortenPages(_ limit: Int64?) -> Bool {
    let limit = limit ?? Self.usualPageLimit
    if limit <= 1 { return false }
    withMemory { $0.pageLimitMax = limit / 2 }
    return true
  }

  /// Nil: the client is blocked or paused.
  private func preparePull() async throws -> PullTask? {
    try await sessionGate.pass {
      try ensureOpen()
      try await keepIdentity()
      try await settleOwner()
      if try read({ try $0.softBlock() }) != nil { return nil }
      guard try mayRequest() else { return nil }
      let buckets = try await bucketsForPull()
      if try read({ try $0.hasUnpulledTable(tables) }) {
        try await commit(.scopeChanged) { state in try state.restartForNewTables() }
      }
      return try read { view in
        let position = try view.metaText(.pageCursor)
        // A sequence begins at the durable cursor, or at the start where a restart is armed.
        withMemory { $0.session.requested(beginsSequence: position == nil || position == "0") }
        let cursor = try position ?? view.metaText(.cursor) ?? "0"
        let limits = [configuration.pageLimit.map { Int64($0) }, withMemory { $0.pageLimitMax }]
        let request = PullRequest(
          clientID: try view.metaText(.clientID), schemaVersion: Int64(configuration.schemaVersion), cursor: cursor,
          limit: limits.compactMap { $0 }.min(), buckets: buckets)
        // A pull from the start binds to no history.
        let history = cursor == "0" ? nil : try view.metaText(.historyAnchor)
        return PullTask(
          request: request, context: RemoteContext(accessToken: withMemory { $0.token }, history: history),
          generation: try view.metaNumber(.scopeGeneration) ?? 0)
      }
    }
  }

  /// Whether the staged pages are of another history than this answer: a first pull has no anchor yet that would tell.
  private func isOfAnotherHistory(_ notes: AnswerNotes) throws -> Bool {
    guard let found = notes.history.flatMap({ HistoryAnchor($0) })?.history else { return false }
    return try read { try $0.metaText(.pageHistory) }.map { $0 != found } ?? false
  }

  /// A request that has no answer.
  private func fail(_ task: PullTask, _ error: SyncError) async throws -> PageStep {
    let isCurrent = try await commit(.stagingDropped) { state in
      guard try state.isCurrent(task.generation) else { return false }
      try state.dropStaging()
      return true
    }
    if isCurrent { throw error }
    return .failedBesideNewScope(error)
  }

  /// Makes an answer true here. One that came for another scope than the one in force now, or to a blocked client, is left.
  private func take(
    _ answer: RemoteAnswer<PullAnswer>, _ task: PullTask, _ check: Result<Void, SyncError>
  ) async throws -> PageStep {
    let page = answer.body
    switch page.signal.map({ LifecycleSignal(rawValue: $0) }) {
    case .some(nil):
      throw SyncError(.unknownSignal, "a pull was answered with the signal \"\(page.signal ?? "")\"")
    case .resetRequired??: break
    case .checkpointExpired??:
      return try await commit(.checkpointExpired) { state in
        guard try state.isCurrent(task.generation) else { return .answered }
        let wasArmed = try state.isRehydrating()
        try state.armRestart()
        state.events.append(.checkpointExpired)
        return wasArmed || task.request.cursor == "0" ? .fruitless : .answered
      }
    case nil:
      try check.get()
      if page.hasMore {
        try await commit(.pageStaged) { state in
          guard try state.isCurrent(task.generation) else { return }
          try Staging.stage(page, &state)
          if let anchor = answer.notes.history.flatMap({ HistoryAnchor($0) }) {
            try state.setMeta(.pageHistory, .string(anchor.history))
          }
          try state.setMeta(.pageCursor, .string(page.cursor))
        }
        if page.cursor == task.request.cursor { return .fruitless }
      } else {
        let now = configuration.clock.milliseconds()
        let anchor = answer.notes.history.flatMap { HistoryAnchor($0) == nil ? nil : $0 }
        let sentThrough = withMemory { $0.sentThrough }
        let isClosed = try await commit(.pullClosed) { state in
          guard try state.isCurrent(task.generation) else { return false }
          try PullCloser.close(with: page, anchor: anchor, sentThrough: sentThrough, now: now, &state)
          return true
        }
        if isClosed {
          withMemory { $0.pageLimitMax = nil }
          sequenceClosed()
        }
      }
    }
    return .answered
  }

  // MARK: The pull half of a sync

  static var pageCountMax: Int { 100_000 }
  /// Answers of one run that lead nowhere. An honest server gives none, or one that a change of its own has overtaken.
  static var fruitlessCountMax: Int { 16 }

  /// Pulls page after page until a sequence has closed. With the network gate held.
  func pullAll(pageCountMax: Int = SyncClient.pageCountMax) async throws {
    var fruitlessCount = 0
    for _ in 0..<pageCountMax {
      switch try await pullPage() {
      case .idle: return
      case .fruitless:
        fruitlessCount += 1
        if fruitlessCount == Self.fruitlessCountMax {
          throw SyncError(
            .brokenProtocol, .remote,
            """
            the server answers \(fruitlessCount) times with a page or a signal that leads to the same request again; the next run goes \
            on where this one stopped
            """)
        }
      case .answered, .tooLarge, .failedBesideNewScope: break
      }
      if try read({ try $0.softBlock() != nil || $0.metaText(.pageCursor) == nil }) { return }
    }
    throw SyncError(
      .remote,
      "the server has not ended the pull after \(pageCountMax) pages; the next run goes on where this one stopped")
  }
}

extension SyncState {
  /// Whether what was asked for under this scope may still be taken.
  mutating func isCurrent(_ generation: Int64) throws -> Bool {
    try softBlock() == nil && metaNumber(.scopeGeneration) ?? 0 == generation
  }
}
