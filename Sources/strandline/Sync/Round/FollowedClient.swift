import StrandlineLog
@_spi(Engine) import StrandlineSync
import Synchronization

/// A client that is opened for each round and closed behind it, so that other processes can write to its store in between.
final class FollowedClient: ScheduledClient {
  private struct State {
    var budget = DeadLetterBudget()
    /// Not taken yet.
    var rounds: [SyncRound] = []
    var block: SoftBlockReason?
    var isRunning = false
    /// The files of the store behind the last round.
    var files: DirectorySignature?
    var reportDepth: (@Sendable (Int) -> Void)?
  }

  private let access: SyncAccess
  let settings: SyncSettings
  private let plan: SyncRound.Plan
  private let remote: any Remote
  private let state = Mutex(State())

  init(_ access: SyncAccess, _ settings: SyncSettings, _ plan: SyncRound.Plan, over remote: any Remote) {
    self.access = access
    self.settings = settings
    self.plan = plan
    self.remote = remote
  }

  func sync() async throws {
    let budget = state.withLock { state in
      state.isRunning = true
      return state.budget
    }
    let (round, spent): (SyncRound, DeadLetterBudget)
    do {
      (round, spent) = try await SyncRound.run(
        access, settings, plan, over: MeteredRemote(remote), budget: budget)
    } catch {
      end { _ in }
      throw error
    }
    end { state in
      state.budget = spent
      // What goes on by itself does not end the rounds.
      state.block = round.stop.flatMap { $0.isPassing ? nil : $0.reason }
      state.rounds.append(round)
    }
    if isBehind(round) { state.withLock { $0.reportDepth }?(1) }
    if let error = round.error { throw error }
  }

  /// Whoever hears of the round may write from then on, and is seen to have written.
  private func end(_ note: (inout State) -> Void) {
    let files = DirectorySignature(access.path)
    state.withLock { state in
      state.isRunning = false
      state.files = files
      note(&state)
    }
  }

  /// Whether another process has written before it was noted how the files were: the store was closed already.
  private func isBehind(_ round: SyncRound) -> Bool {
    guard let store = try? StoreAccess.reading(access.path) else { return false }
    defer { try? store.close() }
    return store.position.sequence > round.sequence
  }

  func onQueueDepth(_ report: @escaping @Sendable (Int) -> Void) -> @Sendable () -> Void {
    state.withLock { $0.reportDepth = report }
    return { [weak self] in self?.state.withLock { $0.reportDepth = nil } }
  }

  /// The token is read anew for each round, and nothing refreshes it.
  func renewalGivenUp() {}

  /// Why syncing has stopped, as of the last round.
  var block: SoftBlockReason? { state.withLock { $0.block } }

  var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Rounds that have not been taken yet, oldest first.
  func takeRounds() -> [SyncRound] {
    state.withLock { state in
      defer { state.rounds = [] }
      return state.rounds
    }
  }

  /// Looks whether another process has written to the store since the last round, which may have queued something.
  func lookForWrites() {
    let report = state.withLock { state -> (@Sendable (Int) -> Void)? in
      guard !state.isRunning, let files = state.files else { return nil }
      let now = DirectorySignature(access.path)
      if now == files { return nil }
      state.files = now
      return state.reportDepth
    }
    report?(1)
  }
}
