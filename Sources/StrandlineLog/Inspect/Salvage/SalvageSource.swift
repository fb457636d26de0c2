/// The segments salvage reads, in the order of the log, and what a first walk over them tells.
struct SalvageSource {
  /// Files that hold one and the same segment: one, unless someone made copies.
  struct Group {
    var header: SegmentHeader
    var paths: [String]
  }

  let survey: StoreSurvey
  /// Behind this position in the last segment nothing was ever confirmed; nil where that is not known.
  let unconfirmedFrom: LSN?
  let identifier: StoreIdentifier?
  private(set) var groups: [Group] = []
  private(set) var unusable: [SalvageReport.Unusable] = []
  private(set) var epochs: [UInt64: EpochFacts] = [:]
  private let tail: TailInspection?
  /// Behind the last frame of the last segment whose header verifies.
  private var lastFrameEnd = LSN.zero

  /// What is known of one epoch.
  struct EpochFacts {
    /// Highest sequence number that anything confirmed speaks of.
    var sequenceMax = SequenceNumber.zero
    /// The RESET that began it.
    var reset: SegmentHeader.LastReset?
    /// That RESET was found whole.
    var hasWholeReset = false
    /// Lowest base sequence of its segments.
    var baseSequenceMin: SequenceNumber?

    mutating func raise(to sequence: SequenceNumber) { sequenceMax = max(sequenceMax, sequence) }
  }

  private var fileSystem: any FileSystem { survey.directory.fileSystem }

  init(_ survey: StoreSurvey, tail: TailInspection?) {
    self.survey = survey
    self.tail = tail
    unconfirmedFrom = tail.flatMap { $0.isCorrupt ? nil : $0.evidence.commitEnd }
    identifier =
      survey.root.root?.identifier ?? StoreSurvey.commonest(survey.segments.compactMap { $0.header?.identifier })
    collectGroups()
  }

  /// Sorts out which files are used: those of the chain, and copies of them under other names.
  private mutating func collectGroups() {
    let firstLive = survey.root.root?.firstLiveOrdinal ?? 0
    let members = Dictionary(
      survey.live.compactMap { segment in segment.header.map { ($0.fileName, $0) } },
      uniquingKeysWith: { first, _ in first })
    var paths: [SegmentFileName: [String]] = [:]
    var headers = members
    for segment in survey.segments {
      guard let header = segment.header else {
        unusable.append(
          SalvageReport.Unusable(file: segment.path, reason: segment.error?.description ?? "no header"))
        continue
      }
      let isOurs = header.identifier == identifier && header.ordinal >= firstLive
      // A file that was renamed is used if no other file claims its place.
      let isRival = members.values.contains { $0.ordinal == header.ordinal && $0.id != header.id }
      guard isOurs, !isRival else {
        let reason =
          header.identifier != identifier
          ? "a segment of store \(header.identifier)"
          : isRival ? "another segment \(header.ordinal) is part of the chain" : "given up by a reset or release"
        unusable.append(SalvageReport.Unusable(file: segment.path, reason: reason))
        continue
      }
      headers[header.fileName] = header
      // The file that is named as its header says comes first.
      if segment.name == header.fileName {
        paths[header.fileName, default: []].insert(segment.path, at: 0)
      } else {
        paths[header.fileName, default: []].append(segment.path)
      }
    }
    groups = headers.values.sorted { ($0.baseLSN, $0.ordinal, $0.id) < ($1.baseLSN, $1.ordinal, $1.id) }
      .compactMap { header in paths[header.fileName].map { Group(header: header, paths: $0) } }
  }

  /// Walks everything once: which epochs there are, and which numbers.
  mutating func scan() throws(LogError) {
    for group in groups {
      let header = group.header
      note(header)
      for path in group.paths {
        let cursor: SalvageCursor
        do throws(LogError) {
          cursor = try SalvageCursor(path, header: header, in: fileSystem)
          while let step = try cursor.next() { note(step, isLast: group.header == groups.last?.header) }
        } catch {
          guard case .ioFailed(let failure) = error else { throw error }
          unusable.append(SalvageReport.Unusable(file: path, reason: "\(failure)"))
        }
      }
    }
    if let root = survey.root.root { note(root) }
  }

  private mutating func note(_ header: SegmentHeader) {
    var facts = epochs[header.epoch] ?? EpochFacts()
    facts.raise(to: header.baseSequence)
    facts.baseSequenceMin = min(facts.baseSequenceMin ?? header.baseSequence, header.baseSequence)
    if header.epoch > 0 { facts.reset = facts.reset ?? header.reset }
    epochs[header.epoch] = facts
  }

  private mutating func note(_ step: CommitWalk.Step, isLast: Bool) {
    switch step {
    case .commit(let commit):
      if isLast { lastFrameEnd = max(lastFrameEnd, commit.endLSN) }
      note(commit, isLast: isLast)
    case .mark(let frame):
      if isLast { lastFrameEnd = max(lastFrameEnd, frame.endLSN) }
      // A mark is written behind a sync: the commit it names was confirmed, whatever is left of it.
      if frame.isWhole, frame.header.kind == .syncMark {
        epochs[frame.epoch, default: EpochFacts()].raise(to: frame.header.sequence)
      }
    case .frame, .damage: break
    }
  }

  private mutating func note(_ commit: InspectedCommit, isLast: Bool) {
    // What a writer was in the middle of when it died is no loss.
    if isLast, commit.state != .whole, let unconfirmedFrom, commit.lsn >= unconfirmedFrom { return }
    var facts = epochs[commit.epoch] ?? EpochFacts()
    facts.raise(to: commit.sequence)
    if case .reset = commit.content, commit.state == .whole {
      facts.reset = SegmentHeader.LastReset(sequence: commit.sequence, headTag: commit.tag)
      facts.hasWholeReset = true
    }
    epochs[commit.epoch] = facts
  }

  private mutating func note(_ root: RootSlot) {
    var facts = epochs[root.epoch] ?? EpochFacts()
    facts.raise(to: root.resetSequence)
    facts.raise(to: root.anchor.sequence)
    for layer in root.layers { facts.raise(to: layer.lastSequence) }
    if root.epoch > 0, facts.reset == nil {
      facts.reset = SegmentHeader.LastReset(sequence: root.resetSequence, headTag: 0)
    }
    epochs[root.epoch] = facts
  }

  /// What a sync had confirmed at the end of the last segment and nothing was found of; known after ``scan()``.
  var lostEnd: SalvageReport.LostEnd? {
    guard let tail, tail.isCorrupt, groups.last?.header == tail.header else { return nil }
    let start = Int64(SegmentHeader.blockByteCount)
    let end = min(max(tail.offset(of: lastFrameEnd), start), tail.evidence.fileByteCount)
    let confirmedEnd = max(tail.offset(of: tail.evidence.promise.lsn), start)
    // A mark of a close or a pause has room in a header's length, a commit has not.
    guard confirmedEnd - end > Int64(FrameHeader.byteCount) || end < start else { return nil }
    return SalvageReport.LostEnd(file: tail.path, offset: end, confirmedEnd: confirmedEnd)
  }

  /// The commits of one group, each once, in order, with what was passed over.
  func cursors(of group: Group) throws(LogError) -> [SalvageCursor] {
    var cursors: [SalvageCursor] = []
    for path in group.paths {
      do throws(LogError) {
        cursors.append(try SalvageCursor(path, header: group.header, in: fileSystem))
      } catch {
        guard case .ioFailed = error else { throw error }
      }
    }
    return cursors
  }
}

/// A walk over one segment file, and a reader for the commits it finds.
final class SalvageCursor {
  private var walk: CommitWalk
  private var reader: CommitReader
  /// The next step, looked at and not taken.
  private(set) var step: CommitWalk.Step?

  init(_ path: String, header: SegmentHeader, in fileSystem: any FileSystem) throws(LogError) {
    let segment = try SegmentFile(opening: path, header: header, in: fileSystem)
    let end = try segment.byteCount()
    walk = CommitWalk(FrameWalk(segment, from: ChainState(startOf: header), end: end, searchesBits: false))
    reader = CommitReader(segment, end: end)
  }

  @discardableResult
  func next() throws(LogError) -> CommitWalk.Step? {
    do throws(Errno) {
      step = try walk.next()
    } catch {
      throw .ioFailed(walk.segment.failure(.read, error))
    }
    return step
  }

  func readStored(
    _ commit: InspectedCommit, _ body: (FrameHeader, UnsafeRawBufferPointer) throws(LogError) -> Void
  ) throws(LogError) {
    try reader.readStored(commit, body)
  }
}
