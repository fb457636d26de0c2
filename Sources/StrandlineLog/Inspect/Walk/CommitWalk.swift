/// Walks the commits of one segment: puts the frames of ``FrameWalk`` together and says which commits are whole.
struct CommitWalk: ~Copyable {
  private var frames: FrameWalk
  private var open: InspectedCommit?
  /// Steps that are found and not handed out yet, oldest first.
  private var ready: [Step] = []
  private var isDone = false
  private let listsFrames: Bool

  enum Step: Sendable {
    case commit(InspectedCommit)
    /// A frame that carries no commit.
    case mark(InspectedFrame)
    /// A frame by itself; the commit or mark that it belongs to follows. Those that are not whole, or all.
    case frame(InspectedFrame)
    case damage(DamagedStretch)
  }

  /// - Parameter listsFrames: whether whole frames are handed out by themselves as well.
  init(_ frames: consuming FrameWalk, listsFrames: Bool = false) {
    self.frames = frames
    self.listsFrames = listsFrames
  }

  var segment: SegmentFile { frames.segment }
  /// The chain behind the last frame.
  var state: ChainState { frames.state }

  mutating func next() throws(Errno) -> Step? {
    while ready.isEmpty, !isDone {
      switch try frames.next() {
      case .frame(let frame, _): take(frame)
      case .damage(let stretch):
        close()
        ready.append(.damage(stretch))
      case nil:
        close()
        isDone = true
      }
    }
    return ready.isEmpty ? nil : ready.removeFirst()
  }

  /// Ends the commit that waits for more frames.
  private mutating func close() {
    guard var commit = open.take() else { return }
    if commit.state == .whole { commit.state = .endMissing }
    ready.append(.commit(commit))
  }

  private mutating func take(_ frame: InspectedFrame) {
    if listsFrames || !frame.isWhole { ready.append(.frame(frame)) }
    switch frame.header.kind {
    case .data:
      takeData(frame)
    case .reset, .gap:
      close()
      ready.append(.commit(InspectedCommit(frame, frame.content)))
    default:
      close()
      ready.append(.mark(frame))
    }
  }

  private mutating func takeData(_ frame: InspectedFrame) {
    let isNext = frame.isFirst == false && !frame.followsDamage && frame.chainBreak == nil
    if var commit = open, commit.sequence == frame.header.sequence, isNext {
      commit.add(frame)
      open = commit
    } else {
      close()
      open = InspectedCommit(frame, .records)
    }
    guard !frame.header.continues, let commit = open.take() else { return }
    ready.append(.commit(commit))
  }
}

extension InspectedFrame {
  fileprivate var content: InspectedCommit.Content {
    if let reset { return .reset(reset) }
    if let gap { return .gap(gap) }
    return .unreadable(header.kind)
  }
}

extension InspectedCommit {
  fileprivate init(_ frame: InspectedFrame, _ content: Content) {
    self.init(
      content: content, state: .whole, sequence: frame.header.sequence, epoch: frame.epoch, time: frame.time,
      recordCount: 0, frameCount: 0, storedByteCount: 0, rawByteCount: 0, lsn: frame.lsn, offset: frame.offset,
      endOffset: frame.offset, tag: 0, followsDamage: frame.followsDamage || frame.chainBreak != nil)
    // Where a payload is damaged nobody can tell a first frame; the commit is lost either way.
    if frame.isFirst != true { state = .beginningMissing }
    add(frame)
  }

  fileprivate mutating func add(_ frame: InspectedFrame) {
    if frame.body != .whole { state = .damaged }
    recordCount += frame.header.recordCount
    frameCount += 1
    storedByteCount += Int64(frame.header.storedByteCount)
    rawByteCount += Int64(frame.header.rawByteCount)
    endOffset = frame.endOffset
    tag = frame.headTag
  }
}
