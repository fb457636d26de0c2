internal import CLZ4

/// One LZ4 block, each by itself: no dictionary, no stream.
enum LZ4Block {
  /// Payloads below this stay raw: the header costs more than LZ4 would save.
  static let rawByteCountMin = 4096

  /// Compresses `raw` into `target`, which holds at least `bound(raw.count)` bytes.
  ///
  /// - Returns: the compressed size, or nil if LZ4 saves less than a sixteenth.
  static func compress(_ raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
    let count = LZ4_compress_default(
      raw.baseAddress?.assumingMemoryBound(to: CChar.self), target.baseAddress?.assumingMemoryBound(to: CChar.self),
      Int32(raw.count), Int32(target.count))
    guard count > 0, Int(count) <= raw.count - raw.count / 16 else { return nil }
    return Int(count)
  }

  static func bound(_ rawByteCount: Int) -> Int { Int(LZ4_compressBound(Int32(rawByteCount))) }

  /// Decompresses `stored` to exactly `target.count` bytes; false if it is no block of that size. Never reads or writes
  /// outside the two buffers, whatever the bytes are.
  static func decompress(_ stored: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
    let count = LZ4_decompress_safe(
      stored.baseAddress?.assumingMemoryBound(to: CChar.self), target.baseAddress?.assumingMemoryBound(to: CChar.self),
      Int32(stored.count), Int32(target.count))
    return Int(count) == target.count
  }
}
