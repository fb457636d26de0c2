internal import CZlib

/// Packs bodies for receivers that take gzip.
enum GzipDeflater {
  /// The quickest level: a page is packed once, and sent once.
  private static let level = Z_BEST_SPEED

  /// Nil where zlib has no memory, or the contents are larger than it takes at once.
  static func deflate(_ contents: [UInt8]) -> [UInt8]? {
    guard contents.count <= Int(Int32.max) else { return nil }
    var stream = z_stream()
    // 15: the largest window; 16: gzip. deflateInit2 is a macro, this is what it stands for.
    guard
      deflateInit2_(
        &stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    let bound = Int(deflateBound(&stream, UInt(contents.count)))
    var isDone = false
    let packed = [UInt8](unsafeUninitializedCapacity: bound) { room, count in
      contents.withUnsafeBufferPointer { contents in
        // zlib reads what it is given to pack and never writes to it.
        stream.next_in = UnsafeMutablePointer(mutating: contents.baseAddress)
        stream.avail_in = UInt32(contents.count)
        stream.next_out = room.baseAddress
        stream.avail_out = UInt32(clamping: room.count)
        isDone = CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END
        count = room.count - Int(stream.avail_out)
      }
    }
    return isDone ? packed : nil
  }
}
