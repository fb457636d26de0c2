@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Space for a switch is asked for before anything of it is written.
struct ResetSpaceTests {
  private static func open(_ mode: ClientResetMode, _ disk: SimulatedDisk) async throws -> ResetTest {
    try await ResetTest.open(mode, at: "/store") { configuration in
      configuration.storeOptions.log.environment.fileSystem = disk
      configuration.keptCopies = KeptCopyPolicy(.always)
    }
  }

  @Test(arguments: ["recover", "discard", "recover-or-discard"])
  func `too little space ends the attempt in front of the marker, and the next run goes on with the same copy`(
    _ word: String
  ) async throws {
    let disk = SimulatedDisk()
    let calls = CallCounts()
    let test = try await Self.open(try calls.mode(word), disk)
    try await test.loseHistory()
    try await test.insert("own", ["x": 1], id: "m1")
    let rows = try await test.rows()
    disk.setFreeByteCount(100_000)
    let error = await #expect(throws: SyncError.self) { try await test.client.sync() }
    #expect(error?.code == .storeFailed && error?.action == .freeSpace && error?.resetInfo == nil)
    #expect(try await test.rows() == rows)
    #expect(try await test.depth() == 1)
    // Neither marker nor copy, and no layer that nothing names.
    #expect(try test.client.read { try $0.resetRecord()?.phase } == .ready)
    #expect(try await test.client.keptCopies().isEmpty)
    #expect(try await test.reports().isEmpty)
    #expect(!(await test.eventNames()).contains("RESET_REQUIRED"))
    #expect(test.errors.all.count == 1 && calls.after == 0)
    // It is no crash and no failure that the guard counts.
    for _ in 1...2 { await #expect(throws: SyncError.self) { try await test.client.sync() } }
    disk.setFreeByteCount(100_000_000)
    let count = test.server.now.freshPullCount
    try await test.client.sync()
    #expect(test.server.now.freshPullCount == count, "the copy was there")
    #expect(try await !test.isBlocked())
    #expect(try await test.client.keptCopies().count == 1)
    #expect(calls.after == 1)
    try await test.client.close()
  }

  @Test func `a long queue needs more where it is recovered, and nothing where it is discarded`() async throws {
    for word in ["recover", "discard"] {
      let disk = SimulatedDisk()
      let test = try await Self.open(try ClientResetMode(text: word), disk)
      try await test.loseHistory()
      for number in 0..<10 {
        try await test.insert("own\(number)", ["text": .string(String(repeating: "x", count: 500_000))])
      }
      disk.setFreeByteCount(10_000_000)
      if word == "recover" {
        #expect(await code { try await test.client.sync() } == .store)
        disk.setFreeByteCount(20_000_000)
      }
      try await test.client.sync()
      #expect(try await test.rows().count == (word == "recover" ? 12 : 2))
      try await test.client.close()
    }
  }

  @Test func `the machine's own file system says what is free`() async throws {
    let directory = TemporaryDirectory()
    let free = try #require(try PosixFileSystem().freeByteCount(at: directory.path))
    #expect(free > 0)
    #expect(throws: Errno.self) { try PosixFileSystem().freeByteCount(at: "\(directory.path)/nothing") }
  }

  @Test func `the bytes of the pages are counted, over an interruption too`() async throws {
    let test = try await ResetTest.open()
    try await test.loseHistory()
    for number in 0..<8 { test.server.put("r\(number)", ["x": 1]) }
    let server = test.server
    server.change { state in
      state.pageRowCount = 2
      state.pageByteCount = 1000
      state.beforeFreshPull = { if server.now.freshPullCount == 3 { server.change { $0.isOffline = true } } }
    }
    await #expect(throws: SyncError.self) { try await test.client.sync() }
    server.change {
      $0.isOffline = false
      $0.beforeFreshPull = nil
    }
    try await test.client.sync()
    let report = try #require(try await test.reports().last)
    #expect(report.pages == 5 && report.bytesDownloaded == 5000)
    try await test.client.close()
  }
}
