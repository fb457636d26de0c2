/// A piece of a file in memory that moves along with its reader.
///
/// Holds at most what one request needs, or ``chunkByteCount`` where requests are small. Every byte is read once when a file is
/// walked from front to end.
struct FileWindow: ~Copyable {
  private let fileSystem: any FileSystem
  private let file: FileDescriptor
  /// Reads end here, wherever the file ends.
  let end: Int64
  private var buffer: UnsafeMutableRawBufferPointer
  private var start: Int64 = 0
  private var count = 0
  private let chunkByteCount: Int

  init(fileSystem: any FileSystem, file: FileDescriptor, end: Int64, chunkByteCount: Int = 256 << 10) {
    self.fileSystem = fileSystem
    self.file = file
    self.end = end
    self.chunkByteCount = chunkByteCount
    buffer = .allocate(byteCount: chunkByteCount, alignment: 4096)
  }

  deinit { buffer.deallocate() }

  /// The `byteCount` bytes at `offset`, or fewer where the file ends first. Valid until the next call.
  ///
  /// - Parameter readAhead: how much to fetch when the bytes are not here yet; small when the reader is going to jump.
  mutating func bytes(
    at offset: Int64, count byteCount: Int, readAhead: Int = .max
  ) throws(Errno) -> UnsafeRawBufferPointer {
    let wanted = Int(min(Int64(byteCount), max(0, end - offset)))
    if offset < start || offset + Int64(wanted) > start + Int64(count) {
      try fill(at: offset, atLeast: wanted, readAhead: readAhead)
    }
    let from = Int(offset - start)
    return UnsafeRawBufferPointer(rebasing: buffer[from..<from + min(wanted, count - from)])
  }

  /// Where reading has to go on behind bytes that were found to be zero: at `offset`, or, where the file system holds nothing from there
  /// on, in front of what it holds next. A multiple of 8 bytes from `offset`.
  func endOfHole(from offset: Int64) throws(Errno) -> Int64 {
    guard offset < end else { return offset }
    let next = try fileSystem.retryingInterrupts { () throws(Errno) in
      try fileSystem.nextData(file, from: offset)
    }
    return offset + max(0, min(next ?? end, end) - offset) & ~7
  }

  private mutating func fill(at offset: Int64, atLeast wanted: Int, readAhead: Int) throws(Errno) {
    if wanted > buffer.count {
      buffer.deallocate()
      buffer = .allocate(byteCount: wanted, alignment: 4096)
    }
    let size = min(max(wanted, min(readAhead, chunkByteCount)), Int(min(Int64(buffer.count), max(0, end - offset))))
    start = offset
    count = 0
    count = try fileSystem.readFully(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer[0..<size]), at: offset)
  }
}
