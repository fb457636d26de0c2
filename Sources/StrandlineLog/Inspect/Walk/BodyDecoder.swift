/// Decodes stored payloads into memory of its own, one at a time.
///
/// Grows to the largest payload it has met, at most ``FrameHeader/rawByteCountMax``; a header's length is in range once its
/// tag was proved, and the body's tag is proved in front of every decoding.
struct BodyDecoder: ~Copyable {
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit { buffer.deallocate() }

  /// The payload of a frame whose stored bytes were proved. Valid until the next call, and no longer than `stored`.
  mutating func payload(
    of header: FrameHeader, stored: UnsafeRawBufferPointer
  ) throws(FrameBody.Defect) -> UnsafeRawBufferPointer {
    let bytes = stored.slice(0, header.storedByteCount)
    guard header.codec != .raw else { return bytes }
    if buffer.count < header.rawByteCount {
      buffer.deallocate()
      buffer = .allocate(byteCount: max(64 << 10, header.rawByteCount), alignment: 8)
    }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<header.rawByteCount])
    try FrameBody.decode(bytes, codec: header.codec, into: target)
    return UnsafeRawBufferPointer(target)
  }
}
