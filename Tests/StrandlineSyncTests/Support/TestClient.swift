@_spi(Engine) import StrandlineLog
import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import StrandlineTestSupport

/// A clock that a test moves.
final class TestClock: SyncClock {
  private let time: Lock<Int64>
  init(_ milliseconds: Int64 = 1_767_225_600_000) { time = Lock(milliseconds) }
  func milliseconds() -> Int64 { time.withLock { $0 } }
  func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }
  func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// UUIDs that count up.
final class CountingIDs: IDSource {
  private let count: Lock<Int>
  init(from start: Int = 0) { count = Lock(start) }
  func uuid() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }
  var given: Int { count.withLock { $0 } }
}

/// Events in the order in which they came.
final class EventLog: Sendable {
  private let log = Lock<[SyncEvent]>([])
  func add(_ event: SyncEvent) { log.withLock { $0.append(event) } }
  var events: [SyncEvent] { log.withLock { $0 } }
  var names: [String] { events.map(\.name) }
}

/// A client, what it talks to, and what it told.
struct TestClient {
  let client: SyncClient
  let remote: ScriptedRemote
  let clock: TestClock
  let ids: CountingIDs
  let log = EventLog()

  static func open(
    _ tables: [String: TableConfiguration] = ["todos": TableConfiguration()], remote: ScriptedRemote = ScriptedRemote(),
    at path: String? = nil, clock: TestClock = TestClock(), ids: CountingIDs = CountingIDs(),
    change: (inout SyncConfiguration) -> Void = { _ in }
  ) async throws -> TestClient {
    var configuration = SyncConfiguration(storePath: path, tables: tables, remote: remote, clock: clock, ids: ids)
    // The tests of what a crash leaves ask for more.
    configuration.storeOptions.durability = .buffered
    configuration.storeOptions.compactsInBackground = false
    configuration.log = { _ in }
    change(&configuration)
    let opened = TestClient(
      client: try await SyncClient.open(configuration), remote: remote, clock: clock, ids: ids)
    opened.client.on { [log = opened.log] in log.add($0) }
    return opened
  }

  /// Events raised so far; everything raised before the call is among them.
  func events() async -> [SyncEvent] {
    await withCheckedContinuation { continuation in
      client.afterDelivery { continuation.resume() }
    }
    return log.events
  }

  func eventNames() async -> [String] { await events().map(\.name) }

  /// The stored columns of a row of `todos`.
  func columns(_ pk: String, in table: String = "todos") async throws -> [String: Value]? {
    try await client.storedColumns(table: table, pk: pk)
  }

  func shadows() async throws -> [String] { try await client.shadows().map { "\($0.table)/\($0.pk)" } }

  func insert(_ pk: String, _ columns: [String: Value] = [:], id: String? = nil, in table: String = "todos")
    async throws
  {
    try await client.apply(.insert, to: table, pk: pk, columns: columns, mutationID: id)
  }

  func update(
    _ pk: String, _ columns: [String: Value] = [:], transforms: [String: Value]? = nil, id: String? = nil,
    batch: String? = nil
  ) async throws {
    try await client.apply(
      .update, to: "todos", pk: pk, columns: columns, mutationID: id, transforms: transforms, batchID: batch, hlc: nil)
  }

  func delete(_ pk: String, id: String? = nil) async throws {
    try await client.apply(.delete, to: "todos", pk: pk, mutationID: id)
  }
}

/// The code of what `body` throws; nil: nothing was thrown.
func code(_ body: () async throws -> Void) async -> SyncErrorCode? {
  do {
    try await body()
    return nil
  } catch let error as SyncError {
    return error.catalogueCode
  } catch {
    return nil
  }
}

/// A token of a user, as far as a client reads it.
func token(_ subject: String) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
  let bytes = Array("{\"sub\":\"\(subject)\"}".utf8)
  var text = ""
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = Array(bytes[start..<min(start + 3, bytes.count)])
    let bits = group.enumerated().reduce(0) { $0 | Int($1.element) << (16 - 8 * $1.offset) }
    for place in 0...group.count { text.append(digits[bits >> (18 - 6 * place) & 63]) }
  }
  return "e30.\(text).c2ln"
}

extension PullAnswer {
  /// A page with rows of `todos`.
  static func page(
    _ cursor: String, more: Bool = false, _ rows: [String: [String: Value]] = [:], gone: [String] = [],
    table: String = "todos", conflicts: [Conflict] = []
  ) -> PullAnswer {
    PullAnswer(
      cursor: cursor, hasMore: more,
      rows: rows.sorted { $0.key < $1.key }.map { RowEntry(table: table, pk: $0.key, row: $0.value, seq: cursor) },
      tombstones: gone.map { Tombstone(table: table, pk: $0, seq: cursor, deletedAt: nil) }, conflicts: conflicts)
  }

  static func signal(_ word: String, cursor: String = "0") -> PullAnswer { PullAnswer(cursor: cursor, signal: word) }
}
