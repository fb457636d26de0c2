import Strandline
import StrandlineLog
import StrandlineServer
import StrandlineTestSupport
import Testing

/// A server on a disk in memory, with a clock that stands still and drawn bits that a seed decides.
struct TestServer {
  /// 2026-01-01T00:00:00.000Z
  static let start: Int64 = 1_767_225_600_000

  let server: SyncServer
  let disk: SimulatedDisk
  let clock: ManualClock
  let configuration: ServerConfiguration

  init(
    _ configuration: ServerConfiguration, disk: SimulatedDisk = SimulatedDisk(),
    clock: ManualClock = ManualClock(wallMilliseconds: TestServer.start), seed: UInt64 = 1
  ) async throws {
    let bits = SeededBits(seed: seed)
    var options = StoreOptions()
    options.compactsInBackground = false
    options.memoryLayerByteCountMax = 1 << 30
    options.log.helpers = .callerRuns
    options.log.spaceAheadByteCount = 64 << 10
    options.log.environment = Environment(fileSystem: disk, clock: clock, randomBits: { bits.next() })
    let storage = try await EmbeddedServerStorage.open(at: "/server", options: options)
    server = try await SyncServer(
      configuration, storage: storage,
      environment: ServerEnvironment(now: { clock.wallMilliseconds() }, randomBits: { bits.next() }))
    self.disk = disk
    self.clock = clock
    self.configuration = configuration
  }

  init(_ tables: [String: ServerTable]) async throws { try await self.init(ServerConfiguration(tables: tables)) }

  // MARK: Calls

  func pull(
    _ buckets: [(String, [String: Value])], from cursor: String = "0", limit: Int64? = nil, as user: String = "ann",
    role: String = Caller.defaultRole, version: Int64? = 1, history: String? = nil
  ) async throws(ErrorAnswer) -> PullAnswer {
    let request = PullRequest(
      clientID: "c-\(user)", schemaVersion: version, cursor: cursor, limit: limit,
      buckets: buckets.map { PullRequest.Bucket(table: $0.0, params: $0.1) })
    return try await server.pull(request, as: Caller(userID: user, role: role), history: history).body
  }

  func push(
    _ mutations: [Mutation], isAtomic: Bool = false, as user: String = "ann", role: String = Caller.defaultRole,
    version: Int64? = 1, history: String? = nil
  ) async throws(ErrorAnswer) -> PushAnswer {
    let request = PushRequest(
      clientID: "c-\(user)", schemaVersion: version, lastMutationID: nil, isAtomic: isAtomic, mutations: mutations)
    return try await server.push(request, as: Caller(userID: user, role: role), history: history).body
  }

  /// Pushes one mutation and answers its verdict in short: `applied`, or the reason.
  func verdict(
    _ mutation: Mutation, as user: String = "ann", role: String = Caller.defaultRole
  ) async throws -> String {
    let verdict = try #require(await push([mutation], as: user, role: role).verdicts?.first)
    return verdict.reason ?? verdict.kind
  }

  func own(_ table: String, _ pk: String, _ columns: [String: Value], hlc: String? = nil) async throws {
    try await server.write([.upsert(table: table, pk: pk, columns: columns, hlc: hlc.flatMap { HybridTimestamp($0) })])
  }

  func advance(by duration: Duration) { clock.advance(by: duration) }

  func ownDelete(_ table: String, _ pk: String) async throws {
    try await server.write([.delete(table: table, pk: pk)])
  }

  var highMark: Int64 {
    get async throws {
      let history = try #require(await server.notes().history.flatMap { HistoryAnchor($0) })
      return history.number
    }
  }
}

extension Mutation {
  static func insert(_ id: String, _ pk: String, _ columns: [String: Value] = [:], in table: String = "notes")
    -> Mutation
  {
    Mutation(id: id, table: table, pk: pk, operation: "insert", columns: columns)
  }

  static func update(_ id: String, _ pk: String, _ columns: [String: Value] = [:], in table: String = "notes")
    -> Mutation
  {
    Mutation(id: id, table: table, pk: pk, operation: "update", columns: columns)
  }

  static func delete(_ id: String, _ pk: String, in table: String = "notes") -> Mutation {
    Mutation(id: id, table: table, pk: pk, operation: "delete")
  }

  func with(_ change: (inout Mutation) -> Void) -> Mutation {
    var mutation = self
    change(&mutation)
    return mutation
  }
}

extension PullAnswer {
  /// `pk@number`, rows first.
  var summary: [String] { rows.map { "\($0.pk)@\($0.seq)" } + tombstones.map { "-\($0.pk)@\($0.seq)" } }
}

/// The code that a call is refused with; nil if it is not. Anything else that is thrown fails the test.
func refusal<Result>(_ body: () async throws -> Result) async -> TransportCode? {
  do {
    _ = try await body()
  } catch let answer as ErrorAnswer {
    return answer.code
  } catch {
    Issue.record("\(error)")
  }
  return nil
}
