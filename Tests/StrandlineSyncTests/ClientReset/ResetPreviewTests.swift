@_spi(Engine) import Strandline
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ResetPreviewTests {
  /// What a dry run and a reset must agree on.
  private static func compared(_ report: ClientResetReport) -> ClientResetReport {
    var report = report
    report.attemptID = ""
    report.isPreview = false
    report.startedAt = 0
    report.switchedAt = 0
    report.writersBlockedFor = 0
    report.epoch = 0
    report.sequenceBefore = 0
    report.sequenceAfter = 0
    report.keptCopy = .init()
    report.newClientID = nil
    report.demand.at = 0
    report.demand.isAccepted = false
    report.demand.message = ""
    report.demand.kind = .history
    report.demand.serverHistory = nil
    return report
  }

  @Test(arguments: ["recover", "discard", "recover-or-discard"])
  func `a dry run answers what the reset does, and changes nothing`(_ word: String) async throws {
    let mode = try ClientResetMode(text: word)
    let test = try await ResetTest.open(mode)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.update("b", ["title": "lost"], id: "m2")
    let before = try await test.client.stateRows(of: StateTable.meta)
    let sequence = try test.client.read { $0.sequence }
    let preview = try await test.client.previewReset(mode)
    #expect(preview.isPreview && preview.entries.pending == 2)
    #expect(try await test.client.stateRows(of: StateTable.meta) == before)
    #expect(try test.client.read { $0.sequence } == sequence)
    #expect(try test.client.store.stagingNames().isEmpty)
    #expect(try await test.client.keptCopies().isEmpty)
    let names = await test.eventNames()
    #expect(!names.contains("DID_RESET") && !names.contains("RESET_REQUIRED"))
    try await test.client.sync()
    let report = try #require(try await test.reports().last)
    #expect(Self.compared(preview) == Self.compared(report))
    try await test.client.close()
  }

  @Test func `dry runs do not fill the server's registry, and the attempt takes their client id`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    let first = try await test.client.previewReset(.recoverUnsyncedChanges())
    let second = try await test.client.previewReset(.discardUnsyncedChanges())
    #expect(first.newClientID == second.newClientID)
    try await test.client.sync()
    #expect(try await test.reports().last?.newClientID == first.newClientID)
    try await test.client.close()
  }

  @Test func `manual: what the action would erase, without a download`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let count = test.server.now.pullCount
    let report = try await test.client.previewReset(.manual())
    #expect(test.server.now.pullCount == count)
    #expect(
      report.entries.discarded == 1 && report.rowsByTable["todos"]?.removed == 2 && report.effectiveMode == .manual)
    try await test.client.close()
  }

  @Test func `it fails as the attempt would, latching nothing`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    test.server.change { $0.isRecoveryForbidden = true }
    #expect(
      await resetReason { _ = try await test.client.previewReset(.recoverUnsyncedChanges()) } == .recoveryForbidden)
    #expect(try await !test.client.previewReset(.recoverOrDiscardUnsyncedChanges()).didRecover)
    #expect(try await !test.isBlocked())
    #expect(try test.client.store.stagingNames().isEmpty)
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setAccessToken(token("u2"))
    #expect(await code { _ = try await test.client.previewReset(.recoverUnsyncedChanges()) } == .localUnsupported)
    try await test.client.close()
  }
}
