import Glibc
@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// A reset that dies, that the disk refuses, that comes in the middle of a sync, and of a very long queue: everything is as it was, or
/// exactly as the matrix says.
struct ResetUnderFireTests {
  private static func full(on disk: any FileSystem) async throws -> TestClient {
    try await ResetTests.full(at: "/store") { change(&$0, disk) }
  }

  private static func reopen(_ disk: any FileSystem) async throws -> TestClient {
    try await TestClient.open(ResetTests.tables, at: "/store") {
      change(&$0, disk)
      // Ids that no earlier process has given.
      $0.ids = RandomIDs()
    }
  }

  private static func change(_ configuration: inout SyncConfiguration, _ disk: any FileSystem) {
    configuration.storeOptions.durability = .synced
    configuration.storeOptions.log.environment.fileSystem = disk
    configuration.storeOptions.log.idleMarkInterval = nil
  }

  // MARK: Crashes

  @Test(arguments: [false, true])
  func `a crash at each call of the disk leaves the state before the reset or the matrix`(keepCopy: Bool) async throws {
    let images = ImageTaker()
    let test = try await Self.full(on: images.recorder)
    let (before, matrix) = (try await ResetTests.state(test.client), try await ResetMatrix(test.client))
    images.begin()
    _ = try await test.client.reset(keepCopy: keepCopy)
    let crashes = images.end()
    #expect(try await matrix.deviations(of: test.client).isEmpty)
    #expect(crashes.count >= 4)
    var outcomes: Set<Bool> = []
    for (number, image) in crashes.enumerated() {
      let last = number == crashes.count - 1
      for policy in [PowerLossPolicy.keepAll, .dropAll, .random(seed: UInt64(number)), .random(seed: 99)] {
        let again = try await Self.reopen(SimulatedDisk(image.powerLoss(keeping: policy)))
        let isBefore = try await ResetTests.state(again.client) == before
        let deviations = try await matrix.deviations(of: again.client)
        #expect(isBefore || deviations.isEmpty, "call \(number), \(policy): \(deviations)")
        // The last image is of the moment when reset() had returned.
        #expect(!(last && isBefore), "\(policy): an acknowledged reset is undone")
        outcomes.insert(isBefore)
        try await Self.expectItGoesOn(again, "call \(number), \(policy)")
      }
    }
    #expect(outcomes == [true, false])
    try await test.client.close()
  }

  /// A reset that came through or did not: the next one, a write and a sync work.
  private static func expectItGoesOn(_ test: TestClient, _ place: String) async throws {
    let matrix = try await ResetMatrix(test.client)
    try await test.client.reset()
    #expect(try await matrix.deviations(of: test.client).isEmpty, "\(place)")
    try await test.client.setAccessToken(token("u9"))
    try await test.client.setBucket(["team": "b"])
    try await test.insert("new", ["a": 1])
    test.remote.script(pulls: [.answer(.page("3", ["there": [:]]))])
    try await test.client.sync()
    #expect(try await test.client.liveRows().map(\.pk) == ["new", "there"], "\(place)")
    #expect(try await test.client.outboxDepth() == 0, "\(place)")
    try await test.client.close()
  }

  // MARK: Refusals

  @Test func `a disk that refuses any call leaves the state before the reset or the matrix`() async throws {
    let counter = FaultyFileSystem(SimulatedDisk())
    let probe = try await Self.full(on: counter)
    let callCountBefore = counter.callCount
    try await probe.client.reset()
    let callCount = counter.callCount - callCountBefore
    #expect(callCount > 4)
    for call in 0..<callCount {
      for (errno, repetition) in [(EIO, FaultyFileSystem.Repetition.once), (EIO, .forever), (ENOSPC, .forever)] {
        let place = "call \(call) answers \(Errno(errno)) \(repetition)"
        let disk = FaultyFileSystem(SimulatedDisk())
        let test = try await Self.full(on: disk)
        let (before, matrix) = (try await ResetTests.state(test.client), try await ResetMatrix(test.client))
        let eventCount = await test.events().count
        disk.fail(call: call, with: .errno(Errno(errno)), repetition)
        let failure = await code { try await test.client.reset() }
        disk.heal()
        if failure == nil {
          #expect(try await matrix.deviations(of: test.client).isEmpty, "\(place)")
          #expect(await test.events().count == eventCount + 1, "\(place)")
        } else {
          #expect(failure == .store, "\(place)")
          #expect(await test.events().count == eventCount, "\(place)")
        }
        if failure != nil, test.client.store.poison == nil {
          #expect(try await ResetTests.state(test.client) == before, "\(place)")
          try await test.client.reset()
          #expect(try await matrix.deviations(of: test.client).isEmpty, "\(place)")
        }
        await test.client.dispose()
        // Whether a sync that failed kept the RESET is known now.
        let again = try await Self.reopen(disk)
        let isBefore = try await ResetTests.state(again.client) == before
        let deviations = try await matrix.deviations(of: again.client)
        #expect(isBefore || deviations.isEmpty, "\(place): \(deviations)")
        #expect(!(failure == nil && isBefore), "\(place): an acknowledged reset is undone")
        try await Self.expectItGoesOn(again, place)
      }
    }
    try await probe.client.close()
  }

  @Test func `on a full disk a reset works, and one that keeps a copy works or leaves all as it was`() async throws {
    for keepCopy in [false, true] {
      let disk = SimulatedDisk()
      let test = try await Self.full(on: disk)
      let (before, matrix) = (try await ResetTests.state(test.client), try await ResetMatrix(test.client))
      disk.edit { $0.byteCountMax = $0.usedByteCount }
      let failure = await code { _ = try await test.client.reset(keepCopy: keepCopy) }
      if failure == nil {
        #expect(try await matrix.deviations(of: test.client).isEmpty)
      } else {
        #expect(keepCopy && failure == .store)
        #expect(try await ResetTests.state(test.client) == before)
      }
      disk.edit { $0.byteCountMax = nil }
      try await Self.expectItGoesOn(test, "a full disk")
    }
  }

  // MARK: In the middle of a sync

  @Test(arguments: 0..<4)
  func `a reset waits for the sync that runs, whatever it is at, and leaves nothing of it`(held: Int) async throws {
    let test = try await TestClient.open()
    let door = Door()
    try await test.insert("p1", id: "m1")
    try await test.client.write { tx in for n in 2...3 { try tx.insert([:], into: "todos", pk: "p\(n)") } }
    func pull(_ number: Int, _ page: PullAnswer) -> ScriptedRemote.PullStep {
      number == held ? .held(door, page) : .answer(page)
    }
    test.remote.script(
      pulls: [
        pull(2, .page("0:4", more: true, ["q1": [:]])), pull(3, .page("6", ["q2": [:]], gone: ["p1"])),
        .answer(.page("9", ["after": [:]])),
      ],
      pushes: [
        held == 0 ? .held(door, PushAnswer(verdicts: [.rejected("m1", .constraint, serverRow: ["a": 1])])) : .applied,
        held == 1 ? .held(door, nil) : .applied,
      ])
    let matrix = try await ResetMatrix(test.client)
    async let synced: Void = test.client.sync()
    await door.reached()
    async let paths = test.client.reset()
    // Neither waits, and both are wiped.
    try await test.insert("meanwhile")
    #expect(try await test.client.outboxDepth() > 0)
    door.open()
    try await synced
    _ = try await paths
    #expect(try await matrix.deviations(of: test.client).isEmpty, "request \(held)")
    let id = try await test.client.inspect().clientID
    try await test.client.sync()
    let request = try #require(test.remote.pullRequests.last)
    #expect(request.cursor == "0" && request.clientID == id)
    #expect(try await test.client.liveRows().map(\.pk) == ["after"])
    try await test.client.close()
  }

  @Test func `what calls find while a reset runs is the old store or the new one`() async throws {
    let test = try await ResetTests.full()
    test.remote.answerAlways(pull: .answer(.page("9")))
    let early = try await test.client.liveRows().map(\.pk)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<40 { try await test.insert("w\(writer)-\(number)", ["a": 1]) }
        }
      }
      group.addTask {
        for _ in 0..<3 {
          try await test.client.reset()
          // A reader sees one state: rows and queue go together.
          let depth = try await test.client.outboxDepth()
          #expect(depth <= 160)
        }
      }
      group.addTask { for _ in 0..<3 { try await test.client.sync() } }
      try await group.waitForAll()
    }
    try await test.client.sync()
    let rows = try await test.client.liveRows().map(\.pk)
    #expect(try await test.client.outboxDepth() == 0)
    #expect(Set(rows).isDisjoint(with: early))
    // What was written behind the last reset is there and was pushed once; nothing else is there.
    let pushed = test.remote.pushRequests.flatMap { $0.mutations.map(\.pk) }
    #expect(Set(rows).isSubset(of: pushed) && Set(pushed).count == pushed.count)
    try await test.client.close()
  }

  // MARK: A very long queue

  @Test func `a reset with 100,000 queued writes leaves the matrix, on a full disk and after a crash too`() async throws
  {
    let images = ImageTaker()
    let test = try await TestClient.open(ResetTests.tables, at: "/store") {
      Self.change(&$0, images.recorder)
      $0.storeOptions.durability = .buffered
    }
    for commit in 0..<100 {
      try await test.client.write { tx in
        for number in 0..<1000 { try tx.insert(["a": .int(Int64(number))], into: "todos", pk: "p\(commit)-\(number)") }
      }
    }
    try await test.client.store.sync()
    #expect(try await test.client.outboxDepth() == 100_000)
    let matrix = try await ResetMatrix(test.client)
    images.disk.edit { $0.byteCountMax = $0.usedByteCount }
    images.begin()
    let report = try await test.client.reset(keepCopy: false)
    let crashes = images.end()
    images.disk.edit { $0.byteCountMax = nil }
    #expect(report.droppedMutations == ["todos": 100_000])
    #expect(try await matrix.deviations(of: test.client).isEmpty)
    // Opening what is before the reset reads the whole queue; so some of the calls.
    let stride = SoakScale.stride(of: crashes.count, running: 4)
    for number in Swift.stride(from: crashes.count - 1, through: 0, by: -stride) {
      var image = crashes[number].powerLoss(keeping: .random(seed: UInt64(number)))
      image.byteCountMax = nil
      let again = try await Self.reopen(SimulatedDisk(image))
      if try await again.client.outboxDepth() == 100_000 {
        #expect(number < crashes.count - 1)
        #expect(try await again.client.liveRows().count == 100_000)
      } else {
        #expect(try await matrix.deviations(of: again.client).isEmpty, "call \(number)")
      }
      await again.client.dispose()
    }
    try await test.client.close()
  }
}

/// Takes the disk as it is before each call that changes it, and when the recording ends.
private final class ImageTaker: Sendable {
  private final class Shelf: Sendable { let images = Lock<[DiskImage]?>(nil) }

  let disk = SimulatedDisk()
  let recorder: RecordingFileSystem
  private let shelf = Shelf()

  init() {
    recorder = RecordingFileSystem(disk) { [disk, shelf] call, moment in
      guard moment == .before, call.operation.changesDisk else { return }
      shelf.images.withLock { if $0 != nil { $0?.append(disk.image) } }
    }
  }

  func begin() { shelf.images.withLock { $0 = [] } }

  func end() -> [DiskImage] {
    shelf.images.withLock { images in
      defer { images = nil }
      return (images ?? []) + [disk.image]
    }
  }
}
