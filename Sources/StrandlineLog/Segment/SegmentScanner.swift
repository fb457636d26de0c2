/// Walks the frames of one segment from a known place, one after another, with bounded memory.
///
/// Stops for good at the first frame that does not verify or does not continue the history. Bodies are read only where the
/// caller asks for them, so a walk over headers alone touches little of the file.
@_spi(Engine) public struct SegmentScanner: ~Copyable {
  private let segment: SegmentFile
  private var window: FileWindow
  /// Behind the last accepted frame.
  public private(set) var state: ChainState
  /// How the next read should look ahead: frames as large as this one make reading what lies between them a waste.
  private var lastFrameByteCount = 0

  /// - Parameters:
  ///   - state: where to begin; a frame boundary in the segment.
  ///   - end: file offset behind which nothing is read.
  init(_ segment: SegmentFile, from state: ChainState, end: Int64) {
    self.segment = segment
    self.state = state
    window = FileWindow(fileSystem: segment.fileSystem, file: segment.file, end: end)
  }

  /// One accepted frame.
  public struct Frame: Hashable, Sendable {
    public var header: FrameHeader
    public var headTag: UInt64
    public var lsn: LSN
    public var offset: Int64
    /// It begins a commit.
    public var isFirst: Bool
    /// The epoch in force behind it.
    public var epoch: UInt64
    /// The last sequence number in front of it.
    public var previous: SequenceNumber
  }

  /// Why the walk ended.
  public enum Stop: Hashable, Sendable {
    /// No byte is left.
    case endOfFile
    /// Some bytes are left, too few for the header or the body.
    case cutShort(missing: Int64)
    case header(FrameHeader.Defect)
    case chain(ChainState.Break)
    case body(FrameBody.Defect)
  }

  public enum Step {
    case frame(Frame)
    case stop(Stop)
  }

  /// The next frame by its header; with `provingBody` its stored bytes are read and their tag compared as well.
  public mutating func next(provingBody: Bool) throws(Errno) -> Step {
    let lsn = state.lsn
    let offset = segment.offset(of: lsn)
    let readAhead = provingBody || lastFrameByteCount < 16 << 10 ? Int.max : 4096
    let head = try window.bytes(at: offset, count: FrameHeader.byteCount, readAhead: readAhead)
    guard !head.isEmpty else { return .stop(.endOfFile) }
    guard head.count == FrameHeader.byteCount else {
      return .stop(.cutShort(missing: Int64(FrameHeader.byteCount - head.count)))
    }
    let header: FrameHeader
    do throws(FrameHeader.Defect) {
      header = try FrameHeader(decoding: head, salt: segment.header.salt, lsn: lsn)
    } catch {
      return .stop(.header(error))
    }
    let headTag = head.u64(56)
    let missing = offset + Int64(header.frameByteCount) - window.end
    guard missing <= 0 else { return .stop(.cutShort(missing: missing)) }
    var following = state
    do throws(ChainState.Break) {
      try following.accept(header, tag: headTag)
    } catch {
      return .stop(.chain(error))
    }
    let frame = Frame(
      header: header, headTag: headTag, lsn: lsn, offset: offset, isFirst: !state.isInsideCommit,
      epoch: following.epoch,
      previous: state.sequence)
    if provingBody {
      let body = try storedBody(of: frame)
      guard body.count == header.frameByteCount - FrameHeader.byteCount else {
        return .stop(.cutShort(missing: Int64(header.frameByteCount - FrameHeader.byteCount - body.count)))
      }
      do throws(FrameBody.Defect) {
        try FrameBody.verify(body, header: header, salt: segment.header.salt, lsn: lsn)
      } catch {
        return .stop(.body(error))
      }
    }
    state = following
    lastFrameByteCount = header.frameByteCount
    return .frame(frame)
  }

  /// The stored payload and padding of a frame this scanner has accepted. Valid until the next call.
  mutating func storedBody(of frame: Frame) throws(Errno) -> UnsafeRawBufferPointer {
    try window.bytes(
      at: frame.offset + Int64(FrameHeader.byteCount), count: frame.header.frameByteCount - FrameHeader.byteCount)
  }
}
