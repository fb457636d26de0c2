@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct OriginStampTests {
  private static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(conflictMode: .hlc), "plain": TableConfiguration(),
  ]

  private func stamps(_ test: TestClient) async throws -> [HybridTimestamp] {
    try await test.client.stateRows(of: StateTable.outbox).compactMap { row in
      if case .string(let text)? = row["hlc"] { HybridTimestamp(text) } else { nil }
    }
  }

  @Test func `stamps rise within a millisecond, with the clock, and when it steps back`() async throws {
    let test = try await TestClient.open(Self.tables)
    let start = test.clock.milliseconds()
    for pk in ["a", "b"] { try await test.insert(pk) }
    test.clock.advance(5)
    try await test.insert("c")
    test.clock.advance(-10_000)
    try await test.insert("d")
    let stamps = try await stamps(test)
    #expect(stamps.map(\.milliseconds) == [start, start, start + 5, start + 5])
    #expect(stamps.map(\.counter) == [0, 1, 0, 1])
    #expect(Set(stamps.map(\.node)).count == 1)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `a kept time more than an hour ahead is given up, exactly an hour is kept`() {
    let last = HybridTimestamp(milliseconds: 10_000_000, counter: 4, node: "n")
    let far = OriginStamp.next(after: last, now: 10_000_000 - 3_600_001) { "x" }
    #expect(far == HybridTimestamp(milliseconds: 10_000_000 - 3_600_001, counter: 0, node: "n"))
    let near = OriginStamp.next(after: last, now: 10_000_000 - 3_600_000) { "x" }
    #expect(near == HybridTimestamp(milliseconds: 10_000_000, counter: 5, node: "n"))
    #expect(OriginStamp.next(after: last, now: .max) { "x" }.counter == 0)
    #expect(OriginStamp.next(after: nil, now: 1) { "x" } == HybridTimestamp(milliseconds: 1, counter: 0, node: "x"))
  }

  @Test func `a refused write uses up no counter`() async throws {
    let test = try await TestClient.open(Self.tables)
    try await test.insert("a")
    #expect(await code { try await test.insert("a") } == .localConstraint)
    try await test.insert("b")
    #expect(try await stamps(test).map(\.counter) == [0, 1])
  }

  @Test func `a stamp of the caller's is kept on a table with stamps and left out on another`() async throws {
    let test = try await TestClient.open(Self.tables)
    let stamp = "2026-01-01T00:00:00.000Z|3|device"
    try await test.client.apply(.insert, to: "todos", pk: "a", batchID: nil, hlc: stamp)
    try await test.client.apply(.insert, to: "plain", pk: "a", batchID: nil, hlc: stamp)
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[0].mutations.map(\.hlc) == [stamp, nil])
  }

  @Test func `a client without stamped tables never makes up a node`() async throws {
    let test = try await TestClient.open()
    let given = test.ids.given
    try await test.insert("a", id: "m1")
    #expect(test.ids.given == given)
    #expect(try await test.client.stateRows(of: StateTable.meta).allSatisfy { $0["key"] != "origin_hlc" })
  }

  @Test func `the write's time and its stamp are one reading of the clock`() async throws {
    final class RunningClock: SyncClock {
      let time = Lock<Int64>(1_767_225_600_000)
      func milliseconds() -> Int64 {
        time.withLock {
          $0 += 1
          return $0
        }
      }
    }
    let clock = RunningClock()
    let test = try await TestClient.open(Self.tables) { $0.clock = clock }
    try await test.insert("a")
    let row = try await test.client.stateRows(of: StateTable.outbox)[0]
    #expect(try await stamps(test)[0].milliseconds == row["created_at"].flatMap { Int64($0.wireText ?? "") })
  }

  @Test func `stamps go on above the last one behind a restart and a reset`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let clock = TestClock()
    let ids = CountingIDs()
    let first = try await TestClient.open(Self.tables, at: path, clock: clock, ids: ids)
    try await first.insert("a")
    let one = try await stamps(first)[0]
    try await first.client.close()
    clock.advance(-1000)
    let second = try await TestClient.open(Self.tables, at: path, clock: clock, ids: ids)
    try await second.insert("b")
    try await second.client.reset()
    try await second.insert("c")
    let last = try await stamps(second)[0]
    #expect(last.node == one.node)
    #expect(last.milliseconds == one.milliseconds && last.counter == 2)
    try await second.client.close()
  }
}
