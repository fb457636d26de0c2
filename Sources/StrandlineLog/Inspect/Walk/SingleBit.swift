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

  /// Searches a frame's header; `head` holds the 64 bytes that were found at `lsn`.
  static func explaining(head: UnsafeRawBufferPointer, salt: UInt64, lsn: LSN) -> SingleBit? {
    guard head.count >= FrameHeader.byteCount else { return nil }
    return search(head.slice(0, FrameHeader.byteCount)) { FrameHeader.provesItself($0, salt: salt, lsn: lsn) }
  }

  /// Searches a frame's payload and padding, whose header was proved.
  static func explaining(
    body: UnsafeRawBufferPointer, header: FrameHeader, salt: UInt64, lsn: LSN
  ) -> SingleBit? {
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
