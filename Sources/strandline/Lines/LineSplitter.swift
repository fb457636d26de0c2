import Glibc

/// Cuts what a descriptor gives into lines of bytes.
///
/// A line ends with a line feed, which is not part of it; nothing else is special. What follows the last line feed is a
/// line too, unless it is empty. Holds at most one line and one read more than that.
struct LineSplitter: ~Copyable {
  enum ReadResult: Equatable {
    case bytes
    /// Nothing there right now.
    case nothing
    case end
    case failed(errno: Int32)
  }

  private static let chunkByteCount = 256 << 10

  private var buffer: [UInt8]
  /// Bytes not handed out yet.
  private var pending = 0..<0
  /// Bytes of `pending` that are known to hold no line feed.
  private var searched = 0

  /// Bytes read so far.
  private(set) var readByteCount = 0

  init() { buffer = [UInt8](repeating: 0, count: 2 * Self.chunkByteCount) }

  /// Bytes of the line that has begun and not ended, once ``takeLine()`` has answered nil.
  var unfinishedByteCount: Int { pending.count }

  /// Reads once. Blocks if the descriptor does.
  mutating func read(from descriptor: Int32) -> ReadResult {
    makeRoom()
    let room = pending.upperBound..<pending.upperBound + Self.chunkByteCount
    let (count, number) = buffer.withUnsafeMutableBytes { bytes in
      let count = Glibc.read(descriptor, bytes.baseAddress! + room.lowerBound, room.count)
      return (count, errno)
    }
    if count > 0 {
      readByteCount += count
      pending = pending.lowerBound..<pending.upperBound + count
      return .bytes
    }
    if count == 0 { return .end }
    return number == EAGAIN || number == EWOULDBLOCK || number == EINTR ? .nothing : .failed(errno: number)
  }

  /// The place of the next whole line, for ``withLine(_:_:)``; valid until the next read.
  mutating func takeLine() -> Range<Int>? {
    let start = pending.lowerBound
    let length = buffer.withUnsafeBytes { bytes -> Int? in
      let unseen = pending.dropFirst(searched)
      guard !unseen.isEmpty,
        let feed = memchr(bytes.baseAddress! + unseen.lowerBound, 0x0A, unseen.count)
      else { return nil }
      return UnsafeRawPointer(feed) - (bytes.baseAddress! + start)
    }
    guard let length else {
      searched = pending.count
      return nil
    }
    pending = start + length + 1..<pending.upperBound
    searched = 0
    return start..<start + length
  }

  /// What is left behind the last line feed; nil if that is nothing.
  mutating func takeLastLine() -> Range<Int>? {
    defer { pending = pending.upperBound..<pending.upperBound }
    return pending.isEmpty ? nil : pending
  }

  func withLine<Result, Failure: Error>(
    _ line: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try buffer.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[line]))
    }
  }

  /// Moves what is pending to the front, and grows if a line is longer than the buffer.
  private mutating func makeRoom() {
    guard buffer.count - pending.upperBound < Self.chunkByteCount else { return }
    buffer.withUnsafeMutableBytes { bytes in
      _ = memmove(bytes.baseAddress!, bytes.baseAddress! + pending.lowerBound, pending.count)
    }
    pending = 0..<pending.count
    if buffer.count - pending.count < Self.chunkByteCount {
      buffer.append(contentsOf: repeatElement(0, count: buffer.count))
    }
  }
}
