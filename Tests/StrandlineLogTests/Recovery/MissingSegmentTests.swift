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
