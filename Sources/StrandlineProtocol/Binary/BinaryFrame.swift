internal import CLZ4
internal import CStrandline

// One binary body = one frame = one message. Little-endian.
//
//   byte 0       4         5      6      7      8              12             16        24
//        +-------+---------+------+------+------+--------------+--------------+---------+- - - - -+
//        | magic | version | kind | form | zero | contentCount | storedCount  | tag     | stored  |
//        +-------+---------+------+------+------+--------------+--------------+---------+- - - - -+
//        |<----------------------- seeds the tag ------------------------------>|
//
//   magic         "SLMB"
//   kind          BinaryKind
//   form          0: the content as it is · 1: one LZ4 block of it
//   contentCount  bytes of the content; storedCount bytes behind the header, all there are
//   tag           XXH3-64 of the stored bytes, seeded with the XXH3-64 of the first sixteen
//
// Nothing is allocated by a count that is not proved: a content is at most what the reader takes, and what its block can hold.
// Normative: Docs/Protocol.md, "Binary bodies". Pinned by BinaryMessageTests.
enum BinaryFrame {
  static let magic: UInt32 = 0x424D_4C53
  static let version: UInt8 = 1
  static let headerByteCount = 24
  /// Below this LZ4 would save less than it costs.
  private static let compressedByteCountMin = 512
  /// A block of LZ4 says at most this many times its own size.
  private static let expansionMax = 255

  private enum Form: UInt8 { case raw, lz4 }

  static func encode(_ content: [UInt8], kind: BinaryKind) -> [UInt8] {
    let room = content.count < compressedByteCountMin ? content.count : Int(LZ4_compressBound(Int32(content.count)))
    return [UInt8](unsafeUninitializedCapacity: headerByteCount + room) { bytes, count in
      let bytes = UnsafeMutableRawBufferPointer(bytes)
      let stored = UnsafeMutableRawBufferPointer(rebasing: bytes[headerByteCount...])
      var form = Form.raw
      var storedCount = content.count
      content.withUnsafeBytes { content in
        if content.count >= compressedByteCountMin {
          let made = Int(
            LZ4_compress_default(
              content.baseAddress?.assumingMemoryBound(to: CChar.self),
              stored.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(content.count), Int32(stored.count)))
          if made > 0, made < content.count {
            form = .lz4
            storedCount = made
          }
        }
        if form == .raw { stored.copyMemory(from: content) }
      }
      bytes.storeBytes(of: magic.littleEndian, as: UInt32.self)
      for (place, byte) in [version, kind.rawValue, form.rawValue, 0].enumerated() { bytes[4 + place] = byte }
      bytes.storeBytes(of: UInt32(content.count).littleEndian, toByteOffset: 8, as: UInt32.self)
      bytes.storeBytes(of: UInt32(storedCount).littleEndian, toByteOffset: 12, as: UInt32.self)
      let all = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<(headerByteCount + storedCount)])
      bytes.storeBytes(of: tag(of: all).littleEndian, toByteOffset: 16, as: UInt64.self)
      count = headerByteCount + storedCount
    }
  }

  /// The content of a frame.
  ///
  /// - Throws: ``MessageDefect`` for bytes that are not exactly one frame of the kind, or whose content is larger than the limit.
  static func decode(_ frame: [UInt8], kind: BinaryKind, contentByteCountMax: Int) throws(MessageDefect) -> [UInt8] {
    try frame.span.bytes.withUnsafeBytes { (frame) throws(MessageDefect) in
      func number(_ offset: Int) -> Int {
        Int(UInt32(littleEndian: frame.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      }
      guard frame.count >= headerByteCount, number(0) == Int(magic) else { throw defect(0, "no binary message") }
      guard frame[4] == version else { throw defect(4, "version \(frame[4]) of binary messages is not known") }
      guard frame[5] == kind.rawValue else { throw defect(5, "another message than was asked for") }
      guard let form = Form(rawValue: frame[6]), frame[7] == 0 else { throw defect(6, "an unknown form") }
      let stored = UnsafeRawBufferPointer(rebasing: frame[headerByteCount...])
      guard number(12) == stored.count else { throw defect(12, "the message is not as long as it says") }
      guard UInt64(littleEndian: frame.loadUnaligned(fromByteOffset: 16, as: UInt64.self)) == tag(of: frame) else {
        throw defect(16, "the message is damaged")
      }
      let contentCount = number(8)
      guard contentCount <= contentByteCountMax else {
        throw defect(8, "\(contentCount) bytes of content; \(contentByteCountMax) are taken")
      }
      switch form {
      case .raw:
        guard contentCount == stored.count else { throw defect(8, "the content is not as long as it says") }
        return Array(stored)
      case .lz4:
        guard contentCount <= stored.count.multipliedReportingOverflow(by: expansionMax).partialValue,
          stored.count <= Int(Int32.max)
        else { throw defect(8, "the content is not as long as it says") }
        var made = 0
        let content = [UInt8](unsafeUninitializedCapacity: contentCount) { target, count in
          made = Int(
            LZ4_decompress_safe(
              stored.baseAddress?.assumingMemoryBound(to: CChar.self),
              UnsafeMutableRawPointer(target.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32(stored.count),
              Int32(contentCount)))
          count = max(made, 0)
        }
        guard made == contentCount else { throw defect(headerByteCount, "the content cannot be unpacked") }
        return content
      }
    }
  }

  private static func tag(of frame: UnsafeRawBufferPointer) -> UInt64 {
    let seed = strandline_xxh3(frame.baseAddress, 16, 0)
    return strandline_xxh3(
      frame.baseAddress.map { $0 + headerByteCount }, frame.count - headerByteCount, seed)
  }

  private static func defect(_ place: Int, _ reason: String) -> MessageDefect {
    MessageDefect(path: "byte \(place)", reason: reason)
  }
}

/// How large the content of a binary body says that it is.
package enum BinaryContentSize {
  /// 0 for a body that says nothing, which is no frame.
  package static func announced(by body: [UInt8]) -> Int {
    guard body.count >= BinaryFrame.headerByteCount else { return 0 }
    return body[8..<12].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

/// Which message a frame holds. Numbers are never used again for something else.
enum BinaryKind: UInt8 {
  case pullRequest = 1
  case pullAnswer = 2
  case pushRequest = 3
  case pushAnswer = 4
}
