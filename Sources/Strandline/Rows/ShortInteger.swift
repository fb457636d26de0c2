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
    var rest = number
    for place in 0..<count {
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: place, as: UInt8.self)
      rest >>= 8
    }
    return count
  }

  /// Nil if there are more than eight bytes or more than the number needs.
  @inline(__always)
  static func read(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    let count = bytes.count
    if count == 0 { return 0 }
    guard count <= 8 else { return nil }
    var bits: UInt64 = 0
    for place in 0..<count { bits |= UInt64(bytes[place]) << UInt64(8 &* place) }
    let unused = UInt64(64 &- 8 &* count)
    let number = Int64(bitPattern: bits << unused) >> Int64(unused)
    return byteCount(number) == count ? number : nil
  }
}
