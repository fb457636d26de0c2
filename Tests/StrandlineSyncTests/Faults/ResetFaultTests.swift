import Glibc
@_spi(Engine) import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

struct ResetFaultTests {
  @Test func `a reset that fails leaves everything as it was, and works once the trouble is over`() async throws {
    let disk = FaultyFileSystem(SimulatedDisk())
    let test = try await SyncWorkload.open(disk)
    for step in SyncWorkload.steps.prefix(10) { try await step.run(test) }
    let before = try await SyncWorkload.state(of: test.client)
    let events = await test.events()
    disk.fail([.write], with: .errno(Errno(EMFILE)), .forever)
    #expect(await code { try await test.client.reset() } == .store)
    disk.heal()
    #expect(try await SyncWorkload.state(of: test.client) == before)
    #expect(await test.events() == events)
    await test.client.dispose()
    let again = try await SyncWorkload.open(disk)
    #expect(try await SyncWorkload.state(of: again.client) == before)
    try await again.client.reset()
    #expect(try await again.client.liveRows().isEmpty)
    try await again.client.close()
  }

  @Test func `a reset works on a full disk`() async throws {
    let disk = SimulatedDisk()
    let test = try await SyncWorkload.open(disk)
    for step in SyncWorkload.steps.prefix(10) { try await step.run(test) }
    disk.edit { $0.byteCountMax = $0.usedByteCount }
    try await test.client.reset()
    #expect(try await test.client.liveRows().isEmpty)
    disk.edit { $0.byteCountMax = nil }
    try await test.client.close()
  }

  @Test func `a crash at any call of the disk leaves the state before or behind the unit under way`() async throws {
    let disk = SimulatedDisk()
    let taker = Taker()
    let recorder = RecordingFileSystem(disk) { call, moment in
      if moment == .before, call.operation.changesDisk { taker.take(disk.image) }
    }
    let test = try await SyncWorkload.open(recorder)
    var states = [try await SyncWorkload.state(of: test.client)]
    for (place, step) in SyncWorkload.steps.enumerated() {
      taker.begin(place)
      try await step.run(test)
      states.append(try await SyncWorkload.state(of: test.client))
    }
    taker.end()
    let points = taker.points
    #expect(points.count > SyncWorkload.steps.count)
    let stride = SoakScale.stride(of: points.count, running: 90)
    for (number, point) in points.enumerated() where number % stride == 0 {
      for image in [point.image, point.image.powerLoss(keeping: .dropAll)] {
        let found = try await Self.stateOfCopy(image)
        // A step of several units may end between them.
        let isKnown = found == states[point.step] || found == states[point.step + 1]
        let isInside = ["dead letter's drop", "owner resumed"].contains(SyncWorkload.steps[point.step].name)
        #expect(isKnown || isInside, "call \(number), in \(SyncWorkload.steps[point.step].name)")
      }
    }
    try await test.client.close()
  }

  private static func stateOfCopy(_ image: DiskImage) async throws -> [String: [Row]] {
    let again = try await SyncWorkload.open(SimulatedDisk(image))
    let state = try await SyncWorkload.state(of: again.client)
    await again.client.dispose()
    return state
  }

  /// Takes the disk as it is at each call, with the step under way.
  private final class Taker: Sendable {
    struct Point: Sendable {
      var image: DiskImage
      var step: Int
    }

    private let state = Lock<(step: Int?, points: [Point])>((nil, []))
    func begin(_ step: Int) { state.withLock { $0.step = step } }
    func end() { state.withLock { $0.step = nil } }
    func take(_ image: DiskImage) {
      state.withLock { state in
        if let step = state.step { state.points.append(Point(image: image, step: step)) }
      }
    }
    var points: [Point] { state.withLock { $0.points } }
  }
}
