/// Walks all commits of a store in the order of the log, segment after segment, past whatever is damaged.
///
/// Pulled, not pushed, so that two stores can be walked side by side. Memory is bounded by the largest frame.
@_spi(Engine) public struct StoreWalk: ~Copyable {
  @_spi(Engine) public enum Element: Sendable {
    case segment(SegmentInspection)
    case commit(InspectedCommit, Liveness)
    /// SYNCMARK, padding, kinds that may be skipped.
    case mark(InspectedFrame, Liveness)
    /// A frame by itself; the commit or mark that it belongs to follows. Those that are not whole, or all.
    case frame(InspectedFrame, Liveness)
    case damage(DamagedStretch, Liveness)
    /// Bytes at the end of a segment that nothing has used yet.
    case spaceAhead(offset: Int64, byteCount: Int64)
  }

  private let survey: StoreSurvey
  private let rule: LivenessRule
  private let searchesBits: Bool
  private let listsFrames: Bool
  private var waiting: ArraySlice<SegmentInspection>
  private var walk: CommitWalk?
  private var reader: CommitReader?
  /// The segment that is walked.
  private var current: SegmentInspection?

  /// - Parameters:
  ///   - includesAll: also what a reset, a release or damage to the directory has left in the files.
  ///   - listsFrames: hand out whole frames by themselves as well.
  public init(
    _ inspector: StoreInspector, _ survey: StoreSurvey, includesAll: Bool, listsFrames: Bool = false
  ) throws(LogError) {
    self.listsFrames = listsFrames
    self.survey = survey
    rule = try LivenessRule(survey, tail: try inspector.tail(of: survey))
    searchesBits = inspector.searchesBits
    waiting = (includesAll ? survey.segments.filter { $0.header != nil } : survey.live)[...]
  }

  /// The epoch in force.
  public var epoch: UInt64 { rule.epoch }

  public mutating func next() throws(LogError) -> Element? {
    while true {
      if walk == nil {
        guard let segment = waiting.popFirst() else { return nil }
        try open(segment)
        return .segment(segment)
      }
      do throws(Errno) {
        if let step = try walk?.next() { return element(step) }
      } catch {
        guard let current else { return nil }
        throw SegmentFile.vanishedOrFailed(.read, current.path, error)
      }
      walk = nil
    }
  }

  private mutating func open(_ inspection: SegmentInspection) throws(LogError) {
    current = inspection
    guard let header = inspection.header else { return }
    let segment = try SegmentFile(inspecting: inspection.path, header: header, in: survey.directory.fileSystem)
    var end = try segment.byteCount()
    if let named = inspection.named { end = min(end, Int64(clamping: named.byteCount)) }
    let start = survey.piece == nil ? ChainState(startOf: header) : nil
    walk = CommitWalk(
      FrameWalk(segment, from: start, end: end, searchesBits: searchesBits), listsFrames: listsFrames)
    reader = CommitReader(segment, end: end)
  }

  private func element(_ step: CommitWalk.Step) -> Element {
    switch step {
    case .commit(let commit): return .commit(commit, liveness(commit.lsn, commit.epoch))
    case .mark(let frame): return .mark(frame, liveness(frame.lsn, frame.epoch))
    case .frame(let frame): return .frame(frame, liveness(frame.lsn, frame.epoch))
    case .damage(let stretch):
      let liveness = liveness(stretch.lsn, rule.epoch)
      let isTail = current?.role == .active && stretch.endOffset >= current?.byteCount ?? 0
      if stretch.isZero, isTail, stretch.lsn >= rule.promise {
        return .spaceAhead(offset: stretch.offset, byteCount: stretch.byteCount)
      }
      return .damage(stretch, liveness)
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
