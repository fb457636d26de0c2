@_spi(Engine) internal import StrandlineLog

// The pieces that ordered keys are made of: compared byte by byte they are in the order of what they stand for.
//
//   integer        eight bytes, big-endian, the sign bit flipped
//   uuid           its sixteen bytes as printed
//   ended bytes    each 00 as 00 FF; 00 00 at the end: none is the beginning of another, so more can follow
enum OrderedBytes {
  static func append(_ number: Int64, to bytes: inout [UInt8]) {
    append(bigEndian: UInt64(bitPattern: number) ^ 1 << 63, to: &bytes)
  }

  static func append(bigEndian number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  static func append(_ uuid: UUIDBytes, to bytes: inout [UInt8]) {
    append(bigEndian: uuid.high, to: &bytes)
    append(bigEndian: uuid.low, to: &bytes)
  }

  static func appendEnded(_ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    appendEscaped(content, to: &bytes)
    bytes.append(0)
    bytes.append(0)
  }

  static func appendEscaped(_ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    guard content.contains(0) else {
      bytes.append(contentsOf: content)
      return
    }
    for byte in content {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
  }

  /// Reads ended bytes and moves `offset` behind their end; nil if they have none.
  static func readEnded(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> [UInt8]? {
    var content: [UInt8] = []
    var place = offset
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == 0 {
        guard place < bytes.count else { return nil }
        place += 1
        if bytes[place - 1] == 0 {
          offset = place
          return content
        }
        guard bytes[place - 1] == 0xFF else { return nil }
      }
      content.append(byte)
    }
    return nil
  }

  static func readInteger(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> Int64? {
    guard bytes.count - offset >= 8 else { return nil }
    offset += 8
    return Int64(bitPattern: bytes.u64(offset - 8).byteSwapped ^ 1 << 63)
  }

  static func readUUID(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UUIDBytes? {
    guard bytes.count - offset >= 16 else { return nil }
    offset += 16
    return UUIDBytes(high: bytes.u64(offset - 16).byteSwapped, low: bytes.u64(offset - 8).byteSwapped)
  }

  /// The first key behind all that begin with `prefix`; nil if there is none.
  static func successor(of prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 != 0xFF }) else { return nil }
    var successor = Array(prefix[...last])
    successor[last] += 1
    return successor
  }
}
