@testable @_spi(Engine) import StrandlineLog

/// One decoder on an input whose checksum is made right, as `DecoderMutationTests` does: it refuses, or what it answers is in range.
struct FuzzedDecoder {
  private static let salt: UInt64 = 0x5EED
  private static let lsn = LSN(8192)

  static func read(_ part: FuzzedPart.OfDecoder, _ input: [UInt8]) {
    switch part {
    case .root: readRoot(input)
    case .header: readHeader(input)
    case .frame: readFrame(input)
    case .block: readBlock(input)
    }
  }

  private static func readRoot(_ input: [UInt8]) {
    var slot = root
    for index in 0..<min(input.count, 4088) { slot[index] ^= input[index] }
    let whole = tagged(slot, seed: 0)
    whole.withUnsafeBytes { bytes in
      guard let decoded = try? RootSlot(decoding: bytes, slotNumber: 0) else { return }
      precondition(decoded.layers.count <= LayerEntry.countMax && decoded.anchor.lsn <= .max, "a root out of range")
      var next = decoded
      next.revision += 1
      precondition(next.encoded().count == RootSlot.byteCount, "a root that was read cannot be written")
    }
  }

  private static func readHeader(_ input: [UInt8]) {
    var block = header
    for index in 0..<min(input.count, 152) { block[index] ^= input[index] }
    tagged(block, seed: 0).withUnsafeBytes { bytes in
      guard let decoded = try? SegmentHeader(decoding: bytes, at: 0) else { return }
      precondition(decoded.baseLSN <= .max && decoded.baseSequence <= .max, "a segment header out of range")
      _ = decoded.firstFrameLSN
      _ = ChainState(startOf: decoded)
      precondition(decoded.fileName.description.utf8.count == 45, "a name of another length")
    }
  }

  /// The input is a header without its magic and its tag, then a payload.
  private static func readFrame(_ input: [UInt8]) {
    guard input.count >= 52 else { return }
    var bytes: [UInt8] = [0xF5, 0x0D, 0x0A, 0x1A] + input[0..<52]
    // The payload is what there is of it, but for one length in two that the input chose.
    if input[51] & 1 == 0 {
      let length = input.count - 52
      (bytes[8], bytes[9], bytes[10], bytes[11]) = (UInt8(length & 0xFF), UInt8(length >> 8 & 0xFF), 0, 0)
      if bytes[5] == 0 { bytes.replaceSubrange(12..<16, with: bytes[8..<12]) }
    }
    let tag = bytes.withUnsafeBytes { fuzzTag($0, seed: salt &+ lsn.rawValue) }
    bytes += littleEndian(tag) + input[52...]
    bytes.withUnsafeBytes { buffer in
      guard let header = try? FrameHeader(decoding: buffer, salt: salt, lsn: lsn) else { return }
      precondition(header.recordCount <= header.rawByteCount && header.durable <= lsn, "a frame header out of range")
      let stored = UnsafeRawBufferPointer(rebasing: buffer[FrameHeader.byteCount...])
      guard stored.count >= header.storedByteCount else { return }
      var decoder = BodyDecoder()
      guard let payload = try? decoder.payload(of: header, stored: stored) else { return }
      precondition(payload.count == header.rawByteCount, "a payload of another length")
      for isFirst in [true, false] { readRecords(payload, header, isFirst: isFirst) }
    }
  }

  private static func readRecords(_ payload: UnsafeRawBufferPointer, _ header: FrameHeader, isFirst: Bool) {
    guard let layout = try? FrameBody.layout(of: payload, header: header, isFirst: isFirst, behind: nil) else { return }
    let list = RecordList(
      proved: UnsafeRawBufferPointer(rebasing: payload[layout.records]), count: header.recordCount)
    var recordCount = 0
    var byteCount = 0
    for record in list {
      recordCount += 1
      byteCount += record.count
      _ = record.first
      _ = record.last
    }
    precondition(byteCount <= payload.count, "records longer than their payload")
    if header.kind == .data || header.kind == .reset {
      precondition(recordCount == header.recordCount, "another number of records")
    }
  }

  /// The first two bytes say how much the rest is said to decode to.
  private static func readBlock(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let rest = Array(input[2...])
    rest.withUnsafeBytes { buffer in
      var offset = 0
      while let value = Varint.read(buffer, at: &offset) { precondition(Varint.byteCount(value) <= 10) }
      precondition(offset <= rest.count, "a number beyond the end")
      // Its own allocation and no larger, so that the address sanitizer sees a byte too many.
      let target = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 1 + Int(input[0]) + Int(input[1]) << 8, alignment: 8)
      defer { target.deallocate() }
      _ = LZ4Block.decompress(buffer, into: target)
    }
  }

  // MARK: - What the inputs change

  private static let layer = LayerEntry(
    id: 1, level: 2, firstSequence: SequenceNumber(1), lastSequence: SequenceNumber(8), byteCount: 100, footerTag: 4,
    salt: 5)

  private static let root: [UInt8] = {
    var root = RootSlot(identifier: StoreIdentifier(high: 1, low: 2), incarnation: 3)
    root.revision = 4
    root.epoch = 2
    root.lastCreatedOrdinal = 7
    root.layers = [layer]
    return Array(root.encoded()[0..<4088])
  }()

  private static let header: [UInt8] = {
    let header = SegmentHeader(
      identifier: StoreIdentifier(high: 1, low: 2), ordinal: 3, id: 4, epoch: 5, baseSequence: SequenceNumber(60),
      baseLSN: LSN(70_000), salt: 8,
      predecessor: SegmentHeader.Predecessor(id: 9, byteCount: 10_000, headTag: 11),
      reset: SegmentHeader.LastReset(sequence: SequenceNumber(12), headTag: 13), createdAt: -1)
    return Array(header.encodedBlock()[0..<152])
  }()

  private static func tagged(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    bytes + littleEndian(bytes.withUnsafeBytes { fuzzTag($0, seed: seed) })
  }

  private static func littleEndian(_ value: UInt64) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}
