/// Walks all commits of a store in the order of the log, segment after segment, past whatever is damaged.
///
/// Pulled, not pushed, so that two stores can be walked side by side. Memory is bounded by the largest frame.
///
/// Shows the store as it was when its end was examined: beside a writer, or one that begins to write meanwhile, the walk ends where the
/// last complete commit ended then, and what came later is not judged.
@_spi(Engine) public struct StoreWalk: ~Copyable {
  @_spi(Engine) public enum Element: Sendable {
    case segment(SegmentInspection)
    case commit(InspectedCommit, Liveness)
    /// SYNCMARK, padding, kinds that may be skipped.
    case mark(InspectedFrame, Liveness)
    /// A frame by itself; the commit or mark that it belongs to follows. Those that are not whole, or all.
    case frame(InspectedFrame, Liveness)
    case damage(DamagedStretch, Liveness)
    /// Bytes that a writer at work is writing, or has not ended a commit in.
    case inFlight(offset: Int64, byteCount: Int64)
    /// Bytes at the end of a segment that nothing has used yet.
    case spaceAhead(offset: Int64, byteCount: Int64)
  }

  private let survey: StoreSurvey
  private let tail: TailInspection?
  private let rule: LivenessRule
  private let searchesBits: Bool
  private let listsFrames: Bool
  private var waiting: ArraySlice<SegmentInspection>
  private var walk: CommitWalk?
  private var reader: CommitReader?
  /// The segment that is walked.
  private var current: SegmentInspection?
  /// Elements that come next, before the walk goes on.
  private var ready: [Element] = []
  /// The torn tail was looked at again, and is still the same.
  private var isTornForSure = false
  /// How grave what was handed out is; nil if all of it is whole.
  public private(set) var worst: Finding.Severity?

  /// - Parameters:
  ///   - includesAll: also what a reset, a release or damage to the directory has left in the files.
  ///   - listsFrames: hand out whole frames by themselves as well.
  public init(
    _ inspector: StoreInspector, _ condition: StoreCondition, includesAll: Bool, listsFrames: Bool = false
  ) throws(LogError) {
    self.listsFrames = listsFrames
    survey = condition.survey
    tail = condition.tail
    rule = try LivenessRule(survey, tail: tail)
    searchesBits = inspector.searchesBits
    waiting = (includesAll ? survey.segments.filter { $0.header != nil } : survey.live)[...]
  }

  /// The epoch in force.
  public var epoch: UInt64 { rule.epoch }

  public mutating func next() throws(LogError) -> Element? {
    while true {
      if !ready.isEmpty {
        let element = ready.removeFirst()
        if let damaged = element.damaged { worst = max(worst ?? .note, Finding.Severity(ofDamage: damaged)) }
        return element
      }
      if walk == nil {
        guard let segment = waiting.popFirst() else { return nil }
        try open(segment)
        return .segment(segment)
      }
      let step: CommitWalk.Step?
      do throws(Errno) {
        step = try walk?.next()
      } catch {
        guard let current else { return nil }
        throw SegmentFile.vanishedOrFailed(.read, current.path, error)
      }
      guard let step else {
        walk = nil
        if current?.role == .active { addEnd() }
        continue
      }
      try take(step)
    }
  }

  private mutating func open(_ inspection: SegmentInspection) throws(LogError) {
    current = inspection
    guard let header = inspection.header else { return }
    let segment = try SegmentFile(inspecting: inspection.path, header: header, in: survey.directory.fileSystem)
    var end = try segment.byteCount()
    if let named = inspection.named { end = min(end, Int64(clamping: named.byteCount)) }
    // Behind the last commit, the bytes are a torn tail or damage, and as they were; or nobody's, and may be a writer's by now.
    if inspection.role == .active, let tail, endsAtCommit(tail) { end = min(end, tail.commitEndOffset) }
    let start = survey.piece == nil ? ChainState(startOf: header) : nil
    walk = CommitWalk(
      FrameWalk(segment, from: start, end: end, searchesBits: searchesBits), listsFrames: listsFrames)
    reader = CommitReader(segment, end: end)
  }

  private func endsAtCommit(_ tail: TailInspection) -> Bool {
    !tail.isCorrupt && (tail.isInUse || !tail.isUnfinished)
  }

  /// What lies behind the last commit, where the walk did not go.
  private mutating func addEnd() {
    guard let tail, endsAtCommit(tail) else { return }
    addUnused(tail, from: tail.commitEndOffset)
  }

  private mutating func addUnused(_ tail: TailInspection, from offset: Int64) {
    let end = max(offset, tail.evidence.contentEnd)
    if end > offset { ready.append(.inFlight(offset: offset, byteCount: end - offset)) }
    let rest = tail.evidence.fileByteCount - end
    if rest > 0 { ready.append(.spaceAhead(offset: end, byteCount: rest)) }
  }

  private mutating func take(_ step: CommitWalk.Step) throws(LogError) {
    let element = element(step)
    if element.liveness == .torn, !isTornForSure, let tail {
      // A writer that came meanwhile cuts the tail and writes in its place.
      let now = try survey.examineTail()
      guard let now, !now.isInUse, now.evidence == tail.evidence else {
        walk = nil
        return addUnused(tail, from: tail.commitEndOffset)
      }
      isTornForSure = true
    }
    guard case .damage(var stretch, let liveness) = element, current?.role == .active,
      stretch.endOffset >= tail?.evidence.fileByteCount ?? current?.byteCount ?? 0
    else { return ready.append(element) }
    // Zeros at the end that nothing says were ever anything else.
    let contentEnd = liveness == .torn ? max(stretch.offset, tail?.evidence.contentEnd ?? 0) : stretch.endOffset
    let isUnused = stretch.isZero && stretch.lsn >= rule.promise
    let used = isUnused ? 0 : contentEnd - stretch.offset
    let unused = stretch.byteCount - used
    let end = stretch.offset + used
    stretch.byteCount = used
    if used > 0 { ready.append(.damage(stretch, liveness)) }
    if unused > 0 { ready.append(.spaceAhead(offset: end, byteCount: unused)) }
  }

  private func element(_ step: CommitWalk.Step) -> Element {
    switch step {
    case .commit(let commit): .commit(commit, liveness(commit.lsn, commit.epoch))
    case .mark(let frame): .mark(frame, liveness(frame.lsn, frame.epoch))
    case .frame(let frame): .frame(frame, liveness(frame.lsn, frame.epoch))
    case .damage(let stretch): .damage(stretch, liveness(stretch.lsn, rule.epoch))
    }
  }

  private func liveness(_ lsn: LSN, _ epoch: UInt64) -> Liveness {
    rule.liveness(in: current?.role ?? .stray, at: lsn, epoch: epoch)
  }

  /// Hands over the records of a whole commit of the segment that is walked, frame by frame.
  public mutating func readRecords(
    of commit: InspectedCommit, _ body: (RecordList) throws -> Void
  ) throws {
    try reader?.readRecords(commit, body)
  }
}

extension StoreWalk.Element {
  /// Where it stands, if it does not verify.
  fileprivate var damaged: Liveness? {
    switch self {
    case .commit(let commit, let liveness): commit.state == .whole ? nil : liveness
    case .mark(let frame, let liveness), .frame(let frame, let liveness): frame.isWhole ? nil : liveness
    case .damage(_, let liveness): liveness
    case .segment, .inFlight, .spaceAhead: nil
    }
  }

  fileprivate var liveness: Liveness? {
    switch self {
    case .commit(_, let liveness), .mark(_, let liveness), .frame(_, let liveness), .damage(_, let liveness): liveness
    case .segment, .inFlight, .spaceAhead: nil
    }
  }
}
