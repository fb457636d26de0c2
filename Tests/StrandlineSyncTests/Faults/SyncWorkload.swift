import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport

@testable @_spi(Scenario) import StrandlineSync

/// Every kind of durable unit that a client has, one after the other.
enum SyncWorkload {
  struct Step: Sendable {
    var name: String
    var run: @Sendable (TestClient) async throws -> Void
  }

  static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(conflictMode: .hlc, indexes: [IndexSchema("by_title", ["title"])]),
    "mine": TableConfiguration(bucket: .byOwner("owner")), "teams": TableConfiguration(bucket: .byColumn("team")),
  ]

  static let steps: [Step] = [
    Step(name: "local write") { try await $0.insert("p1", ["title": "a", "n": 1], id: "m1") },
    Step(name: "write of several rows") { test in
      try await test.client.write { tx in
        try tx.insert(["title": "b"], into: "todos", pk: "p2")
        try tx.update("p1", in: "todos", transforms: ["n": .increment(WholeNumber("4") ?? .zero)])
      }
    },
    Step(name: "write by filter") { test in
      try await test.client.applyWhere(
        .update, in: "todos", filters: [.column("title", .in, ["a", "b"])], columns: ["done": true])
    },
    Step(name: "owner record") { try await $0.client.setAccessToken(token("u1")) },
    Step(name: "first scope") { try await $0.client.setBucket(["team": "a"]) },
    Step(name: "verdict reconcile") { test in
      test.remote.script(pushes: [
        .answer(PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: ["title": "server", "n": 0])]))
      ])
      try await test.client.pushOnce()
    },
    Step(name: "batch abort") { test in
      let id = try await test.client.inspect().head[0].mutationID
      test.remote.script(pushes: [
        .answer(
          PushAnswer(
            abort: .init(outcome: "aborted", offenderMutationID: id, reason: "RLS_DENIED", serverRow: nil)))
      ])
      try await test.client.pushOnce()
    },
    Step(name: "stage page") { test in
      test.remote.script(pulls: [.answer(.page("0:3", more: true, ["p1": ["title": "x", "n": 9], "p5": [:]]))])
      try await test.client.pullOnce()
    },
    Step(name: "close pull") { test in
      test.remote.script(pulls: [
        .answer(
          .page(
            "7", ["p6": ["title": "y"]], gone: ["p5"],
            conflicts: [
              .init(
                table: "todos", pk: "p6", column: "title", loserValue: 1, winnerMutationID: "w", conflictMode: "hlc",
                winnerSeq: "7")
            ]))
      ])
      try await test.client.pullOnce()
    },
    Step(name: "dismiss") { test in
      try await test.client.dismissRejection("m1")
    },
    Step(name: "stage again") { test in
      test.remote.script(pulls: [.answer(.page("7:8", more: true, ["p7": [:]]))])
      try await test.client.pullOnce()
    },
    Step(name: "drop staging") { test in
      test.remote.script(pulls: [.failure(ScriptedRemote.offline)])
      do { try await test.client.pullOnce() } catch let error as SyncError where error.catalogueCode == .remote {}
    },
    Step(name: "checkpoint expired") { test in
      test.remote.script(pulls: [.answer(.signal("CHECKPOINT_EXPIRED"))])
      try await test.client.pullOnce()
    },
    Step(name: "rehydration") { test in
      test.remote.script(pulls: [.answer(.page("9", ["p8": ["title": "z"]]))])
      try await test.client.pullOnce()
    },
    Step(name: "scope change") { try await $0.client.setBucket(["team": "b"]) },
    Step(name: "dead letter") { test in
      try await test.client.write { tx in _ = try tx.insert(["title": "q"], into: "todos", pk: "p9") }
    },
    Step(name: "dead letter's drop") { test in
      test.remote.script(
        pulls: [.answer(.signal("UNKNOWN"))],
        pushes: [.applied, .applied, .applied, .applied].dropLast(2) + [.failure(.refused(.batchTooLarge, "too large"))]
      )
      do { try await test.client.sync() } catch let error as SyncError where error.catalogueCode == .unknownSignal {}
    },
    Step(name: "seed cursor") { try await $0.client.seedCheckpoint("33") },
    Step(name: "identity change") { try await $0.client.setAccessToken(token("u2")) },
    Step(name: "owner resumed") { test in
      try await test.client.setAccessToken(token("u1"))
      try await test.client.resumeAsOwner()
    },
    Step(name: "reset required") { test in
      test.remote.script(pulls: [.answer(.signal("RESET_REQUIRED"))])
      try await test.client.pullOnce()
    },
    Step(name: "reset") { _ = try await $0.client.reset() },
    Step(name: "write behind the reset") { try await $0.insert("p1", ["title": "new"], id: "m1") },
  ]

  static func open(
    _ fileSystem: any FileSystem, change: (inout SyncConfiguration) -> Void = { _ in }
  ) async throws -> TestClient {
    try await TestClient.open(tables, at: "/store") { configuration in
      configuration.storeOptions.durability = .synced
      configuration.storeOptions.log.environment.fileSystem = fileSystem
      configuration.storeOptions.log.idleMarkInterval = nil
      change(&configuration)
    }
  }

  /// Everything that a client keeps.
  static func state(of client: SyncClient) async throws -> [String: [Row]] {
    var state: [String: [Row]] = [:]
    for table in StateTable.schemas.map(\.name) {
      state[table] = try await client.stateRows(of: table).filter { $0["key"] != "incarnation" }
    }
    for row in try await client.liveRows() {
      state[row.table, default: []].append([
        "pk": .string(row.pk), "seq": .string(row.seq), "row": .object(row.columns),
      ])
    }
    return state
  }
}
