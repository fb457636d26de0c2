import Glibc
import Strandline
import StrandlineLog
import StrandlineServer
import StrandlineTestSupport
import Testing

/// A server dies before each of its file calls; what was answered is there, what was not is there as a whole or not at all, and a client that
/// sends everything again ends where it would have without the crash.
@Suite("Crashes of a server") struct ServerCrashTests {
  private final class Taker: @unchecked Sendable {
    // Sendable: one task writes, and the calls that it waits for.
    var points: [(image: DiskImage, answered: Int)] = []
    var answered = 0
  }

  private static let pushes: [[Mutation]] = (0..<24).map { number in
    let pk = "p\(number % 5)"
    return [
      .insert("i\(number)", pk, ["owner": "ann"]),
      .update("u\(number)", pk).with { $0.transforms = ["n": ["op": "increment", "by": 1]] },
    ] + (number % 7 == 6 ? [.delete("d\(number)", "p\((number + 1) % 5)")] : [])
  }

  private static let configuration = ServerConfiguration(tables: [
    "notes": ServerTable(bucketColumn: "owner", keepsJournal: true)
  ])

  private func server(_ disk: any FileSystem, seed: UInt64) async throws -> SyncServer {
    let bits = SeededBits(seed: seed)
    let clock = ManualClock(wallMilliseconds: TestServer.start)
    var options = StoreOptions()
    options.compactsInBackground = false
    options.log.helpers = .callerRuns
    options.log.spaceAheadByteCount = 64 << 10
    options.log.segmentByteCountMax = 8 << 10
    options.log.environment = Environment(fileSystem: disk, clock: clock, randomBits: { bits.next() })
    return try await SyncServer(
      Self.configuration, storage: try await EmbeddedServerStorage.open(at: "/server", options: options),
      environment: ServerEnvironment(now: { clock.wallMilliseconds() }, randomBits: { bits.next() }))
  }

  private func push(_ mutations: [Mutation], to server: SyncServer) async throws -> [String] {
    let request = PushRequest(
      clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: mutations)
    let answer = try await server.push(request, as: Caller(userID: "ann"))
    return try #require(answer.body.verdicts).map { $0.reason ?? $0.kind }
  }

  private func snapshot(_ server: SyncServer) async throws -> PullAnswer {
    let request = PullRequest(
      clientID: nil, schemaVersion: 1, cursor: "0", limit: nil,
      buckets: [PullRequest.Bucket(table: "notes", params: ["owner": "ann"])])
    _ = try await server.pull(request, as: Caller(userID: "ann"))
    // Now with the grants, so with the tombstones.
    return try await server.pull(request, as: Caller(userID: "ann")).body
  }

  @Test("nothing that was answered is lost, nothing is done twice", arguments: [UInt64(1), 2])
  func crash(_ seed: UInt64) async throws {
    let disk = SimulatedDisk()
    let taker = Taker()
    let recorder = RecordingFileSystem(disk) { call, moment in
      if moment == .before, call.operation.changesDisk { taker.points.append((disk.image, taker.answered)) }
    }
    let first = try await server(recorder, seed: seed)
    var verdicts: [[String]] = []
    // The state behind each push.
    var states = [try await snapshot(first)]
    for mutations in Self.pushes {
      verdicts.append(try await push(mutations, to: first))
      taker.answered += 1
      states.append(try await snapshot(first))
    }
    let points = taker.points
    try #require(points.count > 60)
    let stride = SoakScale.stride(of: points.count, running: 40)
    for place in Swift.stride(from: Int(seed) % stride, to: points.count, by: stride) {
      let point = points[place]
      let image = point.image.powerLoss(keeping: .random(seed: seed &* 1000 &+ UInt64(place)))
      let again = try await server(SimulatedDisk(image), seed: seed &+ 100)
      let found = try await snapshot(again)
      let survivors = states.lastIndex(of: found)
      try #require(survivors != nil, "point \(place): a state that no number of whole pushes leads to")
      try #require(survivors.map { $0 >= point.answered } == true, "point \(place): an answered push is lost")
      for (number, mutations) in Self.pushes.enumerated() {
        try #require(try await push(mutations, to: again) == verdicts[number], "point \(place), push \(number)")
      }
      try #require(try await snapshot(again) == states[states.count - 1], "point \(place)")
    }
  }

  @Test("a full disk refuses a push without a code, and nothing of it is left; later pushes go on without a gap")
  func fullDisk() async throws {
    let faulty = FaultyFileSystem(SimulatedDisk())
    let test = try await server(faulty, seed: 3)
    #expect(try await push([.insert("m1", "a", ["owner": "ann"])], to: test) == ["applied"])
    // Large enough to need space that the log has not set aside.
    var generator = SeededGenerator(seed: 3)
    let digits: [UInt8] = generator.bytes(200_000).map { 0x30 + $0 % 64 }
    let mutation = Mutation.update("m2", "a", ["text": .string(String(decoding: digits, as: UTF8.self))])
    let request = PushRequest(
      clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: [mutation])
    faulty.setScript { call in
      let needsSpace =
        call.operation == .allocate || call.operation == .create
        || (call.operation == .write && call.name.hasSuffix(".tmp"))
      return needsSpace ? .errno(Errno(ENOSPC)) : nil
    }
    do throws(ErrorAnswer) {
      _ = try await test.push(request, as: Caller(userID: "ann"))
      Issue.record("it was answered")
    } catch {
      #expect(error.code == nil)
    }
    #expect(try await snapshot(test).rows.map(\.row) == [["owner": "ann"]])
    faulty.heal()
    #expect(try await push([mutation], to: test) == ["applied"])
    let history = try await test.notes().history.flatMap { HistoryAnchor($0) }
    #expect(history?.number == 2)
  }
}
