@_spi(Engine) import StrandlineLog
import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct FilterWriteTests {
  private func client(_ table: TableConfiguration = TableConfiguration()) async throws -> TestClient {
    let test = try await TestClient.open(["todos": table])
    for (pk, list) in [("c", "work"), ("a", "work"), ("b", "home")] {
      try await test.insert(pk, ["list": .string(list)])
    }
    return test
  }

  @Test func `an update by filter writes the rows it finds, in the order of their keys, in one commit`() async throws {
    let test = try await client()
    let touched = try await test.client.from("todos").update(["done": true]).eq("list", "work").execute()
    #expect(touched == ["a", "c"])
    #expect(await test.eventNames().suffix(2) == ["LOCAL_CHANGED", "QUEUE_DEPTH"])
    #expect(await test.eventNames().count == 8)
    #expect(await test.events().last == .queueDepth(5))
    try await test.client.pushOnce()
    #expect(!test.remote.pushRequests[0].isAtomic)
    #expect(test.remote.pushRequests[0].mutations.suffix(2).map(\.pk) == ["a", "c"])
  }

  @Test func `a delete by filter spares the others`() async throws {
    let test = try await client()
    try await test.client.from("todos").delete().neq("list", "home").execute()
    #expect(try await test.client.liveRows().map(\.pk) == ["b"])
  }

  @Test func `filters that name no rows are refused for writes`() async throws {
    let test = try await client()
    let bad: [[Filter]] = [
      [], [.and([])], [.or([])], [.search(" ")], [.textSearch("list", "", .plain)],
      [.not(.and([.or([])]))], [.column("list", .equals, "work"), .search("")], [.column("list", .is, "x")],
    ]
    for filters in bad {
      #expect(
        await code { try await test.client.applyWhere(.update, in: "todos", filters: filters, columns: ["x": 1]) }
          == .localUnsupported)
    }
    #expect(try await test.client.outboxDepth() == 3)
  }

  @Test func `one-row terminals and maxAffected write nothing when they are missed`() async throws {
    let test = try await client()
    let update = try test.client.from("todos").update(["done": true])
    #expect(await code { try await update.eq("list", "work").single().execute() } == .localConstraint)
    #expect(await code { try await update.eq("list", "none").single().execute() } == .localConstraint)
    #expect(await code { try await update.eq("list", "work").maybeSingle().execute() } == .localConstraint)
    #expect(await code { try await update.eq("list", "work").maxAffected(1).execute() } == .localConstraint)
    #expect(await test.eventNames().count == 6)
    #expect(try await update.eq("list", "none").maybeSingle().execute().isEmpty)
    #expect(try await update.eq("list", "home").single().execute() == ["b"])
    #expect(try await update.eq("list", "work").maxAffected(2).execute() == ["a", "c"])
  }

  @Test func `no match writes nothing and tells nothing`() async throws {
    let test = try await client()
    #expect(try await test.client.from("todos").delete().eq("list", "none").execute().isEmpty)
    #expect(try await test.client.outboxDepth() == 3)
    #expect(await test.eventNames().count == 6)
  }

  @Test func `a write by filter answers rows: after an update, before a delete`() async throws {
    let test = try await client()
    let updated = try await test.client.from("todos").update(["n": 1]).eq("list", "home").select()
    #expect(updated == [["id": "b", "list": "home", "n": 1]])
    let deleted = try await test.client.from("todos").delete().eq("list", "home").select("id, n, none")
    #expect(deleted == [["id": "b", "n": 1, "none": .null]])
  }

  // MARK: Soft delete

  @Test func `a table that marks its rows refuses deletes by key`() async throws {
    let test = try await client(TableConfiguration(softDeleteColumn: "deleted_at"))
    #expect(await code { try await test.delete("a") } == .softDeleteViolation)
    #expect(try await test.client.outboxDepth() == 3)
  }

  @Test func `a delete by filter marks rows with one time, and reads leave them out`() async throws {
    let test = try await client(TableConfiguration(softDeleteColumn: "deleted_at"))
    let before = try await test.client.from("todos").delete().eq("list", "work").select()
    #expect(before.map { $0["deleted_at"] } == [nil, nil])
    let time = Value.string(WireTime.text(test.clock.milliseconds()))
    #expect(try await test.columns("a") == ["list": "work", "deleted_at": time])
    #expect(try await test.columns("c") == ["list": "work", "deleted_at": time])
    let select = try test.client.from("todos").select()
    #expect(try await select.rows().map { $0["id"] } == ["b"])
    #expect(try await select.count() == 1)
    #expect(try await select.includeDeleted().count() == 3)
    #expect(try await select.in("id", ["a", "b"]).limit(1).rows().map { $0["id"] } == ["b"])
    #expect(try await select.eq("id", "a").maybeSingle() == nil)
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[0].mutations.suffix(2).allSatisfy { $0.operation == "update" })
    // A marked row is no target of filters, and can be unmarked by its key.
    #expect(try await test.client.from("todos").update(["x": 1]).eq("list", "work").execute().isEmpty)
    try await test.update("a", ["deleted_at": .null])
    #expect(try await select.count() == 2)
  }

  @Test func `a delete by filter reads the clock once for all the rows it marks`() async throws {
    final class RunningClock: SyncClock {
      let time = Lock<Int64>(1_767_225_600_000)
      func milliseconds() -> Int64 {
        time.withLock {
          $0 += 1000
          return $0
        }
      }
    }
    let clock = RunningClock()
    let tables = ["todos": TableConfiguration(softDeleteColumn: "deleted_at")]
    let test = try await TestClient.open(tables) { $0.clock = clock }
    for pk in ["a", "b", "c"] { try await test.client.seedRow(["list": "work"], table: "todos", pk: pk, seq: "1") }
    try await test.client.from("todos").delete().eq("list", "work").execute()
    let marks = try await test.client.liveRows().map { $0.columns["deleted_at"] ?? .null }
    #expect(marks.count == 3 && Set(marks).count == 1 && marks[0] != .null)
  }
}
