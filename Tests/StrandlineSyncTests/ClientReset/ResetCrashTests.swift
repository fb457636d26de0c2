import Glibc
@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// A crash at every call of the disk while a client is reset: what opens is the state before or the one behind the switch, and the next
/// run ends where the reset without a crash ended.
struct ResetCrashTests {
  private struct Point: Sendable {
    var image: DiskImage
    var server: SmallServer.Content
  }

  /// Takes the disk and the server as they are at each call that changes the disk.
  private final class Taker: Sendable {
    private let state = Lock<(isOn: Bool, points: [Point])>((false, []))
    func begin() { state.withLock { $0.isOn = true } }
    func end() { state.withLock { $0.isOn = false } }
    func take(_ image: @autoclosure () -> DiskImage, _ server: SmallServer) {
      state.withLock { state in
        if state.isOn { state.points.append(Point(image: image(), server: server.now.content)) }
      }
    }
    var points: [Point] { state.withLock { $0.points } }
  }

  private struct Seen: Hashable {
    var rows: [String: [String: Value]]
    var pending: [String]
  }

  private static func open(_ disk: any FileSystem, _ mode: ClientResetMode, _ server: SmallServer) async throws
    -> ResetTest
  {
    try await ResetTest.open(mode, server: server, at: "/store") { configuration in
      configuration.storeOptions.durability = .synced
      configuration.storeOptions.log.environment.fileSystem = disk
      configuration.storeOptions.log.idleMarkInterval = nil
      configuration.storeOptions.log.helpers = .callerRuns
    }
  }

  private static func seen(_ test: ResetTest) async throws -> Seen {
    Seen(rows: try await test.rows(), pending: try await test.client.inspect().head.map(\.mutationID))
  }

  /// Keys of the rows of `todos`, read without opening the store for writing.
  private static func keys(in image: DiskImage) throws -> [String] {
    var options = StoreOptions()
    options.log.access = .readOnly
    options.log.environment.fileSystem = SimulatedDisk(image)
    let store = try Store.open(at: "/store", options: options)
    defer { try? store.close() }
    return try store.view().query("todos").select(HiddenColumn.pk).all().compactMap { row in
      if case .string(let pk)? = row[HiddenColumn.pk] { pk } else { nil }
    }
  }

  private static func queue(_ test: ResetTest) async throws {
    try await test.update("a", ["title": "mine"], id: "m1")
    try await test.update("a", [:], transforms: ["n": ["op": "increment", "by": 5]], id: "m2")
    try await test.update("b", ["title": "lost"], id: "m3")
    try await test.insert("d", ["title": "new"], id: "m4")
    try await test.delete("a", id: "m5")
    try await test.insert("a", ["title": "again", "n": 1], id: "m6")
  }

  @Test(arguments: ["recover", "discard", "recover-or-discard", "after"])
  func `a crash at any call of the disk: old or new, never a mix, and the next run ends the same`(_ word: String)
    async throws
  {
    let mode =
      word == "after"
      ? ClientResetMode.recoverUnsyncedChanges(before: { _ in }, after: { _, _, _ in })
      : try ClientResetMode(text: word)
    let disk = SimulatedDisk()
    let server = SmallServer()
    server.change { $0.pageRowCount = 2 }
    let taker = Taker()
    let recorder = RecordingFileSystem(disk) { call, moment in
      if moment == .before, call.operation.changesDisk { taker.take(disk.image, server) }
    }
    let test = try await Self.open(recorder, mode, server)
    try await test.loseHistory()
    for number in 0..<4 { server.put("r\(number)", ["n": .int(Int64(number))]) }
    try await Self.queue(test)
    let old = try await Self.seen(test)
    taker.begin()
    try await test.client.sync()
    taker.end()
    let new = try await Self.seen(test)
    let ended = server.now.content.rows.mapValues(\.columns)
    try await test.client.close()
    #expect(old.rows != new.rows && new.pending.isEmpty)
    let points = taker.points
    #expect(points.count > 30)
    let stride = SoakScale.stride(of: points.count, running: 40)
    for (number, point) in points.enumerated() where number % stride == 0 {
      for image in [point.image, point.image.powerLoss(keeping: .dropAll)] {
        let again = SmallServer()
        again.change { state in
          state = server.now
          state.content = point.server
        }
        // Who only reads finds one of the two as well, and changes nothing.
        let keys = try await Task.detached { try Self.keys(in: image) }.value
        #expect(keys == old.rows.keys.sorted() || keys == new.rows.keys.sorted(), "\(word), call \(number)")
        let reopened = try await Self.open(SimulatedDisk(image), mode, again)
        let found = try await Self.seen(reopened)
        #expect(found.rows == old.rows || found.rows == new.rows, "\(word), call \(number)")
        if found.rows == old.rows { #expect(found.pending == old.pending, "\(word), call \(number)") }
        try await reopened.client.sync()
        #expect(try await Self.seen(reopened) == new, "\(word), call \(number)")
        #expect(again.now.content.rows.mapValues(\.columns) == ended, "\(word), call \(number)")
        #expect(try await !reopened.isBlocked())
        #expect(try reopened.client.store.stagingNames().isEmpty)
        try await reopened.client.close()
      }
    }
  }

  @Test func `a full disk at each step: everything as it was, or the switch, and the next run ends the same`()
    async throws
  {
    let server = SmallServer()
    let probe = FaultyFileSystem(SimulatedDisk())
    let first = try await Self.open(probe, .recoverUnsyncedChanges(), server)
    try await first.loseHistory()
    try await Self.queue(first)
    let start = probe.counts[.write] ?? 0
    try await first.client.sync()
    let writes = (probe.counts[.write] ?? 0) - start
    let new = try await Self.seen(first)
    try await first.client.close()
    let stride = SoakScale.stride(of: writes, running: 20)
    for write in Swift.stride(from: 0, to: writes, by: stride) {
      let server = SmallServer()
      let disk = FaultyFileSystem(SimulatedDisk())
      let test = try await Self.open(disk, .recoverUnsyncedChanges(), server)
      try await test.loseHistory()
      try await Self.queue(test)
      let old = try await Self.seen(test)
      disk.fail([.write], call: (disk.counts[.write] ?? 0) + write, with: .errno(Errno(ENOSPC)), .forever)
      do { try await test.client.sync() } catch {}
      await test.client.dispose()
      disk.heal()
      let again = try await Self.open(disk, .recoverUnsyncedChanges(), server)
      let found = try await Self.seen(again)
      #expect(found.rows == old.rows || found.rows == new.rows, "write \(write)")
      try await again.client.sync()
      #expect(try await Self.seen(again) == new, "write \(write)")
      try await again.client.close()
    }
  }

  @Test func `a second crash while it is under way is a failure, and recover-or-discard then discards`() async throws {
    let server = SmallServer()
    let disk = SimulatedDisk()
    let test = try await Self.open(disk, .recoverOrDiscardUnsyncedChanges(), server)
    try await test.loseHistory()
    try await Self.queue(test)
    try await test.client.pullOnce()
    try await test.client.close()
    // Twice: ready, and gone.
    for crash in 1...2 {
      let door = Door()
      let hanging = ClientResetMode.recoverOrDiscardUnsyncedChanges(before: { _ in
        await door.pass()
        try Task.checkCancellation()
      })
      let crashing = try await Self.open(disk, hanging, server)
      let client = crashing.client
      let run = Task { try await client.sync() }
      await door.reached()
      let image = disk.image
      run.cancel()
      door.open()
      await #expect(throws: (any Error).self, "crash \(crash)") { try await run.value }
      await client.dispose()
      disk.edit { $0 = image }
    }
    let last = try await Self.open(disk, .recoverOrDiscardUnsyncedChanges(), server)
    try await last.client.sync()
    #expect(try await last.reports().last?.effectiveMode == .discard)
    try await last.client.close()
  }
}
