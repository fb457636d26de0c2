import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct SegmentIdentityTests {
  @Test func `what the machine draws ids and salts from does not repeat`() {
    var drawn: Set<UInt64> = [0]
    for _ in 0..<200_000 { drawn.insert(Environment.system.randomBits()) }
    #expect(drawn.count == 200_001)
  }

  /// The clock stands still, and both stores have segments with the same ordinals.
  @Test func `no two segments of any store have the same id or salt`() throws {
    var headers: [SegmentHeader] = []
    for seed in [UInt64(1), 2] {
      let disk = SimulatedDisk()
      let log = try RecoveredLog.open(disk, seed: seed).log
      for value in 0..<20 { try log.append([[UInt8](repeating: UInt8(value), count: 1_500)]) }
      for segment in SmallStore.segments(of: disk.image) {
        let bytes = try #require(disk.image.bytes(of: segment))
        headers.append(
          try bytes.withUnsafeBytes { bytes in
            try SegmentHeader(decodingBlock: bytes.slice(0, SegmentHeader.blockByteCount))
          })
      }
    }
    #expect(headers.count >= 6)
    #expect(Set(headers.map(\.id)).count == headers.count)
    #expect(Set(headers.map(\.salt)).count == headers.count)
  }
}
