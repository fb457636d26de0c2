/// The server's half of the sync protocol: decides pulls and pushes over a storage.
///
/// Who calls has been authenticated by whoever hands the request over. Safe to use from any task; pushes that come together share syncs.
///
/// ```swift
/// let storage = try await EmbeddedServerStorage.open(at: "/var/lib/shop/server")
/// let tables = ["todos": ServerTable(bucketColumn: "user_id")]
/// let server = try await SyncServer(ServerConfiguration(tables: tables), storage: storage)
/// let page = try await server.pull(request, as: Caller(userID: subject))
/// ```
public final class SyncServer: Sendable {
  public let configuration: ServerConfiguration
  let storage: any ServerStorage
  let environment: ServerEnvironment
  private let marks = HighMarks()

  /// - Throws: ``ServerConfigurationError``, also where the storage holds rows of a table with another bucket column or key;
  ///   ``ServerStorageFailure`` if the state cannot be read.
  public init(
    _ configuration: ServerConfiguration, storage: any ServerStorage,
    environment: ServerEnvironment = ServerEnvironment()
  ) async throws {
    self.configuration = try configuration.checked()
    self.storage = storage
    self.environment = environment
    try await Self.reconcile(self.configuration, storage, now: environment.now())
    marks.advance(to: try await storage.read { (state) throws(ServerStorageFailure) in try state.counter().highMark })
  }

  /// One page of what is new to the caller since the request's cursor, or a signal in its place.
  ///
  /// A page may carry little or nothing and say that there is more. The grants of its rows are durable before it is answered.
  ///
  /// - Parameters:
  ///   - caller: the user of the token.
  ///   - history: `Strandline-History` of the request, as it came; nil where there was none.
  /// - Throws: ``ErrorAnswer`` with a code where the request is refused, without one where the server is in trouble. Nothing was changed.
  ///   ``notes()`` is what travels beside it.
  /// - Complexity: at most ``ServerLimits/pullScanCountMax`` rows are read.
  public func pull(
    _ request: PullRequest, as caller: Caller, history: String? = nil
  ) async throws(ErrorAnswer) -> RemoteAnswer<PullAnswer> {
    try admit(caller)
    try await register(caller, request.clientID, cursor: request.cursor, schemaVersion: request.schemaVersion)
    let verdict = try PullChecks(configuration: configuration).check(request)
    let anchor = try HistoryAnchor(header: history)
    let scope = RequestedScope(request.buckets, configuration)
    let pulled = try await read { (state) throws(ServerStorageFailure) in
      try self.pulled(request, verdict, anchor, scope, caller, state)
    }
    if !pulled.newGrants.isEmpty {
      let now = environment.now()
      _ = try await write { (state) throws(ServerStorageFailure) in
        var changes = ServerChanges(time: now)
        for grant in pulled.newGrants where try !state.holds(grant) { changes.grants.append(grant) }
        return (changes, ())
      }
    }
    return pulled.answer
  }

  private func pulled(
    _ request: PullRequest, _ verdict: PullChecks.Verdict, _ anchor: HistoryAnchor?, _ scope: RequestedScope,
    _ caller: Caller, _ state: any ServerState
  ) throws(ServerStorageFailure) -> (answer: RemoteAnswer<PullAnswer>, newGrants: [DeliveryGrant]) {
    let counter = try state.counter()
    var notes = AnswerNotes(
      history: HistoryAnchor(history: try state.historyID(), counter).description,
      isRecoveryForbidden: forbidsRecovery(of: request.buckets.map(\.table)), unknownTables: scope.unknownTables)
    func signal(_ signal: LifecycleSignal) -> (answer: RemoteAnswer<PullAnswer>, newGrants: [DeliveryGrant]) {
      let body = PullAnswer(cursor: request.cursor, signal: signal.rawValue)
      return (RemoteAnswer(body: body, notes: notes), [])
    }
    guard case .passed(let cursor) = verdict else { return signal(.resetRequired) }
    if let anchor {
      switch try HistoryComparison(anchor, with: state) {
      case .ours: break
      case .lost:
        notes.resetCause = AnswerNotes.historyCause
        return signal(.resetRequired)
      case .unknown:
        // A transfer from the start needs no history to begin from.
        if cursor.origin > 0 { return signal(.checkpointExpired) }
      }
    }
    if cursor.origin > 0, cursor.origin < counter.reapHorizon { return signal(.checkpointExpired) }
    let walk = PageWalk(configuration: configuration, caller: caller, scope: scope, state: state)
    let limit = request.limit.map { Int(clamping: $0) } ?? configuration.limits.pageEntryCount
    let page = try walk.page(after: cursor, limit: limit, highMark: counter.highMark)
    return (RemoteAnswer(body: page.answer, notes: notes), page.newGrants)
  }

  /// Decides the mutations of a push, in their order, as one commit that survives power loss before it is answered.
  ///
  /// A mutation id that was decided before is answered as it was then, and nothing is done; so a push may be repeated.
  ///
  /// - Throws: ``ErrorAnswer`` with a code where the whole request is refused, with nothing changed; without one where the server is in
  ///   trouble, and whether the push was applied may be unknown. ``notes()`` is what travels beside it.
  public func push(
    _ request: PushRequest, as caller: Caller, history: String? = nil
  ) async throws(ErrorAnswer) -> RemoteAnswer<PushAnswer> {
    try admit(caller)
    try await register(
      caller, request.clientID, lastMutationID: request.lastMutationID, schemaVersion: request.schemaVersion)
    let checks = PushChecks(configuration: configuration)
    let anchor = try HistoryAnchor(header: history)
    let forbidsRecovery = forbidsRecovery(of: request.mutations.map(\.table))
    func signal(_ anchor: HistoryAnchor, cause: String?) -> RemoteAnswer<PushAnswer> {
      RemoteAnswer(
        body: PushAnswer(signal: .resetRequired),
        notes: AnswerNotes(
          history: anchor.description, resetCause: cause, isRecoveryForbidden: forbidsRecovery))
    }
    let (here, comparison) = try await read { (state) throws(ServerStorageFailure) in
      try (
        HistoryAnchor(of: state),
        anchor.map { (anchor) throws(ServerStorageFailure) in
          try HistoryComparison(anchor, with: state)
        }
      )
    }
    if checks.isTooOld(request) { return signal(here, cause: nil) }
    if case .lost? = comparison { return signal(here, cause: AnswerNotes.historyCause) }
    let mutations = try checks.check(request)
    let now = environment.now()
    let tag = environment.randomBits()
    let (body, there) = try await write {
      (state) throws(ServerStorageFailure) -> (ServerChanges, (PushAnswer, HistoryAnchor)) in
      var run = try PushRun(self.configuration, caller, state, now: now)
      let answer = try run.run(mutations, isAtomic: request.isAtomic)
      let changes = try run.work.changes(tag: tag)
      var anchor = try HistoryAnchor(of: state)
      if let counter = changes.counter { anchor = HistoryAnchor(history: anchor.history, counter) }
      return (changes, (answer, anchor))
    }
    marks.advance(to: there.number)
    return RemoteAnswer(body: body, notes: AnswerNotes(history: there.description))
  }

  /// What travels beside a refusal: the server's place in its history.
  public func notes() async throws(ErrorAnswer) -> AnswerNotes {
    AnswerNotes(
      history: try await read { (state) throws(ServerStorageFailure) in try HistoryAnchor(of: state).description })
  }

  /// How far the server has come: the highest number committed now, and each higher one as soon as a pull can see it; of several that were
  /// not taken the newest alone. Ends with the server.
  public func highMarks() -> AsyncStream<Int64> { marks.stream() }

  /// Ends ``highMarks()`` and closes the storage. Later calls answer an error.
  public func close() async throws(ServerStorageFailure) {
    marks.end()
    try await storage.close()
  }

  /// Records tables that are new, and refuses those that the stored feeds do not fit.
  private static func reconcile(
    _ configuration: ServerConfiguration, _ storage: any ServerStorage, now: Int64
  ) async throws {
    let mismatch: String? = try await storage.write { (state) throws(ServerStorageFailure) in
      var changes = ServerChanges(time: now)
      for (name, table) in configuration.tables {
        let record = TableRecord(name: name, bucketColumn: table.bucketColumn, keyColumns: table.keyColumns)
        guard let known = try state.table(name) else {
          changes.tables.append(record)
          continue
        }
        if known != record { return (ServerChanges(time: now), name) }
      }
      return (changes, nil)
    }
    guard let mismatch else { return }
    throw ServerConfigurationError(
      "the storage was filled with another bucket column or key of \(mismatch). Name those, or another table.")
  }

  // MARK: Inside

  func advance(to highMark: Int64) { marks.advance(to: highMark) }

  private func admit(_ caller: Caller) throws(ErrorAnswer) {
    guard (1...Caller.userIDByteCountMax).contains(caller.userID.storedByteCount) else {
      throw ErrorAnswer(
        code: .insufficientPrivilege,
        message: "the name of a user has 1 to \(Caller.userIDByteCountMax) bytes; the caller's has "
          + "\(caller.userID.storedByteCount)")
    }
    guard configuration.allowedRoles?.contains(caller.role) ?? true else {
      throw ErrorAnswer(code: .insufficientPrivilege, message: "the role \"\(caller.role)\" may not call")
    }
  }

  private func forbidsRecovery(of tables: [String]) -> Bool {
    configuration.forbidsRecovery || tables.contains { configuration.table($0)?.forbidsRecovery ?? false }
  }

  func read<Result>(
    _ body: (any ServerState) throws(ServerStorageFailure) -> Result
  ) async throws(ErrorAnswer) -> Result {
    do throws(ServerStorageFailure) { return try await storage.read(body) } catch { throw ErrorAnswer(error) }
  }

  func write<Result>(
    _ body: (any ServerState) throws(ServerStorageFailure) -> (ServerChanges, Result)
  ) async throws(ErrorAnswer) -> Result {
    do throws(ServerStorageFailure) { return try await storage.write(body) } catch { throw ErrorAnswer(error) }
  }
}

extension ErrorAnswer {
  init(_ failure: ServerStorageFailure) {
    self.init(code: failure.isTooLarge ? .batchTooLarge : nil, message: failure.reason)
  }
}
