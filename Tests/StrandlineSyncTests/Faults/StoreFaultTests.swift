import Glibc
import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// The disk refuses a write: what was asked for left nothing, told nothing, and works once the trouble is over.
struct StoreFaultTests {
  private static let refused = Fault.errno(Errno(EIO))

  @Test func `a disk that refuses fails each durable unit whole, and what is reopened is as before`() async throws {
    for (place, step) in SyncWorkload.steps.enumerated() {
      let disk = FaultyFileSystem(SimulatedDisk())
      let test = try await SyncWorkload.open(disk)
      for earlier in SyncWorkload.steps.prefix(place) { try await earlier.run(test) }
      let before = try await SyncWorkload.state(of: test.client)
      let events = await test.events()
      disk.fail([.write], with: Self.refused, .forever)
      // Owners and identities are settled before the next request; that call refuses nothing.
      let isDeferred = ["owner record", "identity change"].contains(step.name)
      let thrown = await code { try await step.run(test) }
      let expected: SyncErrorCode? = isDeferred ? nil : .store
      #expect(thrown == expected, "\(step.name)")
      #expect(try await SyncWorkload.state(of: test.client) == before, "\(step.name)")
      #expect(await test.events() == events, "\(step.name)")
      await test.client.dispose()
      disk.heal()
      let again = try await SyncWorkload.open(disk)
      #expect(try await SyncWorkload.state(of: again.client) == before, "\(step.name)")
      await again.client.dispose()
    }
  }

  /// What one unit has to put on the disk: more than the log has kept ready for it.
  private static let large: Value = .string(String(repeating: "x", count: 400_000))

  private static let verdict = ScriptedRemote.PushStep.answer(
    PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: ["text": large])]))
  private static let page = ScriptedRemote.PullStep.answer(.page("2", ["p3": ["text": large]]))

  /// Units that need space: what comes in front of each, the unit, and whether it is asked of the server once more.
  private static let spacious: [(name: String, before: [SyncWorkload.Step], step: SyncWorkload.Step)] = [
    (
      "write", [], SyncWorkload.Step(name: "write") { try await $0.insert("p1", ["text": large], id: "m1") }
    ),
    (
      "verdict", [SyncWorkload.Step(name: "write") { try await $0.insert("p1", [:], id: "m1") }],
      SyncWorkload.Step(name: "push") { test in
        test.remote.script(pushes: [verdict])
        try await test.client.pushOnce()
      }
    ),
    (
      "closing page",
      [
        SyncWorkload.Step(name: "stage") { test in
          test.remote.script(pulls: [.answer(.page("0:1", more: true, ["p2": [:]]))])
          try await test.client.pullOnce()
        }
      ],
      SyncWorkload.Step(name: "close") { test in
        test.remote.script(pulls: [page])
        try await test.client.pullOnce()
      }
    ),
  ]

  @Test func `on a full disk a write, a verdict and a closing page fail whole, and the retry works`() async throws {
    for (name, before, step) in Self.spacious {
      let disk = SimulatedDisk()
      let test = try await SyncWorkload.open(disk) {
        $0.storeOptions.log.spaceAheadByteCount = 64 << 10
        $0.storeOptions.log.compresses = false
      }
      try await test.client.setAccessToken(token("u1"))
      try await test.client.setBucket(["team": "a"])
      for step in before { try await step.run(test) }
      let state = try await SyncWorkload.state(of: test.client)
      let events = await test.events()
      disk.edit { $0.byteCountMax = $0.usedByteCount }
      #expect(await code { try await step.run(test) } == .store, "\(name)")
      #expect(try await SyncWorkload.state(of: test.client) == state, "\(name)")
      #expect(await test.events() == events, "\(name)")
      disk.edit { $0.byteCountMax = nil }
      try await step.run(test)
      #expect(try await SyncWorkload.state(of: test.client) != state, "\(name)")
      #expect(await test.events().count > events.count, "\(name)")
      if name == "closing page" { #expect(try await test.client.liveRows().map(\.pk) == ["p2", "p3"]) }
      if name == "verdict" { #expect(test.remote.pushRequests.map { $0.mutations.map(\.id) } == [["m1"], ["m1"]]) }
      try await test.client.close()
    }
  }

  @Test func `a request is not made while the owner cannot be recorded or the block not latched`() async throws {
    for isOwned in [false, true] {
      let disk = FaultyFileSystem(SimulatedDisk())
      let test = try await SyncWorkload.open(disk)
      try await test.client.setBucket(["team": "a"])
      if isOwned { try await test.client.setAccessToken(token("u1")) }
      disk.fail([.write], with: Self.refused, .forever)
      try await test.client.setAccessToken(token("u2"))
      #expect(await code { try await test.client.pullOnce() } == .store)
      // What is wrong was said once; a store that takes no more writes is as good as closed.
      #expect(await code { try await test.client.pushOnce() } == .engineUnavailable)
      #expect(test.client.session.state == .closed)
      #expect(test.remote.requestCount == 0)
      #expect(await test.eventNames().isEmpty)
      await test.client.dispose()
      disk.heal()
      // The token is at hand again, and so is the trouble with it.
      let again = try await SyncWorkload.open(disk) { $0.accessToken = token("u2") }
      try await again.client.setBucket(["team": "a"])
      try await again.client.pullOnce()
      #expect(again.remote.requestCount == (isOwned ? 0 : 1))
      #expect(try await again.client.checkpoint().softBlockReason == (isOwned ? .identityChanged : nil))
      try await again.client.close()
    }
  }

  @Test func `a client opens where the store cannot keep its identity, and asks again before a request`() async throws {
    let disk = FaultyFileSystem(SimulatedDisk())
    let first = try await SyncWorkload.open(disk)
    try await first.client.setAccessToken(token("u1"))
    try await first.client.commit(.imported) { state in try state.setMeta(.clientID, nil) }
    try await first.client.close()
    // Opening itself writes too; what comes behind it is the identity.
    let counter = FaultyFileSystem(disk)
    let probe = try await SyncWorkload.open(counter)
    let writeCount = counter.counts[.write] ?? 0
    await probe.client.dispose()
    let kept = try await SyncWorkload.open(disk)
    try await kept.client.commit(.imported) { state in try state.setMeta(.clientID, nil) }
    try await kept.client.close()
    disk.fail([.write], call: max(0, writeCount - 1), with: Self.refused, .forever)
    let test = try await SyncWorkload.open(disk)
    #expect(try await test.client.inspect().clientID == nil)
    #expect(await code { try await test.client.pullOnce() } == .store)
    #expect(test.remote.requestCount == 0)
    await test.client.dispose()
  }

  @Test func `on a full disk another bucket value is not taken, and the next request names the old one`() async throws {
    let disk = SimulatedDisk()
    let test = try await SyncWorkload.open(disk) {
      $0.storeOptions.log.spaceAheadByteCount = 64 << 10
      $0.storeOptions.log.compresses = false
    }
    try await test.client.setAccessToken(token("u1"))
    try await test.client.setBucket(["team": "a"])
    test.remote.script(pulls: [.answer(.page("5", ["p1": [:]]))])
    try await test.client.pullOnce()
    disk.edit { $0.byteCountMax = $0.usedByteCount }
    let large = String(repeating: "b", count: 400_000)
    #expect(await code { try await test.client.setBucket(["team": large]) } == .store)
    disk.edit { $0.byteCountMax = nil }
    try await test.client.pullOnce()
    #expect(test.remote.pullRequests.map(\.cursor) == ["0", "5"])
    #expect(test.remote.pullRequests.last?.buckets.first { $0.table == "teams" }?.params == ["team": "a"])
    try await test.client.close()
  }
}
