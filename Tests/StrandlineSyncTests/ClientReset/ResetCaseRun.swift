@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// A case in one mode: played from end to end, with what holds of every reset looked at beside its outcome.
struct ResetCaseRun: Sendable, CustomTestStringConvertible {
  var row: ResetCase
  var mode: ResetCase.Mode

  var testDescription: String {
    "case \(row.number)\(row.reading.isEmpty ? "" : ", \(row.reading)"), \(mode.rawValue)"
  }

  /// What the callbacks were given.
  private final class Calls: Sendable {
    struct State {
      var before: [UInt64] = []
      var after: [ResetCase.Rows] = []
    }

    private let state = Lock(State())
    var now: State { state.withLock { $0 } }

    func mode(_ name: ClientResetMode.Name) throws -> ClientResetMode {
      try ClientResetMode(
        name, before: { [self] view in state.withLock { $0.before.append(view.sequence.rawValue) } },
        after: { [self] _, client, _ in
          let rows = try await ResetCaseRun.rows(of: client)
          state.withLock { $0.after.append(rows) }
        })
    }
  }

  private static func rows(of client: SyncClient, in table: String = "todos") async throws -> ResetCase.Rows {
    Dictionary(
      uniqueKeysWithValues: try await client.liveRows().filter { $0.table == table }.map { ($0.pk, $0.columns) })
  }

  private static func rows(of server: SmallServer, in table: String = "todos") -> ResetCase.Rows {
    Dictionary(
      uniqueKeysWithValues: server.now.content.rows.filter { $0.key.table == table }
        .map { ($0.key.pk, $0.value.columns) })
  }

  func check() async throws {
    let calls = Calls()
    let test = try await ResetTest.open(try calls.mode(mode.name))
    try await prepare(test)
    let local = try await test.rows()
    _ = await test.eventNames()
    let toldCount = test.log.events.count
    try await test.client.sync()

    // The outcome, here and on the server.
    let expected = mode.isRecovering ? row.recovered : row.server.compactMapValues { $0 }
    #expect(try await test.rows() == expected)
    #expect(Self.rows(of: test.server) == expected)
    #expect(try await test.rows(in: "notes") == Self.rows(of: test.server, in: "notes"))
    #expect(try await test.depth() == 0)
    #expect(test.errors.all.isEmpty)
    let report = try #require(try await test.reports().last)
    #expect(try await test.reports().count == 1)
    try await check(report, test)

    // Two commits: the marker behind the state that before saw, and the switch.
    let seen = calls.now
    #expect(seen.before.map { $0 + 1 } == [report.sequenceBefore])
    #expect(report.sequenceAfter == report.sequenceBefore + 1)
    #expect(report.beforeCallCount == 1 && report.afterCallCount == 1 && seen.after.count == 1)
    // The fresh copy is gone, and so are demand, block and marker.
    #expect(try test.client.store.stagingNames().isEmpty)
    let view = try test.client.store.view()
    #expect(try view.softBlock() == nil)
    #expect(try view.resetDemand() == nil)
    #expect(try view.resetRecord() == nil)
    await check(report, from: local, to: seen.after.first ?? [:], behind: toldCount, test)

    // A second run has nothing to do.
    let (meta, served) = (try await test.client.stateRows(of: StateTable.meta), test.server.now)
    try await test.client.sync()
    #expect(try await test.client.stateRows(of: StateTable.meta) == meta)
    #expect(try await test.rows() == expected)
    #expect(test.server.now.content == served.content && test.server.now.pushedIDs == served.pushedIDs)
    try await test.client.close()
  }

  private func prepare(_ test: ResetTest) async throws {
    for (pk, columns) in row.base { test.server.put(pk, columns) }
    // Something to pull in any case: a store that was never written runs no attempt.
    test.server.put("always", ["x": 1], in: "notes")
    try await test.client.sync()
    for step in row.steps {
      switch step {
      case .insert(let pk, let columns): try await test.insert(pk, columns)
      case .set(let pk, let columns): try await test.update(pk, columns)
      case .change(let pk, let transforms): try await test.update(pk, [:], transforms: transforms)
      case .delete(let pk): try await test.delete(pk)
      }
    }
    test.server.restore(SmallServer.Content())
    test.server.change { $0.isRecoveryForbidden = mode == .forbidden }
    test.server.put("always", ["x": 1], in: "notes")
    for (pk, columns) in row.server {
      if let columns { test.server.put(pk, columns) } else { test.server.remove(pk) }
    }
  }

  /// What became of the queue.
  private func check(_ report: ClientResetReport, _ test: ResetTest) async throws {
    let entries = report.entries
    #expect(entries.pending == row.steps.count)
    #expect(
      entries.pending
        == entries.kept + entries.settled + entries.dropped + entries.deferred + entries.discarded)
    #expect(report.didRecover == mode.isRecovering)
    #expect(report.fallbacks.map(\.reason) == (mode == .forbidden ? [.recoveryForbidden] : []))
    #expect(report.dropped.map(\.reason) == (mode.isRecovering ? row.dropped : []))
    #expect(try await test.client.deadLetters().map(\.mutationID) == report.dropped.map(\.mutationID))
    #expect(entries.discarded == (mode.isRecovering ? 0 : row.steps.count))
    #expect(test.server.now.pushedIDs.count == entries.kept)
  }

  /// What was told: the rows that read differently behind the switch, and no other.
  private func check(
    _ report: ClientResetReport, from before: ResetCase.Rows, to after: ResetCase.Rows, behind count: Int,
    _ test: ResetTest
  ) async {
    var counts = ClientResetReport.Rows()
    var keys: Set<String> = []
    for pk in Set(before.keys).union(after.keys) where before[pk] != after[pk] {
      keys.insert(pk)
      if before[pk] == nil {
        counts.added += 1
      } else if after[pk] == nil {
        counts.removed += 1
      } else {
        counts.changed += 1
      }
    }
    #expect(report.rowsByTable == (keys.isEmpty ? [:] : ["todos": counts]))
    await test.settle()
    var told = test.log.events.dropFirst(count)
    if !keys.isEmpty {
      guard case .localChanged(let changes)? = told.popFirst() else {
        Issue.record("the first event is no localChanged")
        return
      }
      #expect(changes.tables == ["todos": .keys(keys)])
    }
    guard case .didReset(let told)? = told.first else {
      Issue.record("no didReset behind what changed")
      return
    }
    #expect(told.attemptID == report.attemptID)
  }
}
