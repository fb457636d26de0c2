import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Changes a segment's bytes and makes all tags right again, so that a change gets behind the checksums: what is left to
/// refuse it is what the decoders check.
struct Forge {
  private(set) var bytes: [UInt8]
  let header: SegmentHeader
  /// Where the frames begin, in order.
  let offsets: [Int]

  init(_ image: DiskImage, file: String) throws {
    bytes = try #require(image.bytes(of: file))
    header = try bytes.withUnsafeBytes { try SegmentHeader(decodingBlock: $0) }
    let segment = try SegmentFile(inspecting: file, header: header, in: SimulatedDisk(image))
    var walk = FrameWalk(
      segment, from: ChainState(startOf: header), end: Int64(bytes.count), searchesBits: false)
    var offsets: [Int] = []
    while let step = try walk.next() {
      if case .frame(let frame, _) = step { offsets.append(Int(frame.offset)) }
    }
    self.offsets = offsets
  }

  /// Bytes that a header's fields and a payload take, without the tags.
  func changeableRange(ofFrame index: Int) -> Range<Int> {
    let start = offsets[index]
    return start..<start + FrameHeader.byteCount + storedByteCount(at: start)
  }

  /// Changes frame `index` by `change`, which is given the whole file and the frame's place, then tags it and all behind it anew.
  mutating func forge(frame index: Int, _ change: (inout [UInt8], Int) -> Void) {
    change(&bytes, offsets[index])
    var previous: UInt64?
    for offset in offsets[index...] {
      if let previous { put(previous, at: offset + 40) }
      previous = tag(frameAt: offset)
    }
  }

  /// Makes both tags of a frame right; answers the head tag.
  private mutating func tag(frameAt offset: Int) -> UInt64 {
    let lsn = header.baseLSN.advanced(by: Int64(offset))
    // A length that does not fit covers nothing; the frame is refused for it.
    let length = paddedTo8(storedByteCount(at: offset))
    let start = offset + FrameHeader.byteCount
    let body = start + length <= bytes.count ? Array(bytes[start..<start + length]) : []
    put(Tag.of(body, seed: Tag.bodySeed(salt: header.salt, lsn: lsn)), at: offset + 48)
    let tag = Tag.of(Array(bytes[offset..<offset + 56]), seed: Tag.headSeed(salt: header.salt, lsn: lsn))
    put(tag, at: offset + 56)
    return tag
  }

  private func storedByteCount(at offset: Int) -> Int {
    bytes.withUnsafeBytes { Int($0.u32(offset + 8)) }
  }

  private mutating func put(_ value: UInt64, at offset: Int) {
    bytes.withUnsafeMutableBytes { $0.put(value, at: offset) }
  }

  /// Gives 152 bytes of a segment header, or 4088 of a root slot, their tag behind them.
  static func tagged(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    bytes + withUnsafeBytes(of: Tag.of(bytes, seed: seed).littleEndian) { Array($0) }
  }

  /// Changes some bytes: any value, and those at the edges of what a field can hold.
  static func mutate(_ bytes: inout [UInt8], _ range: Range<Int>, _ generator: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let place = Int.random(in: range, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: bytes[place] = 0
      case 1: bytes[place] = 0xFF
      case 2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 3: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      default:
        let width = [2, 4, 8].randomElement(using: &generator) ?? 4
        let start = place & ~(width - 1)
        guard start >= range.lowerBound, start + width <= range.upperBound else { continue }
        let edges: [UInt64] = [
          0, 1, 7, 8, 0x7F, 0x80, 0xFFFF, 1 << 20, 16 << 20, (16 << 20) + 17, 17 << 20, (17 << 20) + 1, 0x7FFF_FFFF,
          0x8000_0000, 0xFFFF_FFFF, 1 << 32, 1 << 62, (1 << 62) + 1, UInt64(Int64.max) - 1, UInt64(Int64.max), 1 << 63,
          .max,
        ]
        var value = edges.randomElement(using: &generator) ?? 0
        for index in 0..<width {
          bytes[start + index] = UInt8(truncatingIfNeeded: value)
          value >>= 8
        }
      }
    }
  }
}
