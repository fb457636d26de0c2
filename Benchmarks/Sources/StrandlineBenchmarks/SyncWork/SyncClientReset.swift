internal import StrandlineSync

/// `sync.clientReset.*`: a client with all rows and some queued writes takes the state of a server that was restored.
struct SyncClientReset: Subject {
  let mode: ClientResetMode.Name
  /// Queued writes for so many rows each; 0: none.
  let rowsPerQueued: Int
  /// Whether the application looks at the state before.
  var hasBefore = true

  var name: SubjectName { .strandline }

  private func pendingCount(_ site: Site) -> Int { rowsPerQueued == 0 ? 0 : site.rowCount / rowsPerQueued }

  func prepare(_ site: Site) throws { _ = try SyncStage(site: site).loaded(pendingCount: pendingCount(site)) }

  func sample(_ site: Site) throws -> Sample {
    let stage = SyncStage(site: site)
    let pendingCount = pendingCount(site)
    let rowCount = site.rowCount
    return try stage.site.withCopy(of: try stage.loaded(pendingCount: pendingCount)) { copy in
      let written = ProcessUsage.writtenByteCount
      let outcome = try waitFor {
        try await mode == .manual
          ? performAction(copy, rowCount, pendingCount) : reset(copy, rowCount, pendingCount)
      }
      var sample = Sample()
      sample[.seconds] = outcome.seconds
      sample[.writersBlocked] = outcome.writersBlocked
      if let written, let now = ProcessUsage.writtenByteCount { sample[.bytesWritten] = Double(now - written) }
      sample.addPeakResident()
      return sample
    }
  }

  private struct Outcome: Sendable {
    var seconds: Double
    var writersBlocked: Double
  }

  /// What the handlers of a client saw.
  private final class Seen: @unchecked Sendable {
    // Sendable: behind its lock.
    private let lock = Lock()
    private var report: (report: ClientResetReport, at: UInt64)?
    private var token: ResetToken?

    func note(_ report: ClientResetReport) { lock.withLock { self.report = (report, monotonicNanoseconds()) } }
    func note(_ token: ResetToken) { lock.withLock { self.token = token } }
    var whole: (report: ClientResetReport, at: UInt64)? { lock.withLock { report } }
    var action: ResetToken? { lock.withLock { token } }
  }

  /// From the demand until the application is told, rows made by the server included.
  private func reset(_ path: String, _ rowCount: Int, _ pendingCount: Int) async throws -> Outcome {
    let seen = Seen()
    let look: ClientResetMode.BeforeReset = { view in
      guard try view.outboxDepth() == pendingCount else { throw BenchmarkError.finding("another queue before") }
    }
    let before = hasBefore ? look : nil
    let after: ClientResetMode.AfterReset = { _, _, report in seen.note(report) }
    let client = try await SyncStage.open(path, remote: RestoredRemote(rowCount: rowCount)) { configuration in
      configuration.clientReset =
        switch mode {
        case .discard: .discardUnsyncedChanges(before: before, after: after)
        case .recoverOrDiscard: .recoverOrDiscardUnsyncedChanges(before: before, after: after)
        case .recover, .manual: .recoverUnsyncedChanges(before: before, after: after)
        }
    }
    let begun = monotonicNanoseconds()
    // What was recovered cannot be uploaded here, and need not be.
    try? await client.startClientReset()
    guard let (report, ended) = seen.whole else { throw BenchmarkError.finding("no reset was reported") }
    let entries = report.entries
    guard entries.pending == pendingCount, (mode == .discard ? entries.discarded : entries.kept) == pendingCount else {
      throw BenchmarkError.finding("the report counts other writes than were queued")
    }
    try await client.close()
    return Outcome(seconds: Double(ended - begun) / 1e9, writersBlocked: Double(report.writersBlockedFor) / 1e9)
  }

  /// The action of a manual reset, its copy included.
  private func performAction(_ path: String, _ rowCount: Int, _ pendingCount: Int) async throws -> Outcome {
    let seen = Seen()
    let client = try await SyncStage.open(path, remote: RestoredRemote(rowCount: rowCount)) { configuration in
      configuration.clientReset = .manual { error, _ in
        if let token = (error as? SyncError)?.resetInfo?.token { seen.note(token) }
      }
    }
    try? await client.startClientReset()
    while seen.action == nil { await Task.yield() }
    guard let token = seen.action else { throw BenchmarkError.finding("no token came") }
    let begun = monotonicNanoseconds()
    try await client.performResetAction(token)
    let taken = seconds(since: begun)
    guard try await client.outboxDepth() == 0 else { throw BenchmarkError.finding("writes are still queued") }
    try await client.close()
    return Outcome(seconds: taken, writersBlocked: taken)
  }
}
