@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport

@testable @_spi(Scenario) import StrandlineSync

/// A client and a small server, in the middle of things: two rows from the server, and whatever a test queues.
struct ResetTest {
  let client: SyncClient
  let server: SmallServer
  let clock: TestClock
  let log = EventLog()
  let errors = ErrorLog()

  final class ErrorLog: Sendable {
    private let log = Lock<[any Error]>([])
    func add(_ error: any Error) { log.withLock { $0.append(error) } }
    var all: [any Error] { log.withLock { $0 } }
    var reset: [ClientResetInfo] { all.compactMap { ($0 as? SyncError)?.resetInfo } }
  }

  static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(), "notes": TableConfiguration(),
  ]

  static func open(
    _ mode: ClientResetMode = .recoverUnsyncedChanges(), server: SmallServer = SmallServer(), at path: String? = nil,
    clock: TestClock = TestClock(), ids: CountingIDs = CountingIDs(),
    tables: [String: TableConfiguration] = ResetTest.tables, change: (inout SyncConfiguration) -> Void = { _ in }
  ) async throws -> ResetTest {
    var configuration = SyncConfiguration(storePath: path, tables: tables, remote: server, clock: clock, ids: ids)
    configuration.clientReset = mode
    configuration.storeOptions.durability = .buffered
    configuration.storeOptions.compactsInBackground = false
    change(&configuration)
    let test = ResetTest(client: try await SyncClient.open(configuration), server: server, clock: clock)
    test.client.on { [log = test.log] in log.add($0) }
    if test.client.errorHandler == nil {
      test.client.errorHandler = { [errors = test.errors] error, _ in errors.add(error) }
    }
    return test
  }

  /// Rows a and b of the server, pulled; then the server is put back to a state without `b`, with `c`, and with another `a`.
  func loseHistory() async throws {
    server.put("a", ["id": "a", "title": "a", "n": 1])
    server.put("b", ["id": "b", "title": "b"])
    try await client.sync()
    server.restore()
    server.change { $0.content = .init() }
    server.put("a", ["id": "a", "title": "restored", "n": 10])
    server.put("c", ["id": "c", "title": "c"])
  }

  func update(_ pk: String, _ columns: [String: Value], transforms: [String: Value]? = nil, id: String? = nil)
    async throws
  {
    try await client.apply(.update, to: "todos", pk: pk, columns: columns, mutationID: id, transforms: transforms)
  }

  func insert(_ pk: String, _ columns: [String: Value], id: String? = nil, in table: String = "todos") async throws {
    try await client.apply(.insert, to: table, pk: pk, columns: columns, mutationID: id)
  }

  func delete(_ pk: String, id: String? = nil) async throws {
    try await client.apply(.delete, to: "todos", pk: pk, mutationID: id)
  }

  func columns(_ pk: String, in table: String = "todos") async throws -> [String: Value]? {
    try await client.storedColumns(table: table, pk: pk)
  }

  /// All rows of `todos`, by key.
  func rows(in table: String = "todos") async throws -> [String: [String: Value]] {
    Dictionary(
      uniqueKeysWithValues: try await client.liveRows().filter { $0.table == table }.map { ($0.pk, $0.columns) })
  }

  /// What was raised and told so far.
  func settle() async {
    await withCheckedContinuation { continuation in
      client.afterDelivery { continuation.resume() }
    }
  }

  func eventNames() async -> [String] {
    await settle()
    return log.names
  }

  func isBlocked() async throws -> Bool { try await client.checkpoint().isSoftBlocked }
  func depth() async throws -> Int { try await client.outboxDepth() }
  func reports() async throws -> [ClientResetReport] { try await client.resetHistory() }
}

/// The reset's reason of what `body` throws; nil: nothing of the kind was thrown.
func resetReason(_ body: () async throws -> Void) async -> ClientResetInfo.Reason? {
  do {
    try await body()
    return nil
  } catch let error as SyncError {
    return error.resetInfo?.reason
  } catch {
    return nil
  }
}
