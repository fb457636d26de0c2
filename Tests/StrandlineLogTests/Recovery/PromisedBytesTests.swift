import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// What a sync had covered is never cut; what none had covered is, whatever lies behind it.
struct PromisedBytesTests {
  @Test func `damage to a commit that a later frame vouches for is refused`() throws {
    var image = try SmallStore.make(commitCount: 3, byteCount: 20).image
    let segment = try #require(SmallStore.segments(of: image).first)
    image.flip(segment, byte: SegmentHeader.blockByteCount + 8, bit: 0)
    let hash = image.hash()
    let disk = SimulatedDisk(image)
    let error = #expect(throws: LogError.self) { try RecoveredLog.open(disk, seed: 2) }
    guard case .corrupt = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(disk.image.hash() == hash)
  }

  @Test func `damage to the body of a commit that a sync had covered is refused`() throws {
    var image = try SmallStore.make(commitCount: 3, byteCount: 200).image
    let segment = try #require(SmallStore.segments(of: image).first)
    image.flip(segment, byte: SegmentHeader.blockByteCount + FrameHeader.byteCount + 100, bit: 3)
    #expect(throws: LogError.self) { try RecoveredLog.open(SimulatedDisk(image), seed: 2) }
  }

  /// Each frame says how far a sync had come, and a sync had not come to the buffered ones.
  @Test func `a buffered commit that was lost in front of others is no damage`() throws {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    try log.append([[1]])
    for value in 2...6 { try log.append([[UInt8](repeating: UInt8(value), count: 600)], durability: .buffered) }
    let image = disk.image
    #expect(image.pendingAtoms.count >= 5)
    for atom in image.pendingAtoms.indices {
      let cut = SimulatedDisk(image.powerLoss(keeping: .dropOnly(atom)))
      let recovered = try RecoveredLog.open(cut, seed: 2)
      #expect(recovered.entries.map(\.sequence) == Array(1...UInt64(max(1, recovered.entries.count))))
    }
  }

  @Test func `a hole of zeros hides no promise behind it`() throws {
    let disk = SimulatedDisk()
    var options = LogOptions.crashTest(disk, seed: 1, clock: ManualClock())
    options.segmentByteCountMax = 64 << 20
    var generator = SeededGenerator(seed: 1)
    let log = try Log.open(at: SmallStore.path, options: options)
    for _ in 0..<40 { try log.append([generator.bytes(10_000)]) }
    var image = disk.image
    let segment = try #require(SmallStore.segments(of: image).first)
    image.poke(segment, at: 25_000, [UInt8](repeating: 0, count: 300 << 10))
    #expect(throws: LogError.self) { try RecoveredLog.open(SimulatedDisk(image), seed: 2) }
  }

  @Test func `nothing of a torn commit stays in the file`() throws {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    try log.append([[1]])
    try log.append([[UInt8](repeating: 9, count: 3_000)], durability: .buffered)
    let torn = disk.powerLoss(keeping: .keepLast(3))
    let recovered = try RecoveredLog.open(torn, seed: 2)
    #expect(recovered.entries.map(\.sequence) == [1])
    #expect(recovered.log.openReport.cut != nil)
    let segment = try #require(SmallStore.segments(of: torn.image).first)
    let end = Int(recovered.log.core.published.withLock { $0.durableLSN.rawValue })
    let rest = try #require(torn.image.bytes(of: segment)).dropFirst(end)
    #expect(rest.allSatisfy { $0 == 0 })
    try recovered.log.append([[2]])
    try recovered.log.close()
    let again = try RecoveredLog.open(torn.kill(), seed: 3)
    #expect(again.entries.map(\.sequence) == [1, 2])
    #expect(again.log.openReport.wasClosedCleanly)
  }
}
