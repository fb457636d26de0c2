import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Frames whose tags are right and whose fields lie: rotten memory or another program may have made them.
struct ForgedFrameTests {
  private static let salt: UInt64 = 0x1234_5678_9ABC_DEF0
  private static let lsn = LSN(8192)

  private func header(
    codec: FrameCodec = .raw, stored: Int = 40, raw: Int = 40, count: Int = 1, previousTag: UInt64 = 0
  ) -> FrameHeader {
    FrameHeader(
      kind: .data, codec: codec, continues: false, storedByteCount: stored, rawByteCount: raw,
      sequence: SequenceNumber(1), recordCount: count, epoch: 0, durable: .zero, previousTag: previousTag, bodyTag: 7)
  }

  private func decoding(_ header: FrameHeader, at lsn: LSN = lsn) throws -> FrameHeader {
    var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    bytes.withUnsafeMutableBytes { _ = header.encode(into: $0, salt: Self.salt, lsn: Self.lsn) }
    return try bytes.withUnsafeBytes { try FrameHeader(decoding: $0, salt: Self.salt, lsn: lsn) }
  }

  @Test func `lengths and counts that cannot be are refused with the header`() throws {
    #expect(try decoding(header()) == header())
    #expect(throws: FrameHeader.Defect.fieldOutOfRange(.rawLen)) {
      try decoding(header(codec: .lz4, stored: FrameHeader.storedByteCountMax, raw: FrameHeader.rawByteCountMax + 1))
    }
    #expect(throws: FrameHeader.Defect.fieldOutOfRange(.rawLen)) {
      try decoding(header(codec: .lz4, stored: 10, raw: 2551))
    }
    #expect(throws: FrameHeader.Defect.fieldOutOfRange(.count)) { try decoding(header(stored: 4, raw: 4, count: 5)) }
  }

  @Test func `a header counts at its own place only`() throws {
    for other: UInt64 in [0, 8184, 8200, 12288] {
      #expect(throws: FrameHeader.Defect.self) { try decoding(header(), at: LSN(other)) }
    }
  }

  @Test func `a frame that names another one in front of it does not continue the history`() throws {
    let segment = SegmentHeader(
      identifier: StoreIdentifier(high: 1, low: 2), ordinal: 1, id: 3, epoch: 0, baseSequence: .zero, baseLSN: .zero,
      salt: Self.salt, predecessor: SegmentHeader.Predecessor(id: 0, byteCount: 0, headTag: 0),
      reset: SegmentHeader.LastReset(sequence: .zero, headTag: 0), createdAt: 0)
    var state = ChainState(startOf: segment)
    #expect(throws: ChainState.Break.previousTag(expected: 0, found: 1)) {
      try state.accept(header(previousTag: 1), tag: 5)
    }
    try state.accept(header(), tag: 5)
    #expect(state.sequence == SequenceNumber(1))
  }

  @Test func `a block that decodes to fewer bytes than claimed is refused`() throws {
    let raw = [UInt8](repeating: 7, count: 10_000)
    var stored = [UInt8](repeating: 0, count: LZ4Block.bound(raw.count))
    let count = try #require(
      stored.withUnsafeMutableBytes { target in raw.withUnsafeBytes { LZ4Block.compress($0, into: target) } })
    for (size, isFine) in [(raw.count, true), (raw.count + 1, false), (raw.count - 1, false)] {
      var target = [UInt8](repeating: 0, count: size)
      let answer = target.withUnsafeMutableBytes { target in
        stored.withUnsafeBytes { LZ4Block.decompress($0.slice(0, count), into: target) }
      }
      #expect(answer == isFine, "\(size) bytes")
    }
  }

  @Test(arguments: [UInt64(4), 1 << 31, 1 << 63, .max])
  func `a record longer than its frame is refused`(length: UInt64) throws {
    var payload = [UInt8](repeating: 0, count: 1 + Varint.byteCountMax)
    let count = payload.withUnsafeMutableBytes { bytes in
      Varint.write(length, to: bytes.baseAddress! + 1)
    }
    payload = Array(payload.prefix(1 + count)) + [1, 2, 3]
    #expect(throws: FrameBody.Defect.recordsMalformed) {
      try payload.withUnsafeBytes { bytes in
        try FrameBody.layout(
          of: bytes, header: header(stored: bytes.count, raw: bytes.count), isFirst: true, behind: nil)
      }
    }
  }
}
