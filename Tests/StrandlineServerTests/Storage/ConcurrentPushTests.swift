@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineServer
import StrandlineTestSupport
import Testing

@Suite("Pushes that come together") struct ConcurrentPushTests {
  @Test("each takes effect once, numbers have no gaps, and none takes more than two syncs")
  func together() async throws {
    let directory = TemporaryDirectory()
    let store = try await Store.open(at: directory.path + "/server", schema: EmbeddedServerStorage.schema)
    let server = try await SyncServer(
      ServerConfiguration(tables: ["notes": ServerTable()]), storage: EmbeddedServerStorage(store))
    try await server.write([.upsert(table: "notes", pk: "count", columns: ["n": 0])])
    let syncsBefore = store.logStatus.counters.syncs
    let (taskCount, pushCount) = (12, 15)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<taskCount {
        group.addTask {
          for number in 0..<pushCount {
            let request = PushRequest(
              clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: number % 2 == 0,
              mutations: [
                .update("u\(task)-\(number)", "count").with { $0.transforms = ["n": ["op": "increment", "by": 1]] },
                .insert("i\(task)-\(number)", "p\(task)-\(number)"),
              ])
            let answer = try await server.push(request, as: Caller(userID: "u\(task)"))
            #expect(answer.body.verdicts?.allSatisfy { $0.reason == nil } == true)
            // The answer was lost; so it is sent again.
            _ = try await server.push(request, as: Caller(userID: "u\(task)"))
          }
        }
        group.addTask {
          // A reader beside them never misses a number that lies below its cursor.
          var cursor = "0"
          var seen: Set<String> = []
          for await _ in server.highMarks() {
            let request = PullRequest(
              clientID: nil, schemaVersion: 1, cursor: cursor, limit: nil,
              buckets: [PullRequest.Bucket(table: "notes", params: [:])])
            let page = try await server.pull(request, as: Caller(userID: "u\(task)")).body
            cursor = page.cursor
            for row in page.rows where row.pk.hasPrefix("p\(task)-") { seen.insert(row.pk) }
            if seen.count == pushCount { break }
          }
        }
      }
      try await group.waitForAll()
    }
    let total = taskCount * pushCount
    #expect(try await server.row("count", in: "notes") == ["n": .int(Int64(total))])
    let history = try await server.notes().history.flatMap { HistoryAnchor($0) }
    #expect(history?.number == Int64(2 * total + 1))
    // Two commits each would be the most. How many share a sync is up to who gets a thread when.
    #expect(store.logStatus.counters.syncs - syncsBefore <= 2 * total)
    try await server.close()
  }

  @Test("a replay is not answered before what it repeats is durable")
  func replayOfWhatIsOnItsWay() async throws {
    let gate = SyncGate()
    let disk = SimulatedDisk()
    let recorder = RecordingFileSystem(disk) { call, moment in
      if moment == .before, call.operation == .syncData { gate.pass() }
    }
    var options = StoreOptions()
    options.log.environment = Environment(fileSystem: recorder)
    let server = try await SyncServer(
      ServerConfiguration(tables: ["notes": ServerTable()]),
      storage: try await EmbeddedServerStorage.open(at: "/server", options: options))
    let request = PushRequest(
      clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: [.insert("m1", "a")])
    gate.close()
    async let first = server.push(request, as: Caller(userID: "ann")).body
    await gate.someoneWaits()
    async let second = {
      let answer = try await server.push(request, as: Caller(userID: "ann")).body
      return (answer, gate.isOpen)
    }()
    // Time for an answer that would come too early.
    try await Task.sleep(for: .milliseconds(200))
    gate.open()
    #expect(try await first.verdicts == [.applied("m1")])
    let (answer, wasOpen) = try await second
    #expect(answer.verdicts == [.applied("m1")])
    #expect(wasOpen)
    try await server.close()
  }
}

/// Holds up syncs while it is closed.
private final class SyncGate: Sendable {
  private struct State {
    var isClosed = false
    var waitingCount = 0
  }

  private let state = Monitor(State())

  func pass() {
    state.change { if $0.isClosed { $0.waitingCount += 1 } }
    let _: Bool = state.wait { $0.isClosed ? nil : true }
  }

  func close() { state.change { $0.isClosed = true } }
  func open() { state.change { $0.isClosed = false } }
  var isOpen: Bool { state.look { !$0.isClosed } }

  func someoneWaits() async {
    while state.look({ $0.waitingCount == 0 }) { await Task.yield() }
  }
}
