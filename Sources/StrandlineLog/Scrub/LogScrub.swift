/// Proves every segment of an open log, up to what a sync has covered, beside whoever writes.
///
/// Memory is bounded by the largest frame. A segment that is removed meanwhile is no finding: nobody needs it any more.
struct LogScrub {
  let core: LogCore
  /// Told the bytes that were read since it was told last; answers whether to go on. It may sleep.
  let progress: (Int) -> Bool
  let note: (ScrubFinding) -> Void

  /// How many segments were looked at; nil: `progress` ended it.
  func run() throws(LogError) -> Int? {
    try core.checkProcess()
    var count = 0
    var ordinal: UInt64 = 0
    while true {
      let seen = core.published.withLock { (segments: $0.segments, end: $0.durableLSN, isClosed: $0.isClosed) }
      if seen.isClosed { throw .closed }
      guard let index = seen.segments.firstIndex(where: { $0.ordinal > ordinal }) else { return count }
      let next = index + 1 < seen.segments.count ? seen.segments[index + 1] : nil
      guard try prove(seen.segments[index], next: next, durable: seen.end) else { return nil }
      ordinal = seen.segments[index].ordinal
      count += 1
    }
  }

  /// False: `progress` ended it.
  private func prove(_ header: SegmentHeader, next: SegmentHeader?, durable: LSN) throws(LogError) -> Bool {
    let segment: SegmentFile
    do throws(CommitLocator.Failure) {
      segment = try CommitLocator(directory: core.directory, headers: [header], end: durable).open(header)
    } catch {
      if case .failed(let failure) = error, let finding = ScrubFinding(failure) { note(finding) }
      return true
    }
    do throws(Errno) {
      try proveHeader(of: segment)
      guard progress(SegmentHeader.blockByteCount) else { return false }
      return try proveFrames(of: segment, next: next, end: next?.baseLSN ?? durable)
    } catch {
      note(.unreadable(segment.failure(.read, error)))
      return true
    }
  }

  /// Both copies.
  private func proveHeader(of segment: SegmentFile) throws(Errno) {
    var window = FileWindow(
      fileSystem: segment.fileSystem, file: segment.file, end: Int64(SegmentHeader.blockByteCount))
    let block = try window.bytes(at: 0, count: SegmentHeader.blockByteCount)
    for offset in SegmentHeader.copyOffsets {
      let found: String
      do throws(SegmentHeader.Defect) {
        if try SegmentHeader(decoding: block, at: offset) == segment.header { continue }
        found = "the header of another segment"
      } catch {
        found = "\(error)"
      }
      note(
        .damaged(
          CorruptionReport(
            reason: .segmentHeaderDamaged, file: segment.path, offset: Int64(offset),
            expected: "a copy of the segment's header", found: found)))
    }
  }

  private func proveFrames(of segment: SegmentFile, next: SegmentHeader?, end: LSN) throws(Errno) -> Bool {
    var scanner = SegmentScanner(
      segment, from: ChainState(startOf: segment.header), end: max(segment.offset(of: end), 0))
    var isWhole = true
    while true {
      let place = segment.offset(of: scanner.state.lsn)
      let step = try scanner.next(provingBody: true)
      switch step {
      case .frame(let frame):
        guard progress(frame.header.frameByteCount) else { return false }
      case .stop(.endOfFile) where scanner.state.lsn >= end:
        if isWhole, let next, next.predecessor.headTag != scanner.state.tag { noteChain(segment, next, scanner.state) }
        return true
      case .stop(let stop):
        noteDamage(of: segment, at: place, stop)
        isWhole = false
        // A header that is whole tells where the next frame begins, whatever became of the body.
        guard case .body = stop, case .frame(let frame) = try scanner.next(provingBody: false) else { return true }
        guard progress(frame.header.frameByteCount) else { return false }
      }
    }
  }

  private func noteDamage(of segment: SegmentFile, at offset: Int64, _ stop: SegmentScanner.Stop) {
    note(
      .damaged(
        CorruptionReport(
          reason: .frameDamaged, file: segment.path, offset: offset, expected: "a frame that was verified before",
          found: "\(stop)", isSingleBit: SingleBit.explains(stop, at: offset, of: segment))))
  }

  private func noteChain(_ segment: SegmentFile, _ next: SegmentHeader, _ state: ChainState) {
    note(
      .damaged(
        CorruptionReport(
          reason: .closedSegmentDamaged, file: segment.path, offset: segment.offset(of: state.lsn),
          expected: "a last frame with tag \(hexadecimal(next.predecessor.headTag))",
          found: "tag \(hexadecimal(state.tag))")))
  }
}

extension Log {
  /// Proves both copies of each segment's header and every frame that a sync has covered. Commits and reads go on meanwhile.
  ///
  /// - Parameters:
  ///   - progress: told the bytes that were read since it was told last; answers whether to go on. It may sleep.
  ///   - note: told what is damaged or cannot be read. Frames behind one whose header is damaged are not looked at.
  /// - Returns: how many segments were looked at; nil if `progress` ended it.
  /// - Throws: ``LogError/closed``, ``LogError/wrongProcess``.
  @_spi(Engine) public func scrub(
    progress: (Int) -> Bool, note: (ScrubFinding) -> Void
  ) throws(LogError) -> Int? {
    try withoutActuallyEscaping(progress) { (progress) throws(LogError) in
      try withoutActuallyEscaping(note) { (note) throws(LogError) in
        try LogScrub(core: core, progress: progress, note: note).run()
      }
    }
  }
}
