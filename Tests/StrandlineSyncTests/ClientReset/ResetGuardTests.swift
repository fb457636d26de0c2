import Testing

@testable @_spi(Scenario) import StrandlineSync

/// The guard table of Docs/ClientReset.md, row by row.
struct ResetGuardTests {
  private static func demand(_ kind: ClientResetDemand.Kind = .history, history: String? = "h1", schema: Int = 1)
    -> ClientResetDemand
  {
    ClientResetDemand(
      kind: kind, message: "", anchor: nil, serverHistory: history, schemaVersion: schema, isRecoveryForbidden: false,
      isAccepted: true, at: 0, launch: "l")
  }

  private static func record(
    _ phase: ResetRecord.Phase, _ running: ResetRecord.Running = .recover,
    change: (inout ResetRecord) -> Void = { _ in }
  ) -> ResetRecord {
    var record = ResetRecord(
      attemptID: "a", configuredMode: .recover, running: running, phase: phase, demand: demand(), digest: "d",
      clientID: "c", stagingID: "s", startedAt: 0)
    change(&record)
    return record
  }

  static let anyDemand = demand()

  private func judge(
    _ record: ResetRecord?, _ mode: ClientResetMode.Name, demand: ClientResetDemand = Self.demand(),
    digest: String = "d",
    isSameOpen: Bool = false
  ) -> ResetGuard.Verdict {
    ResetGuard.judge(record, mode: mode, demand: demand, digest: digest, isSameOpen: isSameOpen)
  }

  private static let modes: [ClientResetMode.Name] = [.discard, .recover, .recoverOrDiscard]

  @Test func `no record and a fresh one: go`() {
    for mode in Self.modes {
      let wish: ResetRecord.Running = mode == .discard ? .discard : .recover
      #expect(judge(nil, mode) == .go(wish, .init()))
      #expect(judge(Self.record(.fresh), mode) == .go(wish, .init(keepsStaging: true)))
    }
  }

  @Test(arguments: [ResetRecord.Phase.ready, .marker])
  func `the first crash: go once more, as what was running`(_ phase: ResetRecord.Phase) {
    let crashed = Self.record(phase, .discard) { $0.isRunning = true }
    let counts = ResetGuard.Counts(crashes: 1, keepsStaging: true)
    #expect(judge(crashed, .discard) == .go(.discard, counts))
    #expect(judge(crashed, .recover) == .go(.recover, counts))
    #expect(judge(crashed, .recoverOrDiscard) == .go(.discard, counts))
    // Put back in order: no crash.
    #expect(judge(Self.record(phase), .recover) == .go(.recover, .init(keepsStaging: true)))
  }

  @Test func `the second crash counts in the mode that was running`() {
    let recovering = Self.record(.marker) {
      $0.isRunning = true
      $0.crashCount = 1
    }
    let counts = ResetGuard.Counts(keepsStaging: true)
    #expect(judge(recovering, .discard) == .go(.discard, counts))
    #expect(judge(recovering, .recover) == .refuse(afterCrashes: true))
    #expect(judge(recovering, .recoverOrDiscard) == .go(.discard, counts))
    var discarding = recovering
    discarding.running = .discard
    for mode in Self.modes { #expect(judge(discarding, mode) == .refuse(afterCrashes: true)) }
  }

  @Test func `failed, counted in recover: discard may go, recover may not`() {
    let failed = Self.record(.failed) {
      $0.failure = .init(reason: .recoveryImpossible, running: .recover, isCounted: true, message: "")
    }
    #expect(judge(failed, .discard) == .go(.discard, .init()))
    #expect(judge(failed, .recover) == .refuse(afterCrashes: false))
    #expect(judge(failed, .recoverOrDiscard) == .go(.discard, .init()))
  }

  @Test func `failed, counted in discard: nothing may go`() {
    let failed = Self.record(.failed) {
      $0.failure = .init(reason: .freshCopyUnfit, running: .discard, isCounted: true, message: "")
    }
    for mode in Self.modes { #expect(judge(failed, mode) == .refuse(afterCrashes: false)) }
  }

  @Test func `failed, not counted: at the next open`() {
    let failed = Self.record(.failed) {
      $0.failure = .init(reason: .beforeCallbackFailed, running: .recover, isCounted: false, message: "")
    }
    #expect(judge(failed, .recover, isSameOpen: true) == .later)
    #expect(judge(failed, .recover) == .go(.recover, .init()))
  }

  @Test func `switched and demanded again: once, then no more`() {
    var switched = Self.record(.switched) { $0.switchCount = 1 }
    #expect(judge(switched, .recover) == .go(.recover, .init(repeats: 1, switches: 1)))
    switched.repeatCount = 1
    for mode in Self.modes { #expect(judge(switched, mode) == .refuse(afterCrashes: false)) }
    // Another demand is no loop.
    #expect(judge(switched, .recover, demand: Self.demand(history: "h2")) == .go(.recover, .init(switches: 1)))
  }

  @Test func `the sixth switch in a row without an acknowledgement is refused whatever the demands are`() {
    var switched = Self.record(.switched) { $0.switchCount = 4 }
    let other = Self.demand(history: "h9")
    #expect(judge(switched, .recover, demand: other) == .go(.recover, .init(switches: 4)))
    switched.switchCount = 5
    #expect(judge(switched, .recover, demand: other) == .refuse(afterCrashes: false))
  }

  @Test func `another demand, another engine or another schema counts as no record`() {
    let failed = Self.record(.failed) {
      $0.failure = .init(reason: .freshCopyUnfit, running: .discard, isCounted: true, message: "")
    }
    #expect(judge(failed, .recover, demand: Self.demand(history: "h2")) == .go(.recover, .init()))
    #expect(judge(failed, .recover, demand: Self.demand(.application)) == .go(.recover, .init()))
    #expect(judge(failed, .recover, digest: "other") == .go(.recover, .init()))
    let gated = Self.record(.failed) {
      $0.demand = Self.demand(.gate, schema: 1)
      $0.failure = .init(reason: .freshCopyUnfit, running: .discard, isCounted: true, message: "")
    }
    #expect(judge(gated, .recover, demand: Self.demand(.gate, schema: 2)) == .go(.recover, .init()))
  }

  @Test func `an action of the manual mode stands in nobody's way`() {
    #expect(judge(Self.record(.action, .discard), .recover) == .go(.recover, .init()))
  }

  @Test func `a record that cannot be read or is of a later format counts as none`() throws {
    let record = Self.record(.marker)
    #expect(ResetRecord(try StoredJSON.encode(record)) == record)
    var later = record
    later.format = 2
    #expect(ResetRecord(try StoredJSON.encode(later)) == nil)
    #expect(ResetRecord("{") == nil && ResetRecord(nil) == nil && ResetRecord("{\"format\":1}") == nil)
  }
}
