import CZlib

/// Unpacks gzip files of which nothing is trusted: neither their sizes nor that they end.
enum GzipInflater {
  enum Problem: Error, Equatable {
    case notGzip
    /// The file ends before its contents do.
    case truncated
    case damaged
    /// The contents are larger than the limit.
    case tooLarge(limit: Int)
  }

  /// The contents of all members of `compressed`.
  ///
  /// Bytes behind the last member that do not begin another are passed over, as gzip(1) does.
  static func inflate(_ compressed: [UInt8], limit: Int) throws(Problem) -> [UInt8] {
    guard startsMember(compressed[...]) else { throw .notGzip }
    var stream = z_stream()
    // 15: the largest window; 16: gzip and nothing else. inflateInit2 is a macro, this is what it stands for.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .damaged
    }
    defer { inflateEnd(&stream) }
    var contents: [UInt8] = []
    var offset = 0
    while true {
      offset += try inflateMember(compressed[offset...], &stream, &contents, limit: limit)
      guard startsMember(compressed[offset...]) else { return contents }
      inflateReset(&stream)
    }
  }

  /// Appends one member to `contents`; returns how many bytes of the file it took.
  private static func inflateMember(
    _ member: ArraySlice<UInt8>, _ stream: inout z_stream, _ contents: inout [UInt8], limit: Int
  ) throws(Problem) -> Int {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var taken = 0
    while true {
      let input = member.dropFirst(taken).prefix(1 << 20)
      var produced = 0
      let status = input.withUnsafeBytes { inputBytes in
        buffer.withUnsafeMutableBytes { outputBytes in
          stream.next_in = UnsafeMutablePointer(
            mutating: inputBytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
          stream.avail_in = UInt32(inputBytes.count)
          stream.next_out = outputBytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
          stream.avail_out = UInt32(outputBytes.count)
          let status = CZlib.inflate(&stream, Z_NO_FLUSH)
          produced = outputBytes.count - Int(stream.avail_out)
          return status
        }
      }
      taken += input.count - Int(stream.avail_in)
      guard contents.count + produced <= limit else { throw .tooLarge(limit: limit) }
      contents.append(contentsOf: buffer[..<produced])
      switch status {
      case Z_STREAM_END: return taken
      case Z_OK: continue
      // No progress possible: all of the file was read.
      case Z_BUF_ERROR where taken == member.count: throw .truncated
      default: throw .damaged
      }
    }
  }

  private static func startsMember(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.starts(with: [0x1F, 0x8B])
  }
}
