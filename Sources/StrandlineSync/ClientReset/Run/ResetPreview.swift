@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// A reset that changes nothing: the same fresh copy, the same replay, and a report. With the network gate held.
struct ResetPreview: Sendable {
  let client: SyncClient
  let mode: ClientResetMode

  func run() async throws -> ClientResetReport {
    if try client.read({ try $0.softBlock() }) == .identityChanged {
      throw SyncError(.localUnsupported, "the store belongs to another user: no reset runs for this one")
    }
    let (stored, anchor) = try client.read { (try $0.resetDemand(), try $0.metaText(.historyAnchor)) }
    let now = client.configuration.clock.milliseconds()
    let demand =
      stored
      ?? ClientResetDemand(
        kind: .application, message: "a dry run", anchor: anchor, serverHistory: nil,
        schemaVersion: client.configuration.schemaVersion, isRecoveryForbidden: false,
        isAccepted: false, at: now, launch: Launch.id)
    if mode.name == .manual { return try manual(demand, now) }
    return try await ResetAttempt(client: client, mode: mode, demand: demand, isForced: true).preview()
  }

  /// What the action would erase.
  private func manual(_ demand: ClientResetDemand, _ now: Int64) throws -> ClientResetReport {
    try client.read { view in
      var report = ClientResetReport(
        attemptID: "preview", demand: demand, configuredMode: .manual, effectiveMode: .manual, startedAt: now)
      report.isPreview = true
      try report.countErased(view)
      report.keptCopy.absence = client.isInMemory ? "the store is in memory" : "would be made"
      return report
    }
  }
}
