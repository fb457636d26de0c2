/// Looks for the one bit that, turned back, makes damaged bytes verify again.
///
/// A hit is as good as proof: a second block of bytes one bit away with the same 64-bit tag does not turn up by chance.
/// It tells rot of the medium (one bit) from bytes that were never written (many). Nothing is ever repaired by it.
@_spi(Engine) public struct SingleBit: Hashable, Sendable {
  /// Byte in the block that was searched.
  public var byte: Int
  /// The bit in that byte, 0 for the lowest.
  public var bit: Int

  /// Bodies above this are not searched: the work grows with the square of the size, and 16 KiB take 50 ms.
  static let searchedByteCountMax = 16 << 10

  /// Whether one bit explains why a walk over `segment` stopped; nil where that was not tried or the bytes cannot be read.
  static func explains(_ stop: SegmentScanner.Stop, at offset: Int64, of segment: SegmentFile) -> Bool? {
    switch stop {
    case .endOfFile, .cutShort, .chain: return nil
    case .body(let defect) where !defect.isTagMismatch: return nil
    case .header, .body: break
    }
    do throws(Errno) {
      if case .body = stop, try bodyByteCount(at: offset, of: segment) > searchedByteCountMax { return nil }
      return try explaining(stop, at: offset, of: segment) != nil
    } catch {
      return nil
    }
  }

  /// Searches the frame that a walk over `segment` stopped at: its header, or its body behind a header that proves itself.
  static func explaining(
    _ stop: SegmentScanner.Stop, at offset: Int64, of segment: SegmentFile
  ) throws(Errno) -> SingleBit? {
    let lsn = segment.lsn(at: offset)
    let salt = segment.header.salt
    switch stop {
    case .endOfFile, .cutShort, .chain: return nil
    case .header:
      let head = try segment.fileSystem.readBytes(segment.file, at: offset, byteCount: FrameHeader.byteCount)
      return head.withUnsafeBytes { explaining(head: $0, salt: salt, lsn: lsn) }
    case .body(let defect):
      guard let header = try header(at: offset, of: segment) else { return nil }
      let body = try segment.fileSystem.readBytes(
        segment.file, at: offset + Int64(FrameHeader.byteCount),
        byteCount: header.frameByteCount - FrameHeader.byteCount)
      return body.withUnsafeBytes { explaining(defect, body: $0, header: header, salt: salt, lsn: lsn) }
    }
  }

  private static func header(at offset: Int64, of segment: SegmentFile) throws(Errno) -> FrameHeader? {
    let head = try segment.fileSystem.readBytes(segment.file, at: offset, byteCount: FrameHeader.byteCount)
    return head.withUnsafeBytes {
      try? FrameHeader(decoding: $0, salt: segment.header.salt, lsn: segment.lsn(at: offset))
    }
  }

  private static func bodyByteCount(at offset: Int64, of segment: SegmentFile) throws(Errno) -> Int {
    try header(at: offset, of: segment).map { $0.frameByteCount - FrameHeader.byteCount } ?? 0
  }

  /// Searches a frame's header; `head` holds the 64 bytes that were found at `lsn`.
  static func explaining(head: UnsafeRawBufferPointer, salt: UInt64, lsn: LSN) -> SingleBit? {
    guard head.count >= FrameHeader.byteCount else { return nil }
    return search(head.slice(0, FrameHeader.byteCount)) { FrameHeader.provesItself($0, salt: salt, lsn: lsn) }
  }

  /// Searches a frame's payload and padding, whose header was proved.
  static func explaining(
    _ defect: FrameBody.Defect, body: UnsafeRawBufferPointer, header: FrameHeader, salt: UInt64, lsn: LSN
  ) -> SingleBit? {
    guard defect.isTagMismatch else { return nil }
    let seed = Tag.bodySeed(salt: salt, lsn: lsn)
    return search(body) { Tag.of($0, seed: seed) == header.bodyTag }
  }

  /// Searches one copy of a segment's header.
  static func explaining(headerCopy: UnsafeRawBufferPointer) -> SingleBit? {
    guard headerCopy.count == SegmentHeader.encodedByteCount else { return nil }
    return search(headerCopy) { $0.u64(152) == Tag.of($0.slice(0, 152), seed: 0) }
  }

  /// Searches one slot of META.
  static func explaining(rootSlot: UnsafeRawBufferPointer, number: Int) -> SingleBit? {
    guard rootSlot.count == RootSlot.byteCount else { return nil }
    return search(rootSlot) { $0.u64(4088) == Tag.of($0.slice(0, 4088), seed: UInt64(number)) }
  }

  /// Whether one bit turned back would make either slot of META whole.
  static func explains(rootFile bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { buffer in
      (0..<2).contains { number in
        let start = number * RootSlot.byteCount
        guard buffer.count >= start + RootSlot.byteCount else { return false }
        return explaining(rootSlot: buffer.slice(start, RootSlot.byteCount), number: number) != nil
      }
    }
  }

  /// Whether one bit turned back would make either copy of a segment's header whole.
  static func explains(headerBlock bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { buffer in
      SegmentHeader.copyOffsets.contains { offset in
        guard buffer.count >= offset + SegmentHeader.encodedByteCount else { return false }
        return explaining(headerCopy: buffer.slice(offset, SegmentHeader.encodedByteCount)) != nil
      }
    }
  }

  private static func search(
    _ found: UnsafeRawBufferPointer, _ verifies: (UnsafeRawBufferPointer) -> Bool
  ) -> SingleBit? {
    guard found.count <= searchedByteCountMax else { return nil }
    var trial = [UInt8](found)
    return trial.withUnsafeMutableBytes { bytes in
      for byte in 0..<bytes.count {
        for bit in 0..<8 {
          bytes[byte] ^= 1 << bit
          defer { bytes[byte] ^= 1 << bit }
          if verifies(UnsafeRawBufferPointer(bytes)) { return SingleBit(byte: byte, bit: bit) }
        }
      }
      return nil
    }
  }
}

extension FrameBody.Defect {
  /// The bytes are not those that were written; else they are, and say something they must not.
  fileprivate var isTagMismatch: Bool {
    if case .tagMismatch = self { true } else { false }
  }
}
