/// Unsigned LEB128, at most ten bytes, shortest form only; signed numbers through zig-zag.
public enum Varint {
  public static let byteCountMax = 10

  @inlinable
  public static func byteCount(_ value: UInt64) -> Int {
    value == 0 ? 1 : (70 - value.leadingZeroBitCount) / 7
  }

  @inlinable
  public static func write(_ value: UInt64, to bytes: UnsafeMutableRawPointer) -> Int {
    var rest = value
    var count = 0
    while rest >= 0x80 {
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      rest >>= 7
      count += 1
    }
    bytes.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
    return count + 1
  }

  /// Reads one number at `offset` and moves `offset` behind it; nil if the bytes end first, the number does not fit in
  /// 64 bits, or it is longer than it need be.
  @inlinable
  public static func read(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UInt64? {
    guard offset < bytes.count else { return nil }
    let first = bytes[offset]
    if first < 0x80 {
      offset &+= 1
      return UInt64(first)
    }
    var value = UInt64(first & 0x7f)
    var shift: UInt64 = 7
    var place = offset &+ 1
    while place < bytes.count {
      let byte = bytes[place]
      place &+= 1
      if shift == 63 && byte > 1 { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 {
        if byte == 0 { return nil }
        offset = place
        return value
      }
      shift &+= 7
      if shift > 63 { return nil }
    }
    return nil
  }

  public static func zigZag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }
  public static func unZigZag(_ value: UInt64) -> Int64 { Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1))) }
}
