import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// META and the chain of headers say which segments there are; less is damage.
struct MissingSegmentTests {
  private func reason(_ image: DiskImage) -> CorruptionReport.Reason? {
    let disk = SimulatedDisk(image)
    do {
      _ = try RecoveredLog.open(disk, seed: 2)
      return nil
    } catch {
      guard case LogError.corrupt(let report) = error else { return nil }
      return disk.image.hash() == image.hash() ? report.reason : nil
    }
  }

  @Test func `a live segment that is gone is missed, wherever it stood`() throws {
    let image = try SmallStore.make(commitCount: 20).image
    let segments = SmallStore.segments(of: image)
    #expect(segments.count >= 4)
    for segment in segments {
      var damaged = image
      damaged.remove(segment)
      #expect(reason(damaged) == .segmentMissing, "\(segment)")
    }
  }

  /// Killed before its first pause, so that nothing but the header says that there were commits.
  @Test func `a segment that ends inside its header's block is refused, and salvage says that its end is lost`() throws
  {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 3).log
    for value in 0..<3 { try log.append([[UInt8(value)]]) }
    let image = disk.kill().image
    let segment = try #require(SmallStore.segments(of: image).first)
    var reasons: [CorruptionReport.Reason: Int] = [:]
    for length in Array(stride(from: 0, to: SegmentHeader.blockByteCount, by: 37)) + [4095] {
      var damaged = image
      damaged.edit(segment) { $0.removeLast($0.count - length) }
      reasons[try #require(reason(damaged), "\(length) bytes"), default: 0] += 1
      let after = SimulatedDisk(damaged)
      let environment = Environment(fileSystem: after, clock: ManualClock(), randomBits: { 7 })
      let inspector = try StoreInspector(path: SmallStore.path, environment: environment)
      #expect(try inspector.verify().refusal != nil, "\(length) bytes")
      let report = try Salvage.run(from: SmallStore.path, to: "/new", environment: environment)
      #expect(!report.isComplete && report.commitCount == 0, "\(length) bytes: \(report)")
    }
    #expect(reasons[.fileTruncated, default: 0] > 50 && reasons.count == 2, "\(reasons)")
  }

  @Test func `a commit at the anchor other than the one META names is refused`() throws {
    let disk = SimulatedDisk()
    let log = try RecoveredLog.open(disk, seed: 1).log
    for value in 0..<3 { try log.append([[UInt8(value)]]) }
    try log.publishRoot(layers: [], anchor: log.status.durable, epoch: 0)
    try log.append([[9]])
    var image = disk.image
    #expect(reason(image) == nil)
    let bytes = try #require(image.bytes(of: SmallStore.rootPath))
    for number in 0..<2 {
      let start = number * RootSlot.byteCount
      var slot = try bytes.withUnsafeBytes { bytes in
        try RootSlot(decoding: bytes.slice(start, RootSlot.byteCount), slotNumber: number)
      }
      #expect(slot.anchor.ordinal != 0)
      slot.anchor.headTag ^= 1
      image.poke(SmallStore.rootPath, at: start, slot.encoded())
    }
    #expect(reason(image) == .anchorMismatch)
  }
}
