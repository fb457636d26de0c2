import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Decoders on bytes whose checksums are right and whose contents are not: each input is refused or means something, none
/// traps, none takes more memory than the format allows.
struct DecoderMutationTests {
  /// Inputs a decoder gets by default.
  private static let inputCount = 20_000 * SoakScale.factor

  private static let salt: UInt64 = 0x5EED
  private static let lsn = LSN(8192)

  private func frame(
    _ kind: FrameKind, _ codec: FrameCodec, payload: [UInt8], rawByteCount: Int, count: Int
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    let header = FrameHeader(
      kind: kind, codec: codec, continues: false, storedByteCount: payload.count, rawByteCount: rawByteCount,
      sequence: SequenceNumber(9), recordCount: count, epoch: 3, durable: LSN(4096), previousTag: 5, bodyTag: 6)
    bytes.withUnsafeMutableBytes { _ = header.encode(into: $0, salt: Self.salt, lsn: Self.lsn) }
    return bytes + payload
  }

  @Test func `frame headers and payloads`() throws {
    var generator = SeededGenerator(seed: 12)
    let records: [UInt8] = [0x80, 0x01, 3, 1, 2, 3, 0, 1, 9]
    let reset = ResetPayload(
      epoch: 3, cause: 1, time: -5,
      base: [
        LayerEntry(
          id: 1, level: 2, firstSequence: SequenceNumber(1), lastSequence: SequenceNumber(8), byteCount: 100,
          footerTag: 4,
          salt: 5)
      ]
    ).encoded(records: [2, 7, 7])
    let gap = GapPayload(first: SequenceNumber(4), last: SequenceNumber(9), reason: .damaged).encoded()
    let raw = [UInt8](repeating: 7, count: 5000)
    var compressed = [UInt8](repeating: 0, count: LZ4Block.bound(raw.count))
    let compressedCount = try #require(
      raw.withUnsafeBytes { raw in compressed.withUnsafeMutableBytes { LZ4Block.compress(raw, into: $0) } })
    let samples = [
      frame(.data, .raw, payload: records, rawByteCount: records.count, count: 3),
      frame(.reset, .raw, payload: reset, rawByteCount: reset.count, count: 1),
      frame(.gap, .raw, payload: gap, rawByteCount: gap.count, count: 0),
      frame(.syncMark, .raw, payload: [], rawByteCount: 0, count: 0),
      frame(.data, .lz4, payload: Array(compressed[0..<compressedCount]), rawByteCount: raw.count, count: 3),
    ]
    var decoder = BodyDecoder()
    var accepted = 0
    for number in 0..<Self.inputCount {
      var bytes = samples[number % samples.count]
      Forge.mutate(&bytes, 0..<bytes.count, &generator)
      let tag = Tag.of(Array(bytes[0..<56]), seed: Tag.headSeed(salt: Self.salt, lsn: Self.lsn))
      bytes.withUnsafeMutableBytes { $0.put(tag, at: 56) }
      if try decode(bytes, &decoder) { accepted += 1 }
    }
    print("decoder mutation: frames: \(Self.inputCount) inputs, \(accepted) mean something")
    #expect(accepted > 0 && accepted < Self.inputCount)
  }

  /// Decodes a frame as the log does; true if all of it means something.
  private func decode(_ bytes: [UInt8], _ decoder: inout BodyDecoder) throws -> Bool {
    try bytes.withUnsafeBytes { buffer in
      guard let header = try? FrameHeader(decoding: buffer, salt: Self.salt, lsn: Self.lsn) else { return false }
      try #require(header.storedByteCount <= FrameHeader.storedByteCountMax)
      try #require(header.rawByteCount <= FrameHeader.rawByteCountMax)
      try #require(header.recordCount <= header.rawByteCount && header.durable <= Self.lsn)
      let stored = UnsafeRawBufferPointer(rebasing: buffer[FrameHeader.byteCount...])
      guard stored.count >= header.storedByteCount else { return false }
      guard let payload = try? decoder.payload(of: header, stored: stored) else { return false }
      try #require(payload.count == header.rawByteCount)
      var isFine = false
      for isFirst in [true, false] {
        guard let layout = try? FrameBody.layout(of: payload, header: header, isFirst: isFirst, behind: nil) else {
          continue
        }
        let part = UnsafeRawBufferPointer(rebasing: payload[layout.records])
        let list = RecordList(proved: part, count: header.recordCount)
        let count = list.reduce(into: (records: 0, bytes: 0)) { sum, record in
          sum.records += 1
          sum.bytes += record.count
        }
        if header.kind == .data || header.kind == .reset { try #require(count.records == header.recordCount) }
        try #require(count.bytes <= payload.count)
        isFine = true
      }
      return isFine
    }
  }

  @Test func `segment headers`() throws {
    var generator = SeededGenerator(seed: 13)
    let header = SegmentHeader(
      identifier: StoreIdentifier(high: 1, low: 2), ordinal: 3, id: 4, epoch: 5, baseSequence: SequenceNumber(60),
      baseLSN: LSN(70_000), salt: 8,
      predecessor: SegmentHeader.Predecessor(id: 9, byteCount: 10_000, headTag: 11),
      reset: SegmentHeader.LastReset(sequence: SequenceNumber(12), headTag: 13), createdAt: -1)
    let block = header.encodedBlock()
    var accepted = 0
    for _ in 0..<Self.inputCount {
      var copy = Array(block[0..<152])
      Forge.mutate(&copy, 0..<152, &generator)
      let whole = Forge.tagged(copy, seed: 0)
      try whole.withUnsafeBytes { bytes in
        guard let decoded = try? SegmentHeader(decoding: bytes, at: 0) else { return }
        accepted += 1
        try #require(decoded.baseLSN <= .max && decoded.baseSequence <= .max && decoded.ordinal < UInt64(Int64.max))
        // What readers compute from a header without looking again.
        _ = decoded.firstFrameLSN
        _ = ChainState(startOf: decoded)
        #expect(decoded.fileName.description.utf8.count == 45)
      }
    }
    print("decoder mutation: segment headers: \(Self.inputCount) inputs, \(accepted) mean something")
  }

  @Test func `root slots`() throws {
    var generator = SeededGenerator(seed: 14)
    var root = RootSlot(identifier: StoreIdentifier(high: 1, low: 2), incarnation: 3)
    root.revision = 4
    root.epoch = 2
    root.lastCreatedOrdinal = 7
    root.layers = [
      LayerEntry(
        id: 1, level: 2, firstSequence: SequenceNumber(1), lastSequence: SequenceNumber(8), byteCount: 100,
        footerTag: 4,
        salt: 5)
    ]
    let slot = Array(root.encoded()[0..<4088])
    var accepted = 0
    for _ in 0..<Self.inputCount {
      var bytes = slot
      Forge.mutate(&bytes, 0..<300, &generator)
      let whole = Forge.tagged(bytes, seed: 0)
      try whole.withUnsafeBytes { buffer in
        guard let decoded = try? RootSlot(decoding: buffer, slotNumber: 0) else { return }
        accepted += 1
        try #require(decoded.layers.count <= LayerEntry.countMax && decoded.anchor.lsn <= .max)
        // A root that was read can be written again, one revision on.
        var next = decoded
        next.revision += 1
        #expect(next.encoded().count == RootSlot.byteCount)
      }
    }
    print("decoder mutation: root slots: \(Self.inputCount) inputs, \(accepted) mean something")
  }

  @Test func `numbers and LZ4 blocks`() throws {
    var generator = SeededGenerator(seed: 15)
    var decoded = 0
    for _ in 0..<Self.inputCount {
      let bytes = generator.bytes(Int.random(in: 0..<40, using: &generator))
      bytes.withUnsafeBytes { buffer in
        var offset = 0
        while let value = Varint.read(buffer, at: &offset) { #expect(Varint.byteCount(value) <= 10) }
        #expect(offset <= bytes.count)
        var target = [UInt8](repeating: 0xAA, count: Int.random(in: 1..<300, using: &generator) + 8)
        let guarded = target.count - 8
        let isDecoded = target.withUnsafeMutableBytes {
          LZ4Block.decompress(buffer, into: UnsafeMutableRawBufferPointer(rebasing: $0[0..<guarded]))
        }
        if isDecoded { decoded += 1 }
        #expect(target[guarded...].allSatisfy { $0 == 0xAA })
      }
    }
    print("decoder mutation: numbers and LZ4: \(Self.inputCount) inputs, \(decoded) blocks decoded")
  }
}
