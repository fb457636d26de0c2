// Fixed places in fixed-size structures. Callers check the size of the structure once, in front of the first access.

@_spi(Engine) extension UnsafeRawBufferPointer {
  @inlinable @inline(__always)
  public func u8(_ offset: Int) -> UInt8 { self[offset] }
  @inlinable @inline(__always)
  public func u16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
  @inlinable @inline(__always)
  public func u32(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
  @inlinable @inline(__always)
  public func u64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inlinable @inline(__always)
  public func slice(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
  }

  /// True if every byte is zero. Eight at a time; an empty buffer is zero.
  @inlinable public var isAllZero: Bool {
    var offset = 0
    while offset + 8 <= count {
      if loadUnaligned(fromByteOffset: offset, as: UInt64.self) != 0 { return false }
      offset += 8
    }
    while offset < count {
      if self[offset] != 0 { return false }
      offset += 1
    }
    return true
  }
}

@_spi(Engine) extension UnsafeMutableRawBufferPointer {
  @inlinable @inline(__always)
  public func put(_ value: some FixedWidthInteger, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
  }
}

/// The next multiple of 8.
@_spi(Engine) @inlinable @inline(__always)
public func paddedTo8(_ byteCount: Int) -> Int { (byteCount + 7) & ~7 }
