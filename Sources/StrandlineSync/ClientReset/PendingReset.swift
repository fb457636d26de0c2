@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// A client reset that is asked for and has not happened.
public struct PendingReset: Hashable, Sendable {
  /// What it waits for. Until then nothing is erased, and local reads and writes go on.
  public enum Next: String, Hashable, Sendable, CaseIterable {
    /// The next ``SyncClient/sync()`` tries it, or goes on where it stopped.
    case sync
    /// The first `sync()` after the client has been opened again; ``SyncClient/startClientReset(_:)`` tries at once.
    case open
    /// The first open by a later process keeps a copy and begins anew: from then on queued writes are in the copy only.
    /// ``SyncClient/performResetAction(_:withoutCopy:)`` does so at once, ``SyncClient/startClientReset(_:)`` tries in another way.
    case action
    /// An application with a higher schema version, which the server wants.
    case application
    /// Nothing happens by itself any more: ``SyncClient/startClientReset(_:)``, the action by its token, or another application.
    case decision
  }

  public var next: Next
  public var demand: ClientResetDemand
  /// Why it has not happened; nil: it has not been tried, or has not come to its end.
  public var reason: ClientResetInfo.Reason?
  /// For ``SyncClient/performResetAction(_:withoutCopy:)``; nil where there is no action.
  public var token: ResetToken?
  /// Where the action will put its copy.
  public var keptCopyPath: String?
}

extension SyncClient {
  /// The client reset that syncing waits for; nil: it waits for none.
  public func pendingReset() async throws -> PendingReset? {
    try ensureOpen()
    let (block, demand, record) = try read { (try $0.softBlock(), try $0.resetDemand(), try $0.resetRecord()) }
    guard block == .resetRequired, let demand else { return nil }
    guard demand.isDue(schemaVersion: configuration.schemaVersion) else {
      return PendingReset(next: .application, demand: demand, reason: .schemaGate)
    }
    var pending = PendingReset(next: .sync, demand: demand)
    pending.reason = record?.failures.last?.reason
    if let action = record?.action {
      if record?.phase == .action { pending.reason = .manual }
      pending.token = ResetToken(action.token)
      if !isInMemory { pending.keptCopyPath = copies.path(of: action.copyName, in: action.copyDirectory) }
    }
    if record?.action?.isAutomatic == true {
      pending.next = .action
    } else if let record, record.phase == .failed || pending.token != nil {
      let isTriedAgain = record.phase == .failed && record.failure?.isCounted == false
      pending.next = isTriedAgain ? (withMemory { $0.hasResetFailed } ? .open : .sync) : .decision
    }
    return pending
  }
}
