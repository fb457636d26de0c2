// Beginnings of keys as numbers: where they differ, the keys are in the same order, and nothing else need be touched.

extension KeyView {
  /// The first of all keys.
  static var lowest: KeyView {
    KeyView(prefix: KeyPrefix(rawValue: 0), bytes: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// The prefix and the first five bytes, as a big-endian number; a short key is filled up with zeros.
  @inline(__always)
  var head: UInt64 {
    let prefix = UInt64(prefix.rawValue) << 40
    if bytes.count >= 8, let start = bytes.baseAddress {
      return prefix | UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) >> 24
    }
    return prefix | number(0..<5)
  }

  /// `head`, and the next eight bytes likewise.
  @inline(__always)
  var heads: (high: UInt64, low: UInt64) {
    if bytes.count >= 13, let start = bytes.baseAddress {
      return (head, UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 5, as: UInt64.self)))
    }
    return (head, number(5..<13))
  }

  private func number(_ range: Range<Int>) -> UInt64 {
    var number: UInt64 = 0
    for index in range { number = number << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
    return number
  }
}
