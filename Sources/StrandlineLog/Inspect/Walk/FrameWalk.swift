/// Walks one segment, or a piece of one, from front to end, whatever is damaged in between.
///
/// Frame by frame as ``SegmentScanner`` does it; where that stops, the walk looks for the next header that proves itself and
/// goes on there. Memory is bounded by the largest frame, and nothing is read or allocated on a length that is not proved.
struct FrameWalk: ~Copyable {
  let segment: SegmentFile
  private let end: Int64
  private let searchesBits: Bool
  private var scanner: SegmentScanner
  private var decoder = BodyDecoder()
  /// What the next frame says about its predecessor cannot be compared with anything.
  private var followsDamage = false
  private var isDone = false
  /// Nothing has been found yet in bytes that begin somewhere inside the segment.
  private var isInPiece: Bool

  enum Step {
    /// With its decoded payload, valid until the next step; empty unless the body is whole.
    case frame(InspectedFrame, payload: UnsafeRawBufferPointer)
    case damage(DamagedStretch)
  }

  /// - Parameters:
  ///   - state: in front of the first frame; nil if the bytes begin somewhere inside the segment.
  ///   - end: file offset behind which nothing is looked at.
  ///   - searchesBits: whether damage is searched for a single flipped bit.
  init(_ segment: SegmentFile, from state: ChainState?, end: Int64, searchesBits: Bool) {
    self.segment = segment
    self.end = end
    self.searchesBits = searchesBits
    scanner = SegmentScanner(segment, from: state ?? ChainState(startOfPiece: segment.header), end: end)
    isInPiece = state == nil
  }

  /// The chain behind the last frame.
  var state: ChainState { scanner.state }

  mutating func next() throws(Errno) -> Step? {
    if isDone { return nil }
    if isInPiece { try beginPiece() }
    let before = scanner.state
    let offset = segment.offset(of: before.lsn)
    switch try scanner.next(provingBody: false) {
    case .frame(let frame):
      return try inspected(frame, isFirst: followsDamage ? nil : !before.isInsideCommit, chainBreak: nil)
    case .stop(.endOfFile):
      isDone = true
      return nil
    case .stop(.chain(let reason)):
      guard let header = try header(at: offset), resume(at: offset, header) else {
        return try skipDamage(from: offset, .chain(reason))
      }
      guard case .frame(let frame) = try scanner.next(provingBody: false) else {
        return try skipDamage(from: offset, .chain(reason))
      }
      return try inspected(frame, isFirst: nil, chainBreak: reason)
    case .stop(let reason):
      return try skipDamage(from: offset, reason)
    }
  }

  /// What a piece begins with continues something that nobody can compare it with.
  private mutating func beginPiece() throws(Errno) {
    isInPiece = false
    followsDamage = true
    let offset = segment.offset(of: scanner.state.lsn)
    if let header = try header(at: offset) { _ = resume(at: offset, header) }
  }

  private func header(at offset: Int64) throws(Errno) -> FrameHeader? {
    let head = try segment.fileSystem.readBytes(segment.file, at: offset, byteCount: FrameHeader.byteCount)
    return head.withUnsafeBytes {
      try? FrameHeader(decoding: $0, salt: segment.header.salt, lsn: segment.lsn(at: offset))
    }
  }

  /// Takes the header at `offset` for a new beginning; false if nothing can begin with it.
  private mutating func resume(at offset: Int64, _ header: FrameHeader) -> Bool {
    guard let state = ChainState(resumingAt: header, lsn: segment.lsn(at: offset), behind: scanner.state)
    else { return false }
    scanner = SegmentScanner(segment, from: state, end: end)
    return true
  }

  private mutating func inspected(
    _ frame: SegmentScanner.Frame, isFirst: Bool?, chainBreak: ChainState.Break?
  ) throws(Errno) -> Step {
    var result = InspectedFrame(
      header: frame.header, headTag: frame.headTag, lsn: frame.lsn, offset: frame.offset, epoch: frame.epoch,
      isFirst: isFirst, chainBreak: chainBreak, body: .whole, followsDamage: followsDamage)
    followsDamage = false
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    let stored = try scanner.storedBody(of: frame)
    let wanted = frame.header.frameByteCount - FrameHeader.byteCount
    guard stored.count == wanted else {
      // The file became shorter than it was a moment ago.
      result.body = .cutShort(missing: Int64(wanted - stored.count))
      return .frame(result, payload: nothing)
    }
    do throws(FrameBody.Defect) {
      try FrameBody.verify(stored, header: frame.header, salt: segment.header.salt, lsn: frame.lsn)
      let payload = try decoder.payload(of: frame.header, stored: stored)
      try layOut(payload, behind: isFirst == nil ? nil : frame.previous, &result)
      return .frame(result, payload: payload)
    } catch {
      let bit =
        searchesBits
        ? SingleBit.explaining(error, body: stored, header: frame.header, salt: segment.header.salt, lsn: frame.lsn)
        : nil
      result.body = .damaged(error, bit)
      return .frame(result, payload: nothing)
    }
  }

  /// Finds the parts of a payload, and from them whether the frame begins its commit where the chain does not say.
  private func layOut(
    _ payload: UnsafeRawBufferPointer, behind previous: SequenceNumber?, _ frame: inout InspectedFrame
  ) throws(FrameBody.Defect) {
    if frame.isFirst != nil || frame.header.kind != .data {
      frame.layout = try FrameBody.layout(
        of: payload, header: frame.header, isFirst: frame.isFirst ?? true, behind: previous)
      frame.isFirst = frame.isFirst ?? true
      return
    }
    // A first frame begins with the commit's time and a later one with a record's length. Read the wrong way round the
    // records come out one too many or one too few, or end elsewhere, unless someone made them on purpose; then the
    // frame counts as neither.
    let asFirst = try? FrameBody.layout(of: payload, header: frame.header, isFirst: true, behind: nil)
    let asLater = try? FrameBody.layout(of: payload, header: frame.header, isFirst: false, behind: nil)
    switch (asFirst, asLater) {
    case (let layout?, nil): (frame.layout, frame.isFirst) = (layout, true)
    case (nil, let layout?): (frame.layout, frame.isFirst) = (layout, false)
    case (let layout?, .some): frame.layout = layout
    case (nil, nil): throw .recordsMalformed
    }
  }

  /// Passes over bytes that are no frame, up to the next header that proves itself and can follow something.
  private mutating func skipDamage(from offset: Int64, _ reason: SegmentScanner.Stop) throws(Errno) -> Step {
    var stretch = DamagedStretch(offset: offset, lsn: segment.lsn(at: offset), byteCount: 0, reason: reason)
    if case .cutShort = reason { stretch.header = try header(at: offset) }
    var search = HeadSearch(segment, end: end)
    var from = offset
    isDone = true
    while true {
      let result = try search.next(from: from, first: from + 8)
      stretch.byteCount = result.end - offset
      stretch.firstNonZero = stretch.firstNonZero ?? result.firstNonZero
      guard let header = result.header else { break }
      if resume(at: result.end, header) {
        isDone = false
        followsDamage = true
        break
      }
      stretch.firstNonZero = stretch.firstNonZero ?? result.end
      from = result.end
    }
    if searchesBits, !stretch.isZero { stretch.singleBit = try SingleBit.explaining(reason, at: offset, of: segment) }
    return .damage(stretch)
  }
}
