import Glibc
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) @_spi(Scenario) import StrandlineSync

/// Resets that are stopped, killed, refused and begun again, as public reports against Realm tell of them.
struct ResetStoppedTests {
  private static func open(
    _ disk: any FileSystem, _ mode: ClientResetMode, _ server: SmallServer
  ) async throws -> ResetTest {
    try await ResetTest.open(mode, server: server, at: "/store") { configuration in
      configuration.storeOptions.durability = .synced
      configuration.storeOptions.log.environment.fileSystem = disk
      configuration.storeOptions.log.idleMarkInterval = nil
      configuration.storeOptions.log.helpers = .callerRuns
    }
  }

  @Test func `any number of kills while the fresh copy is written out count for nothing`() async throws {
    let server = SmallServer()
    let image = Lock<DiskImage?>(nil)
    let isOn = Lock(false)
    func recorder(_ disk: SimulatedDisk) -> RecordingFileSystem {
      RecordingFileSystem(disk) { call, moment in
        // The first layer that comes into the store itself is the fresh copy's.
        guard moment == .after, isOn.withLock({ $0 }), call.path.hasPrefix("/store/layer-") else { return }
        image.withLock { $0 = $0 ?? disk.image }
      }
    }
    let test = try await Self.open(recorder(SimulatedDisk()), .recoverUnsyncedChanges(), server)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let content = server.now.content
    isOn.withLock { $0 = true }
    try await test.client.sync()
    try await test.client.close()
    for round in 0..<4 {
      let crashed = try #require(image.withLock { $0 }, "round \(round)")
      image.withLock { $0 = nil }
      server.change { $0.content = content }
      let again = try await Self.open(recorder(SimulatedDisk(crashed)), .recoverUnsyncedChanges(), server)
      #expect(try again.client.read { try $0.resetRecord()?.isRunning } == false, "round \(round)")
      #expect(try await again.columns("a")?["title"] == "mine")
      try await again.client.sync()
      #expect(server.columns("a")?["title"] == "mine", "round \(round)")
      try await again.client.close()
    }
  }

  @Test func `a process that ends right behind the handler has left the action, and the copy misses nothing`()
    async throws
  {
    let disk = SimulatedDisk()
    let server = SmallServer()
    let seen = Lock<(image: DiskImage, token: ResetToken)?>(nil)
    let test = try await Self.open(
      disk,
      .manual(handler: { error, _ in
        guard let token = (error as? SyncError)?.resetInfo?.token else { return }
        seen.withLock { $0 = $0 ?? (disk.image, token) }
      }), server)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    #expect(await resetReason { try await test.client.sync() } == .manual)
    await test.settle()
    try await test.client.close()
    let (image, token) = try #require(seen.withLock { $0 })
    for crashed in [image, image.powerLoss(keeping: .dropAll)] {
      let later = SimulatedDisk(crashed)
      let again = try await Self.open(later, .manual(), server)
      #expect(try await again.client.pendingReset()?.token == token)
      try await again.client.performResetAction(token)
      let copy = try #require(try await again.client.keptCopies().last)
      let view = try await copy.view(ResetTest.tables, options: again.client.configuration.storeOptions)
      #expect(try view.pendingMutations().map(\.mutationID) == ["m1"])
      try await again.client.close()
    }
  }

  @Test func `the handler is called though the application has let go of its client`() async throws {
    let directory = TemporaryDirectory()
    let told = ResetTest.ErrorLog()
    func begin() async throws -> Task<Void, any Error> {
      let test = try await ResetTest.open(
        .manual(handler: { error, _ in told.add(error) }), at: "\(directory.path)/store")
      try await test.loseHistory()
      let client = test.client
      return Task {
        defer { client.afterDelivery {} }
        try await client.sync()
      }
    }
    let run = try await begin()
    await #expect(throws: SyncError.self) { try await run.value }
    while told.reset.isEmpty { await Task.yield() }
    #expect(told.reset.map(\.reason) == [.manual])
  }

  @Test func `an action whose copy cannot be made stays, and is performed once it can be`() async throws {
    let directory = TemporaryDirectory()
    let place = "\(directory.path)/copies"
    DirectoryProbe.write([1], to: place)
    let test = try await ResetTest.open(.manual(), at: "\(directory.path)/store") {
      $0.keptCopies = KeptCopyPolicy(directory: place)
    }
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    let token = try #require(error?.resetInfo?.token)
    #expect(await code { try await test.client.performResetAction(token) } == .store)
    #expect(try await test.depth() == 1)
    #expect(try await test.columns("a")?["title"] == "mine")
    #expect(try await test.client.pendingReset()?.token == token)
    DirectoryProbe.remove(place)
    try await test.client.performResetAction(token)
    #expect(try await test.client.keptCopies().map(\.path) == [error?.resetInfo?.keptCopyPath])
    #expect(try await test.depth() == 0)
    try await test.client.close()
  }

  @Test func `a client that is closed inside after has switched, and after comes no second time`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let (inside, door) = (Door(), Door())
    let calls = Lock(0)
    let mode = ClientResetMode.recoverUnsyncedChanges(after: { _, _, _ in
      calls.withLock { $0 += 1 }
      inside.open()
      await door.pass()
    })
    let test = try await ResetTest.open(mode, at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    let client = test.client
    let run = Task { try? await client.sync() }
    await inside.pass()
    let closing = Task { await client.dispose() }
    door.open()
    await closing.value
    _ = await run.value
    let again = try await ResetTest.open(mode, server: test.server, at: path)
    #expect(try await again.rows().keys.sorted() == ["a", "c"])
    #expect(try await again.columns("a") == ["id": "a", "title": "mine", "n": 10])
    try await again.client.sync()
    #expect(calls.withLock { $0 } == 1)
    #expect(again.server.columns("a")?["title"] == "mine")
    try await again.client.close()
  }

  @Test func `a discard behind a pause and a resume is as automatic as the first`() async throws {
    let test = try await ResetTest.open(.discardUnsyncedChanges())
    for number in 1...2 {
      try await test.loseHistory()
      try await test.update("a", ["title": "mine"])
      try await test.client.sync()
      #expect(try await test.reports().map(\.effectiveMode) == Array(repeating: .discard, count: number))
      #expect(try await test.columns("a")?["title"] == "restored")
      test.client.session.pause()
      test.client.session.resume()
    }
    #expect(test.errors.all.isEmpty)
    try await test.client.close()
  }

  @Test func `requests behind a switch carry the identity of the fresh copy`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    test.server.change { $0.settledIDs = [] }
    let former = try await test.client.inspect().clientID
    try await test.client.sync()
    try await test.client.sync()
    let now = test.server.now
    let identity = try #require(now.clientIDs.last)
    // What found the loss is still the former identity's.
    #expect(Set(now.settledIDs.drop { $0 == former }) == [identity] && identity != former)
    #expect(now.pushedIDs.contains("m1"))
    try await test.client.close()
  }

  @Test func `a queue that cannot be recovered fails at once at each later open, without a download`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let server = SmallServer()
    var test = try await ResetTest.open(server: server, at: path)
    try await test.loseHistory()
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.spoilQueue()
    let rows = try await test.rows()
    #expect(await resetReason { try await test.client.sync() } == .recoveryImpossible)
    let count = server.now.freshPullCount
    for _ in 1...2 {
      try await test.client.close()
      test = try await ResetTest.open(server: server, at: path)
      #expect(await resetReason { try await test.client.sync() } == .loopDetected)
      #expect(await resetReason { try await test.client.sync() } == nil)
      await test.settle()
      #expect(test.errors.all.count == 1)
      #expect(server.now.freshPullCount == count)
      #expect(try await test.rows() == rows)
      #expect(try await test.depth() == 1)
    }
    try await test.client.close()
  }
}
