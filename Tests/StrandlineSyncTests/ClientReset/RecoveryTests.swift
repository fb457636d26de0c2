import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// The rule table of recovery, row by row. The names are those of Docs/ClientReset.md.
struct RecoveryTests {
  private static let kept = RecoveryDecision.keep(isMerged: false)
  private static let settled = RecoveryDecision.settle(isWithdrawn: false)
  private static let withdrawn = RecoveryDecision.settle(isWithdrawn: true)
  private static func dropped(_ reason: ClientResetReport.Reason) -> RecoveryDecision { .drop(RecoveryDrop(reason)) }

  // MARK: I

  @Test func `I at L: an insert over a live row becomes an update of the same id and is laid over it`() throws {
    var rig = RecoveryRig(["todos/a": ["id": "a", "title": "server", "n": 1]])
    rig.add(
      .insert, "todos/a", ["id": "a", "title": "mine"], transforms: ["n": ["op": "increment", "by": 2]],
      precondition: ["n": 1], hlc: "stamp")
    let result = try rig.run()
    #expect(result.decisions == [.keep(isMerged: true)])
    let entry = result.entries[0].entry
    #expect(entry.operation == .update && entry.mutationID == "m1" && entry.seq == 1 && entry.hlc == "stamp")
    #expect(entry.columns == ["title": "mine"] && entry.transforms == nil && entry.precondition == ["n": 1])
    #expect(entry.preImage == ["id": "a", "title": "server", "n": 1])
    #expect(result.columns("todos", "a") == ["id": "a", "title": "mine", "n": 1])
    #expect(result.rows.values.first?.image?.seq == "7")
  }

  @Test(arguments: [["id": "a"] as [String: Value], ["id": "a", "draft": 1], [:]])
  func `I at L: an insert with nothing left to send is settled`(_ columns: [String: Value]) throws {
    var rig = RecoveryRig(["todos/a": ["id": "a", "title": "server"]])
    rig.add(.insert, "todos/a", columns)
    let result = try rig.run()
    #expect(result.decisions == [Self.settled])
    #expect(result.columns("todos", "a") == ["id": "a", "title": "server"])
  }

  @Test func `I at L: all key columns are taken out`() throws {
    var rig = RecoveryRig(["pairs/1:2": ["a": "1", "b": "2", "x": 1]])
    rig.add(.insert, "pairs/1:2", ["a": "1", "b": "2", "x": 2])
    let result = try rig.run()
    #expect(result.entries[0].entry.columns == ["x": 2])
    #expect(result.columns("pairs", "1:2") == ["a": "1", "b": "2", "x": 2])
  }

  @Test func `I at T: the deletion wins`() throws {
    var rig = RecoveryRig(gone: ["todos/a"])
    rig.add(.insert, "todos/a", ["x": 1])
    #expect(try rig.run().decisions == [Self.dropped(.deletedOnServer)])
  }

  @Test func `I at A: the insert is kept and the row is its columns`() throws {
    var rig = RecoveryRig()
    rig.add(.insert, "todos/a", ["x": 1], before: nil)
    let result = try rig.run()
    #expect(result.decisions == [Self.kept])
    #expect(result.entries[0].entry.operation == .insert && result.entries[0].entry.preImage == nil)
    #expect(result.columns("todos", "a") == ["x": 1])
    #expect(result.rows.values.first?.image?.seq == "0")
  }

  @Test func `I at O: as at A`() throws {
    var rig = RecoveryRig()
    rig.add(.insert, "teams/a", ["team": "blue"])
    let result = try rig.run()
    #expect(result.decisions == [Self.kept])
    #expect(result.columns("teams", "a") == ["team": "blue"])
  }

  @Test func `I at G: the delete and all earlier entries of the row are withdrawn`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1, "y": 1]])
    rig.add(.update, "todos/a", ["x": 2], before: ["x": 1, "y": 1])
    rig.add(.delete, "todos/a", before: ["x": 2, "y": 1])
    rig.add(.insert, "todos/a", ["x": 3])
    rig.add(.update, "todos/a", ["z": 4], before: ["x": 3])
    let result = try rig.run()
    #expect(result.decisions == [Self.withdrawn, Self.withdrawn, .keep(isMerged: true), Self.kept])
    #expect(result.columns("todos", "a") == ["x": 3, "y": 1, "z": 4])
    #expect(!result.isShadowed("todos", "a"))
    #expect(result.entries[2].entry.preImage == ["x": 1, "y": 1])
    #expect(result.entries[3].entry.preImage == ["x": 3, "y": 1])
  }

  @Test func `I at G: the delete is withdrawn also by an insert with nothing left to send`() throws {
    var rig = RecoveryRig(["todos/a": ["id": "a", "x": 1]])
    rig.add(.delete, "todos/a", before: ["id": "a", "x": 1])
    rig.add(.insert, "todos/a", ["id": "a"])
    rig.add(.update, "todos/a", ["x": 2], before: ["id": "a"])
    let result = try rig.run()
    #expect(result.decisions == [Self.withdrawn, Self.settled, Self.kept])
    #expect(result.columns("todos", "a") == ["id": "a", "x": 2] && !result.isShadowed("todos", "a"))
  }

  @Test func `I at G of a row that only this device had: insert, delete, insert leaves the last insert`() throws {
    var rig = RecoveryRig()
    rig.add(.insert, "todos/a", ["x": 1])
    rig.add(.delete, "todos/a", before: ["x": 1])
    rig.add(.insert, "todos/a", ["x": 2])
    let result = try rig.run()
    #expect(result.decisions == [Self.withdrawn, Self.withdrawn, Self.kept])
    #expect(result.columns("todos", "a") == ["x": 2])
  }

  @Test func `I behind a deferred delete: the wire never meets a delete followed by an insert`() throws {
    var rig = RecoveryRig()
    rig.add(.delete, "teams/a", before: ["team": "blue"])
    rig.add(.insert, "teams/a", ["team": "red"])
    let result = try rig.run()
    #expect(result.decisions == [Self.withdrawn, Self.kept])
    #expect(!result.isShadowed("teams", "a"))
  }

  // MARK: U

  @Test func `U at L: columns are assigned, then transforms`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1, "n": 10, "tags": ["s"], "other": true]])
    rig.add(
      .update, "todos/a", ["x": 2],
      transforms: [
        "n": ["op": "increment", "by": 5], "tags": ["op": "arrayUnion", "values": ["s", "c"]],
      ])
    let result = try rig.run()
    #expect(result.decisions == [Self.kept])
    #expect(result.columns("todos", "a") == ["x": 2, "n": 15, "tags": ["s", "c"], "other": true])
    #expect(result.entries[0].entry.preImage == ["x": 1, "n": 10, "tags": ["s"], "other": true])
  }

  @Test func `U at L: an explicit write of the present value is kept`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1]])
    rig.add(.update, "todos/a", ["x": 1], before: ["x": 0])
    #expect(try rig.run().decisions == [Self.kept])
  }

  @Test func `U at T: the deletion wins`() throws {
    var rig = RecoveryRig(gone: ["todos/a"])
    rig.add(.update, "todos/a", ["x": 1], before: ["x": 0])
    #expect(try rig.run().decisions == [Self.dropped(.deletedOnServer)])
  }

  @Test func `U at A: a row that is missing takes its updates along`() throws {
    var rig = RecoveryRig()
    rig.add(.update, "todos/a", ["x": 1], before: ["x": 0])
    rig.add(.update, "teams/a", ["x": 1], before: ["team": "red"])
    #expect(try rig.run().decisions == [Self.dropped(.missingOnServer), Self.dropped(.missingOnServer)])
  }

  @Test(arguments: [["team": "blue"] as [String: Value], ["x": 1], nil])
  func `U at O: what only the server can judge is deferred, and not shown`(_ before: [String: Value]?) throws {
    var rig = RecoveryRig()
    rig.add(.update, "teams/a", ["x": 1], before: before)
    rig.add(.update, "teams/a", ["x": 2], before: before)
    let result = try rig.run()
    #expect(result.decisions == [.defer(.outOfScope), .defer(.outOfScope)])
    #expect(result.columns("teams", "a") == nil)
    #expect(
      result.entries.allSatisfy { $0.entry.isDeferred && $0.entry.preImage == nil && $0.entry.columns["x"] != nil })
  }

  @Test func `A and O: the row's first entry tells the scope, also one that fell with its batch`() throws {
    var rig = RecoveryRig(gone: ["todos/x"])
    rig.add(.update, "teams/a", ["x": 1], before: ["team": "red"], batch: "b")
    rig.add(.update, "todos/x", ["x": 1], batch: "b")
    rig.add(.update, "teams/a", ["x": 2], before: ["team": "blue"])
    #expect(try rig.run().decisions.last == Self.dropped(.missingOnServer))
  }

  @Test func `U at G: an update behind the own delete is dropped`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1]])
    rig.add(.delete, "todos/a", before: ["x": 1])
    rig.add(.update, "todos/a", ["x": 2])
    let result = try rig.run()
    #expect(result.decisions == [Self.kept, Self.dropped(.deletedLocally)])
    #expect(result.columns("todos", "a") == nil && result.isShadowed("todos", "a"))
  }

  // MARK: D

  @Test func `D at L: the row goes and leaves a local shadow`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1]])
    rig.add(.delete, "todos/a", before: ["x": 0])
    let result = try rig.run()
    #expect(result.decisions == [Self.kept])
    #expect(result.columns("todos", "a") == nil && result.isShadowed("todos", "a"))
    #expect(result.entries[0].entry.preImage == ["x": 1])
  }

  @Test func `D at T, A and G: there is nothing to do`() throws {
    var rig = RecoveryRig(["todos/c": [:]], gone: ["todos/a"])
    rig.add(.delete, "todos/a", before: ["x": 0])
    rig.add(.delete, "todos/b", before: ["x": 0])
    rig.add(.delete, "todos/c", before: [:])
    rig.add(.delete, "todos/c", before: nil)
    #expect(try rig.run().decisions == [Self.settled, Self.settled, Self.kept, Self.settled])
  }

  @Test func `D at O: deferred, with a local shadow`() throws {
    var rig = RecoveryRig()
    rig.add(.delete, "teams/a", before: ["team": "blue"])
    let result = try rig.run()
    #expect(result.decisions == [.defer(.outOfScope)])
    #expect(result.isShadowed("teams", "a"))
  }

  // MARK: The rows beside the table

  @Test func `X: a transform that does not decode makes recovery impossible`() throws {
    var rig = RecoveryRig(["todos/a": [:]])
    rig.add(.update, "todos/a", transforms: ["x": ["op": "explode"]])
    #expect(throws: SyncError.self) { try rig.run() }
  }

  @Test func `N: writes to a table that is not configured any more are deferred`() throws {
    var rig = RecoveryRig()
    rig.add(.insert, "old/a", ["x": 1])
    rig.add(.update, "old/b", ["x": 1], before: ["x": 0])
    rig.add(.delete, "old/c", before: ["x": 0])
    let result = try rig.run()
    #expect(result.decisions == Array(repeating: .defer(.tableNotConfigured), count: 3))
    #expect(result.rows.values.allSatisfy { $0.image == nil })
  }

  @Test func `P: writes to a table that is only pulled now are dropped`() throws {
    var rig = RecoveryRig(["read/a": [:]])
    rig.add(.insert, "read/b", ["x": 1])
    rig.add(.update, "read/a", ["x": 1])
    rig.add(.delete, "read/a")
    #expect(try rig.run().decisions == Array(repeating: Self.dropped(.tableIsPullOnly), count: 3))
  }

  @Test func `E: an update of this device's own columns alone is settled`() throws {
    var rig = RecoveryRig(["todos/a": [:]], gone: ["todos/b"])
    rig.add(.update, "todos/a", ["draft": 1, "pin": 2])
    rig.add(.update, "todos/b", ["draft": 1])
    rig.add(.update, "todos/a", ["draft": 1], transforms: ["n": ["op": "increment", "by": 1]])
    #expect(try rig.run().decisions == [Self.settled, Self.settled, Self.kept])
  }

  struct Misfit: Sendable {
    var transform: Value
    var cell: Value
    var isDropped: Bool
  }

  @Test(arguments: [
    Misfit(transform: ["op": "increment", "by": 1], cell: true, isDropped: true),
    Misfit(transform: ["op": "increment", "by": 1], cell: [1], isDropped: true),
    Misfit(transform: ["op": "increment", "by": 1], cell: ["a": 1], isDropped: true),
    Misfit(transform: ["op": "increment", "by": 1], cell: "abc", isDropped: true),
    Misfit(transform: ["op": "increment", "by": 1], cell: "", isDropped: true),
    Misfit(transform: ["op": "increment", "by": 1], cell: "12", isDropped: false),
    Misfit(transform: ["op": "increment", "by": 1], cell: "-1.5e3", isDropped: false),
    Misfit(transform: ["op": "increment", "by": 1], cell: 1.5, isDropped: false),
    Misfit(transform: ["op": "increment", "by": 1], cell: .null, isDropped: false),
    Misfit(transform: ["op": "arrayUnion", "values": [1]], cell: "x", isDropped: true),
    Misfit(transform: ["op": "arrayUnion", "values": [1]], cell: 3, isDropped: true),
    Misfit(transform: ["op": "arrayRemove", "values": [1]], cell: ["a": 1], isDropped: true),
    Misfit(transform: ["op": "arrayRemove", "values": [1]], cell: [1, 2], isDropped: false),
    Misfit(transform: ["op": "arrayUnion", "values": [1]], cell: .null, isDropped: false),
  ])
  func `TR: a transform that the row's value cannot take drops the update and names the column`(_ row: Misfit) throws {
    var rig = RecoveryRig(["todos/a": ["n": row.cell, "x": 0]])
    rig.add(.update, "todos/a", ["x": 1], transforms: ["n": row.transform])
    let result = try rig.run()
    if row.isDropped {
      #expect(result.decisions == [.drop(RecoveryDrop(.typeChangedOnServer, column: "n"))])
      #expect(result.columns("todos", "a")?["x"] == 0)
    } else {
      #expect(result.decisions == [Self.kept])
    }
  }

  @Test func `TR': an absent cell counts as 0 or as an empty array, and a number that is no integer is left alone`()
    throws
  {
    var rig = RecoveryRig(["todos/a": ["half": 1.5]])
    rig.add(
      .update, "todos/a",
      transforms: [
        "n": ["op": "increment", "by": 3], "tags": ["op": "arrayUnion", "values": ["t"]],
        "half": ["op": "increment", "by": 1],
      ])
    #expect(try rig.run().columns("todos", "a") == ["n": 3, "tags": ["t"], "half": 1.5])
  }

  @Test func `counters add up over several entries`() throws {
    var rig = RecoveryRig(["todos/a": ["n": 100]])
    for _ in 0..<3 { rig.add(.update, "todos/a", transforms: ["n": ["op": "increment", "by": 7]]) }
    let result = try rig.run()
    #expect(result.columns("todos", "a") == ["n": 121])
    #expect(result.entries.map { $0.entry.preImage?["n"] } == [100, 107, 114])
  }

  @Test func `Z: what the store cannot hold is dropped`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1]])
    rig.isTooLarge = { $0.columns["big"] != nil }
    rig.add(.insert, "todos/b", ["big": 1])
    rig.add(.update, "todos/a", ["big": 1])
    rig.add(.update, "todos/b", ["x": 1], before: ["big": 1])
    let result = try rig.run()
    #expect(result.decisions == [Self.dropped(.tooLarge), Self.dropped(.tooLarge), Self.dropped(.missingOnServer)])
    #expect(result.columns("todos", "a") == ["x": 1])
  }

  // MARK: B

  @Test func `B: a member that is dropped drops its batch, names itself, and undoes what the batch did`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1]], gone: ["todos/c"])
    rig.add(.update, "todos/a", ["x": 2], batch: "b")
    rig.add(.insert, "todos/b", ["x": 1], batch: "b")
    rig.add(.update, "todos/c", ["x": 1], batch: "b")
    rig.add(.update, "todos/a", ["y": 3])
    let result = try rig.run()
    #expect(
      result.decisions == [
        .drop(RecoveryDrop(.batch, culprit: "m3")), .drop(RecoveryDrop(.batch, culprit: "m3")),
        Self.dropped(.deletedOnServer), Self.kept,
      ])
    #expect(result.columns("todos", "a") == ["x": 1, "y": 3])
    #expect(result.columns("todos", "b") == nil)
    #expect(result.entries[0].entry.columns == ["x": 2])
  }

  @Test func `B: what a fallen batch withdrew stands again`() throws {
    var rig = RecoveryRig(["todos/a": ["x": 1]], gone: ["todos/c"])
    rig.add(.delete, "todos/a", before: ["x": 1])
    rig.add(.insert, "todos/a", ["x": 2], batch: "b")
    rig.add(.update, "todos/c", ["x": 1], batch: "b")
    let result = try rig.run()
    #expect(result.decisions[0] == Self.kept)
    #expect(result.isShadowed("todos", "a") && result.columns("todos", "a") == nil)
  }

  @Test func `B: settled members leave the batch, deferred ones stay in it`() throws {
    var rig = RecoveryRig(["todos/a": [:]])
    rig.add(.update, "todos/a", ["x": 1], batch: "b")
    rig.add(.delete, "todos/b", before: [:], batch: "b")
    rig.add(.update, "teams/a", ["x": 1], before: ["team": "blue"], batch: "b")
    let result = try rig.run()
    #expect(result.decisions == [Self.kept, Self.settled, .defer(.outOfScope)])
    #expect(result.entries[0].entry.batchID == "b" && result.entries[2].entry.batchID == "b")
  }

  @Test func `B: two batches behind each other fall and stand by themselves`() throws {
    var rig = RecoveryRig(["todos/a": [:]], gone: ["todos/c"])
    rig.add(.update, "todos/c", ["x": 1], batch: "b1")
    rig.add(.update, "todos/a", ["x": 1], batch: "b2")
    #expect(try rig.run().decisions == [Self.dropped(.deletedOnServer), Self.kept])
  }

  // MARK: Several entries of one row

  @Test
  func `an insert that was dropped with its batch takes later updates along and settles deletes, in scope or not`()
    throws
  {
    var rig = RecoveryRig(gone: ["todos/x"])
    rig.add(.insert, "teams/a", ["team": "blue"], batch: "b")
    rig.add(.update, "todos/x", ["x": 1], batch: "b")
    rig.add(.update, "teams/a", ["x": 1], before: ["team": "blue"])
    rig.add(.delete, "teams/a", before: ["team": "blue"])
    let result = try rig.run()
    #expect(result.decisions[2...] == [Self.dropped(.missingOnServer), Self.settled])
  }

  @Test func `PC, SD, H: precondition, mark and stamp travel as they are`() throws {
    var rig = RecoveryRig(["todos/a": ["deleted_at": "2026"]])
    rig.add(.update, "todos/a", ["x": 1], precondition: ["v": 9], hlc: "old stamp")
    let entry = try rig.run().entries[0]
    #expect(entry.decision == Self.kept)
    #expect(entry.entry.precondition == ["v": 9] && entry.entry.hlc == "old stamp" && entry.entry.createdAt == 0)
  }
}
