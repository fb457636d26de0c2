@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// A process that ends inside the after callback: it is called again with the same views and report, and not a third time.
struct ResetAfterCrashTests {
  private static func open(_ disk: SimulatedDisk, _ mode: ClientResetMode, _ server: SmallServer) async throws
    -> ResetTest
  {
    try await ResetTest.open(mode, server: server, at: "/store") { configuration in
      configuration.storeOptions.durability = .synced
      configuration.storeOptions.log.environment.fileSystem = disk
      configuration.storeOptions.log.idleMarkInterval = nil
      configuration.storeOptions.log.helpers = .callerRuns
      configuration.keptCopies = KeptCopyPolicy(.never)
    }
  }

  private final class Calls: Sendable {
    private let seen = Lock<[String]>([])
    private let image = Lock<DiskImage?>(nil)
    private let numbers = Lock<[Int]>([])
    let disk: SimulatedDisk
    init(_ disk: SimulatedDisk) { self.disk = disk }

    /// Notes what after was given, and takes the disk as it is then.
    func mode() -> ClientResetMode {
      .recoverUnsyncedChanges(after: { [self] view, _, report in
        let titles = try view.query("todos", QueryPlan()).rows.compactMap { row in
          if case .string(let title)? = row["title"] { title } else { nil }
        }
        let depth = try view.outboxDepth()
        seen.withLock { $0.append("\(report.attemptID) \(titles) \(depth)") }
        numbers.withLock { $0.append(report.afterCallCount) }
        image.withLock { $0 = disk.image }
      })
    }

    /// What the report had as the count of calls, call by call.
    var counts: [Int] { numbers.withLock { $0 } }
    var all: [String] { seen.withLock { $0 } }
    /// The disk inside the last call.
    var crashed: DiskImage? { image.withLock { $0 } }
  }

  @Test func `after comes again behind a crash, with the same view and report, and is given up behind the second`()
    async throws
  {
    let server = SmallServer()
    let first = Calls(SimulatedDisk())
    let test = try await Self.open(first.disk, first.mode(), server)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.client.sync()
    try await test.client.close()
    #expect(first.all.count == 1 && first.counts == [1])

    let second = Calls(SimulatedDisk(try #require(first.crashed)))
    let again = try await Self.open(second.disk, second.mode(), server)
    #expect(try await again.columns("a")?["title"] == "mine")
    try await again.client.sync()
    #expect(second.all == first.all)
    #expect(second.counts == [2])
    #expect(try await again.reports().last?.afterCallCount == 2)
    #expect((await again.eventNames()).filter { $0 == "DID_RESET" }.count == 1)
    #expect(try await again.client.keptCopies().isEmpty, "a copy that the callback alone wanted is gone")
    try await again.client.close()

    let third = Calls(SimulatedDisk(try #require(second.crashed)))
    let last = try await Self.open(third.disk, third.mode(), server)
    try await last.client.sync()
    #expect(third.all.isEmpty)
    #expect(try await last.reports().last?.afterCallback == .gaveUp)
    #expect(try await last.reports().last?.afterCallCount == 2)
    #expect(try await !last.isBlocked())
    #expect(try last.client.read { try $0.resetRecord() } == nil)
    try await last.client.close()
  }

  @Test func `a configuration without the callback does not call it`() async throws {
    let server = SmallServer()
    let first = Calls(SimulatedDisk())
    let test = try await Self.open(first.disk, first.mode(), server)
    try await test.loseHistory()
    try await test.client.sync()
    try await test.client.close()
    let again = try await Self.open(SimulatedDisk(try #require(first.crashed)), .recoverUnsyncedChanges(), server)
    try await again.client.sync()
    #expect(try await again.reports().last?.afterCallback == ClientResetReport.Callback.none)
    try await again.client.close()
  }
}
