/// Finds the next place in a segment where a frame's header proves itself, whatever lies in front of it.
///
/// Frames begin on 8-byte boundaries and their head tags are seeded with the segment's salt and the place, so records that
/// hold the bytes of frames, and frames left behind by an earlier use of the file, are passed over.
struct HeadSearch: ~Copyable {
  private let segment: SegmentFile
  private var window: FileWindow
  private static let stride = 128 << 10

  init(_ segment: SegmentFile, end: Int64) {
    self.segment = segment
    window = FileWindow(fileSystem: segment.fileSystem, file: segment.file, end: end)
  }

  struct Result: Sendable {
    /// The header that was found, if any; it begins at `end`.
    var header: FrameHeader?
    /// Where the search ended: at the header, or behind the last byte that could be read.
    var end: Int64
    /// The first byte on the way that is not zero.
    var firstNonZero: Int64?
  }

  /// Searches from `start`, in steps of 8 bytes from there.
  ///
  /// - Parameter first: where the first header may begin; `start` itself is passed over where it is known for none.
  mutating func next(from start: Int64, first: Int64) throws(Errno) -> Result {
    var result = Result(end: start)
    var place = start
    while place < window.end {
      let bytes = try window.bytes(at: place, count: Self.stride + FrameHeader.byteCount - 8)
      // The file became shorter than it was a moment ago.
      guard !bytes.isEmpty else { break }
      let isZero = bytes.isAllZero
      if !isZero {
        var step = 0
        while step < Self.stride, step < bytes.count {
          if place + Int64(step) >= first, step + FrameHeader.byteCount <= bytes.count {
            let lsn = segment.lsn(at: place + Int64(step))
            let head = bytes.slice(step, FrameHeader.byteCount)
            if FrameHeader.provesItself(head, salt: segment.header.salt, lsn: lsn),
              let header = try? FrameHeader(decoding: head, salt: segment.header.salt, lsn: lsn)
            {
              result.header = header
              result.end = place + Int64(step)
              return result
            }
          }
          if result.firstNonZero == nil {
            let count = min(8, bytes.count - step)
            if let index = bytes.slice(step, count).firstIndex(where: { $0 != 0 }) {
              result.firstNonZero = place + Int64(step + index)
            }
          }
          step += 8
        }
      }
      result.end = place + Int64(min(Self.stride, bytes.count))
      place += Int64(Self.stride)
      if isZero {
        place = try window.endOfHole(from: place)
        result.end = max(result.end, min(place, window.end))
      }
    }
    return result
  }
}
