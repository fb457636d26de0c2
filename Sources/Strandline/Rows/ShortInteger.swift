@_spi(Engine) internal import StrandlineLog

/// Signed numbers in the fewest little-endian bytes that hold their two's complement; zero takes none.
enum ShortInteger {
  @inline(__always)
  static func byteCount(_ number: Int64) -> Int {
    // Bits that differ from the sign, and the sign itself.
    let folded = UInt64(bitPattern: number ^ (number >> 63))
    return number == 0 ? 0 : (72 &- folded.leadingZeroBitCount) >> 3
  }

  @inline(__always)
  static func write(_ number: Int64, to bytes: UnsafeMutableRawPointer) -> Int {
    let count = byteCount(number)
    // Two stores that may overlap.
    if count >= 4 {
      let high = number >> Int64(8 &* (count &- 4))
      bytes.storeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian, as: UInt32.self)
      bytes.storeBytes(of: UInt32(truncatingIfNeeded: high).littleEndian, toByteOffset: count &- 4, as: UInt32.self)
    } else if count > 0 {
      let high = number >> Int64(8 &* (count &- 1))
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: number), as: UInt8.self)
      if count == 3 { bytes.storeBytes(of: UInt8(truncatingIfNeeded: number >> 8), toByteOffset: 1, as: UInt8.self) }
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: high), toByteOffset: count &- 1, as: UInt8.self)
    }
    return count
  }

  /// Nil if there are more than eight bytes or more than the number needs.
  @inline(__always)
  static func read(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    let count = bytes.count
    if count == 0 { return 0 }
    guard count <= 8 else { return nil }
    // Two loads that may overlap.
    let bits: UInt64
    if count >= 4 {
      bits = UInt64(bytes.u32(0)) | UInt64(bytes.u32(count &- 4)) << UInt64(8 &* (count &- 4))
    } else {
      bits =
        UInt64(bytes[0]) | UInt64(bytes[count >> 1]) << UInt64(8 &* (count >> 1)) | UInt64(bytes[count &- 1])
        << UInt64(8 &* (count &- 1))
    }
    let unused = UInt64(64 &- 8 &* count)
    let number = Int64(bitPattern: bits << unused) >> Int64(unused)
    return byteCount(number) == count ? number : nil
  }
}
