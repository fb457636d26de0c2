/// Cuts the log into units for replay: reads the stored bytes and walks the headers, in order, one caller at a time.
struct ReplaySource: ~Copyable {
  private let fileSystem: any FileSystem
  private var spans: ArraySlice<ReplaySpan>
  private var segment: SegmentFile?
  /// Behind the last frame that was handed out.
  private(set) var state: ChainState

  // Enough to keep a decoder busy for a fraction of a millisecond, small enough for the second-level cache.
  static let storedByteCountTarget = 1 << 20
  static let rawByteCountTarget = 2 << 20

  init(_ spans: [ReplaySpan], from state: ChainState, fileSystem: any FileSystem) {
    self.spans = spans[...]
    self.state = state
    self.fileSystem = fileSystem
  }

  /// Fills `unit` with the next whole frames; false when the log has ended.
  mutating func fill(_ unit: inout ReplayUnit) throws(LogError) -> Bool {
    while let span = spans.first {
      let segment = try open(span)
      let offset = segment.offset(of: state.lsn)
      let end = segment.offset(of: span.end)
      guard offset < end else {
        try finish(span, segment)
        continue
      }
      try unit.begin(segment, at: offset, end: end, state: &state)
      return true
    }
    return false
  }

  private mutating func open(_ span: ReplaySpan) throws(LogError) -> SegmentFile {
    if let segment { return segment }
    let opened = try SegmentFile(opening: span.path, header: span.header, in: fileSystem)
    if state.lsn < span.header.firstFrameLSN {
      // The next segment of the chain; its header was checked against the one in front. What it follows is known.
      let commitTag = state.commitTag
      state = ChainState(startOf: span.header, commitTag: commitTag)
    }
    segment = opened
    return opened
  }

  /// A closed segment ends in the tag and the numbers that its successor names.
  private mutating func finish(_ span: ReplaySpan, _ segment: SegmentFile) throws(LogError) {
    spans.removeFirst()
    self.segment = nil
    if let endTag = span.endTag, endTag != state.tag || state.isInsideCommit {
      throw .corrupt(
        CorruptionReport(
          reason: .closedSegmentDamaged, file: segment.path, offset: segment.offset(of: span.end),
          expected: "last tag \(hexadecimal(endTag))", found: hexadecimal(state.tag)))
    }
    guard let next = spans.first else { return }
    let isContinued =
      next.header.baseSequence == state.sequence && next.header.epoch == state.epoch
      && next.header.reset == state.reset
    guard isContinued else {
      throw .corrupt(
        CorruptionReport(
          reason: .chainBroken, file: next.path, offset: 0,
          expected: "base sequence \(state.sequence), epoch \(state.epoch)",
          found: "base sequence \(next.header.baseSequence), epoch \(next.header.epoch)"))
    }
  }
}

extension SegmentFile {
  /// Opens a segment whose header is known already.
  convenience init(opening path: String, header: SegmentHeader, in fileSystem: any FileSystem) throws(LogError) {
    do throws(Errno) {
      let file = try fileSystem.openRetrying(path, .read)
      self.init(fileSystem: fileSystem, file: file, path: path, header: header)
    } catch {
      throw .ioFailed(IOFailure(operation: .open, path: path, errno: error))
    }
  }
}
