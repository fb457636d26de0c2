/// A run of frames of one segment on its way through replay: stored bytes first, decoded ones after.
///
/// Reading and walking headers is done in log order; decoding is done wherever a thread is free and touches nothing but the unit.
struct ReplayUnit: ~Copyable {
  private var stored: UnsafeMutableRawBufferPointer
  private var frames: [SegmentScanner.Frame] = []
  private var segment: SegmentFile?
  private var baseOffset: Int64 = 0
  private var rawByteCount = 0
  private var memory = DecodedMemory()

  init() { stored = .allocate(byteCount: ReplaySource.storedByteCountTarget, alignment: 4096) }
  deinit { stored.deallocate() }

  /// Reads frames from `offset` on, up to the target size or one frame if that is larger, and walks their headers.
  mutating func begin(
    _ segment: SegmentFile, at offset: Int64, end: Int64, state: inout ChainState
  ) throws(LogError) {
    self.segment = segment
    baseOffset = offset
    frames.removeAll(keepingCapacity: true)
    rawByteCount = 0
    var available = try read(from: offset, Int(min(Int64(ReplaySource.storedByteCountTarget), end - offset)), have: 0)
    var place = 0
    while true {
      let lsn = segment.lsn(at: offset + Int64(place))
      let left = available - place
      let isAtEnd = offset + Int64(place) == end
      if isAtEnd { return }
      if left < FrameHeader.byteCount {
        // Cut by the unit's size: the next unit begins with it. Cut by the end: the file is shorter than it was judged.
        if offset + Int64(available) < end, !frames.isEmpty { return }
        throw damage(at: lsn, reason: .fileTruncated, "a frame header", "\(left) bytes")
      }
      let head = UnsafeRawBufferPointer(rebasing: stored[place..<place + FrameHeader.byteCount])
      let header: FrameHeader
      do throws(FrameHeader.Defect) {
        header = try FrameHeader(decoding: head, salt: segment.header.salt, lsn: lsn)
      } catch {
        if case .unknownKind(let kind) = error {
          throw .unsupportedFormat(file: segment.path, detail: .frameKind(kind, offset: offset + Int64(place)))
        }
        throw damage(at: lsn, reason: .frameDamaged, "a frame header", "\(error)", .header(error))
      }
      guard Int64(header.frameByteCount) <= end - offset - Int64(place) else {
        throw damage(
          at: lsn, reason: .frameDamaged, "at most \(end - offset - Int64(place)) bytes", "\(header.frameByteCount)")
      }
      let isFull =
        place + header.frameByteCount > stored.count
        || rawByteCount + header.rawByteCount > ReplaySource.rawByteCountTarget
      if !frames.isEmpty, isFull || header.frameByteCount > left { return }
      if header.frameByteCount > left {
        available = try read(from: offset, header.frameByteCount, have: available)
        guard available >= header.frameByteCount else {
          throw damage(at: lsn, reason: .fileTruncated, "\(header.frameByteCount) bytes", "\(available)")
        }
      }
      let headTag = UnsafeRawBufferPointer(rebasing: stored[place..<place + FrameHeader.byteCount]).u64(56)
      let isFirst = !state.isInsideCommit
      let previous = state.sequence
      do throws(ChainState.Break) {
        try state.accept(header, tag: headTag)
      } catch {
        throw damage(at: lsn, reason: .frameDamaged, "the next frame of the history", "\(error)")
      }
      frames.append(
        SegmentScanner.Frame(
          header: header, headTag: headTag, lsn: lsn, offset: offset + Int64(place), isFirst: isFirst,
          epoch: state.epoch, previous: previous))
      rawByteCount += header.rawByteCount
      place += header.frameByteCount
    }
  }

  private mutating func read(from offset: Int64, _ byteCount: Int, have: Int) throws(LogError) -> Int {
    guard let segment else { return 0 }
    if byteCount > stored.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: stored[0..<have]))
      stored.deallocate()
      stored = larger
    }
    do throws(Errno) {
      let room = UnsafeMutableRawBufferPointer(rebasing: stored[have..<byteCount])
      return try have + segment.fileSystem.readFully(segment.file, into: room, at: offset + Int64(have))
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
  }

  /// Verifies and decodes all frames of the unit.
  ///
  /// HOT PATH: once per frame on replay. Evidence: Docs/Benchmarks.md, "recovery.1M.1thread".
  mutating func decode() throws(LogError) -> ReplayBatch {
    guard let segment else { return ReplayBatch(frames: [], resets: [], gaps: [], storage: DecodedBytes(byteCount: 0)) }
    let storage = memory.take(rawByteCount)
    var batch = ReplayBatch(frames: [], resets: [], gaps: [], storage: storage)
    batch.frames.reserveCapacity(frames.count)
    let room = storage.room
    var place = 0
    for frame in frames {
      let header = frame.header
      let start = Int(frame.offset - baseOffset) + FrameHeader.byteCount
      let padded = UnsafeRawBufferPointer(
        rebasing: stored[start..<start + header.frameByteCount - FrameHeader.byteCount])
      let target = UnsafeMutableRawBufferPointer(rebasing: room[place..<place + header.rawByteCount])
      do throws(FrameBody.Defect) {
        try FrameBody.verify(padded, header: header, salt: segment.header.salt, lsn: frame.lsn)
        let payload = UnsafeRawBufferPointer(rebasing: padded[0..<header.storedByteCount])
        try FrameBody.decode(payload, codec: header.codec, into: target)
        let layout = try FrameBody.layout(
          of: UnsafeRawBufferPointer(target), header: header, isFirst: frame.isFirst, behind: frame.previous)
        batch.append(frame, layout, payloadAt: place)
      } catch {
        throw damage(at: frame.lsn, reason: .frameDamaged, "the frame's body", "\(error)", .body(error))
      }
      place += header.rawByteCount
    }
    return batch
  }

  /// Gives the unit the memory of a batch back that nobody kept.
  mutating func reuse(_ batch: consuming ReplayBatch) {
    if !batch.isTaken { memory.giveBack(batch.storage) }
  }

  private func damage(
    at lsn: LSN, reason: CorruptionReport.Reason, _ expected: String, _ found: String,
    _ stop: SegmentScanner.Stop = .endOfFile
  ) -> LogError {
    guard let segment else { return .closed }
    let offset = segment.offset(of: lsn)
    return .corrupt(
      CorruptionReport(
        reason: reason, file: segment.path, offset: offset, expected: expected, found: found,
        isSingleBit: SingleBit.explains(stop, at: offset, of: segment)))
  }
}

extension ReplayBatch {
  fileprivate mutating func append(_ frame: SegmentScanner.Frame, _ layout: FrameBody.Layout, payloadAt place: Int) {
    var detail: Int32 = 0
    let kind: Frame.Kind
    switch frame.header.kind {
    case .data:
      kind = .records
    case .reset:
      guard let reset = layout.reset else { return }
      kind = .reset
      detail = Int32(resets.count)
      resets.append(reset)
    case .gap:
      guard let gap = layout.gap else { return }
      kind = .gap
      detail = Int32(gaps.count)
      gaps.append(gap)
    default:
      return
    }
    frames.append(
      Frame(
        kind: kind, isFirst: frame.isFirst, isLast: !frame.header.continues, recordCount: frame.header.recordCount,
        sequence: frame.header.sequence, epoch: frame.epoch, time: layout.time ?? 0, tag: frame.headTag, lsn: frame.lsn,
        records: place + layout.records.lowerBound..<place + layout.records.upperBound, detail: detail))
  }
}
