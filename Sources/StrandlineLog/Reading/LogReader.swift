/// Reads commits in order: those that a sync has covered, and nothing else.
///
/// Holds one segment open and one commit in memory at a time. Not to be shared between threads; make one for each.
public final class LogReader {
  /// Kept open as long as somebody reads.
  private let log: Log
  private var core: LogCore { log.core }
  private var segment: SegmentFile
  private var scanner: SegmentScanner?
  /// File offset that the scanner reads to.
  private var end: Int64 = 0
  private var state: ChainState
  /// The frames of the next commit that have been read.
  private var pending: Commit?

  init(_ log: Log, at place: CommitLocator.Place) {
    self.log = log
    segment = place.segment
    state = place.state
  }

  /// The next commit, or nil when everything that is synced by now has been read; later calls may find more.
  ///
  /// - Throws: ``LogError/corrupt(_:)`` where bytes have rotted since; ``LogError/resetSince(epoch:)`` or
  ///   ``LogError/historyTrimmed(first:)`` where the segments ahead were removed; ``LogError/closed``.
  public func next() throws(LogError) -> Commit? {
    while true {
      if scanner == nil {
        guard try advance() else { return nil }
      }
      let step: SegmentScanner.Step
      do throws(Errno) {
        guard let taken = try scanner?.next(provingBody: true) else { return nil }
        step = taken
      } catch {
        throw .ioFailed(segment.failure(.read, error))
      }
      switch step {
      case .frame(let frame):
        if let commit = try take(frame) { return commit }
      case .stop(.endOfFile) where segment.offset(of: scanner?.state.lsn ?? state.lsn) >= end:
        state = scanner?.state ?? state
        scanner = nil
      case .stop(let stop):
        let offset = segment.offset(of: scanner?.state.lsn ?? state.lsn)
        scanner = nil
        throw .corrupt(
          CorruptionReport(
            reason: .frameDamaged, file: segment.path, offset: offset, expected: "a frame that was verified before",
            found: "\(stop)", isSingleBit: SingleBit.explains(stop, at: offset, of: segment)))
      }
    }
  }

  /// Points the scanner at what is there by now; false if there is nothing new.
  private func advance() throws(LogError) -> Bool {
    let seen = core.published.withLock {
      (segments: $0.segments, end: $0.durableLSN, epoch: $0.epoch, isClosed: $0.isClosed)
    }
    if seen.isClosed { throw .closed }
    while true {
      guard let index = seen.segments.firstIndex(where: { $0.ordinal == segment.header.ordinal }) else {
        // Our segment was released while we read. What it held stays readable, but not what follows it.
        guard let next = seen.segments.first, next.ordinal == segment.header.ordinal + 1, state.lsn >= next.baseLSN
        else {
          throw gone(seen.segments, epoch: seen.epoch)
        }
        try move(to: next, seen.segments, epoch: seen.epoch)
        continue
      }
      let isLast = index == seen.segments.count - 1
      let end = isLast ? seen.end : seen.segments[index + 1].baseLSN
      if state.lsn < end {
        self.end = segment.offset(of: end)
        scanner = SegmentScanner(segment, from: state, end: self.end)
        return true
      }
      if isLast { return false }
      try move(to: seen.segments[index + 1], seen.segments, epoch: seen.epoch)
    }
  }

  private func move(to header: SegmentHeader, _ segments: [SegmentHeader], epoch: UInt64) throws(LogError) {
    do throws(CommitLocator.Failure) {
      segment = try CommitLocator(directory: core.directory, headers: segments, end: .max).open(header)
    } catch {
      switch error {
      case .failed(let failure): throw failure
      case .released, .absent: throw gone(segments, epoch: epoch)
      }
    }
    state = ChainState(startOf: header, commitTag: state.commitTag)
  }

  private func gone(_ segments: [SegmentHeader], epoch: UInt64) -> LogError {
    if core.isReadOnly { return .generationGone }
    if epoch > state.epoch { return .resetSince(epoch: epoch) }
    return .historyTrimmed(first: segments.first?.baseSequence.next ?? .zero)
  }

  /// Decodes one frame; answers the commit if it is the last of it.
  private func take(_ frame: SegmentScanner.Frame) throws(LogError) -> Commit? {
    let kind = frame.header.kind
    guard kind == .data || kind == .reset || kind == .gap else { return nil }
    let storage = DecodedBytes(byteCount: frame.header.rawByteCount)
    let target = storage.room
    let stored: UnsafeRawBufferPointer
    do throws(Errno) {
      guard let body = try scanner?.storedBody(of: frame) else { return nil }
      stored = body
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    do throws(FrameBody.Defect) {
      let payload = UnsafeRawBufferPointer(rebasing: stored[0..<frame.header.storedByteCount])
      try FrameBody.decode(payload, codec: frame.header.codec, into: target)
      let layout = try FrameBody.layout(
        of: UnsafeRawBufferPointer(target), header: frame.header, isFirst: frame.isFirst, behind: frame.previous)
      add(frame, layout, UnsafeRawBufferPointer(target))
    } catch {
      throw .corrupt(
        CorruptionReport(
          reason: .frameDamaged, file: segment.path, offset: frame.offset, expected: "the frame's body",
          found: "\(error)"))
    }
    if frame.header.continues { return nil }
    defer { pending = nil }
    return pending
  }

  private func add(_ frame: SegmentScanner.Frame, _ layout: FrameBody.Layout, _ payload: UnsafeRawBufferPointer) {
    if frame.isFirst || pending == nil {
      let content: Commit.Content =
        if let reset = layout.reset { .reset(reset) } else if let gap = layout.gap { .gap(gap) } else { .records }
      pending = Commit(
        position: Position(epoch: frame.epoch, sequence: frame.header.sequence, tag: frame.headTag),
        time: layout.time ?? 0, content: content, lsn: frame.lsn)
    }
    pending?.position.tag = frame.headTag
    pending?.append(UnsafeRawBufferPointer(rebasing: payload[layout.records]), count: frame.header.recordCount)
  }
}
