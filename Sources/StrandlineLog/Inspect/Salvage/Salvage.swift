/// Copies what verifies of a damaged store to a new one. The source is only read.
///
/// Keeps every commit of the saved epoch that verifies whole, under its own number; GAP frames stand for the numbers that are
/// missing. Uses either copy of a segment's header, and works without META and with segments missing. The epoch is the highest that any
/// header, RESET or root speaks of, so what a reset erased does not come back by accident.
///
/// The new store is built under a temporary name, synced, and renamed. It has the source's identity and a new incarnation, so a server
/// or a client that knew the source notices. What a frame holds is copied as it is stored.
public enum Salvage {
  /// - Parameters:
  ///   - path: the damaged store's directory, or one segment file.
  ///   - target: where the new store is to stand; nothing may be there, its parent must exist.
  ///   - epoch: an older epoch to save instead of the highest.
  ///   - environment: the disk, the clocks and chance; the machine's own.
  /// - Throws: ``LogError/targetExists(path:)``; ``LogError/locked(path:by:)`` while a writer has the source open;
  ///   ``LogError/noStore(path:)`` if nothing of a store is at `path`, or nothing of the asked epoch;
  ///   ``LogError/unsupportedFormat(file:detail:)`` if what is there was never one; ``LogError/corrupt(_:)`` if
  ///   nothing in it can be used; ``LogError/invalidOption(name:reason:)`` if `target` lies inside the source;
  ///   ``LogError/outOfSpace(_:)`` and ``LogError/ioFailed(_:)`` with nothing at `target`;
  ///   ``LogError/copyUnconfirmed(path:_:)`` with the whole new store at `target`.
  /// - Complexity: reads the source twice; memory is bounded by the largest frame and the number of files.
  @discardableResult
  public static func run(
    from path: String, to target: String, epoch: UInt64? = nil, environment: Environment = .system
  ) throws(LogError) -> SalvageReport {
    try run(from: path, to: target, epoch: epoch, environment: environment, layers: nil)
  }

  /// As above, with what knows the layers; without it those are copied that have the length META says.
  @_spi(Engine) public static func run(
    from path: String, to target: String, epoch: UInt64?, environment: Environment, layers: (any LayerSalvager)?
  ) throws(LogError) -> SalvageReport {
    var inspector = try StoreInspector(path: path, environment: environment)
    inspector.searchesBits = false
    let survey = try inspector.survey()
    if case .held(let owner) = survey.lock { throw .locked(path: survey.path, by: owner) }
    if survey.isForeign { throw .unsupportedFormat(file: survey.path, detail: .notAStore) }
    guard !survey.isEmpty else { throw .noStore(path: survey.path) }
    let target = try StoreDirectory.absolute(target)
    guard !target.hasPrefix("\(survey.path)/") else {
      throw .invalidOption(name: "target", reason: "\(target) lies inside the store that is read")
    }
    let tail: TailInspection?
    do throws(LogError) {
      tail = try survey.examineTail()
    } catch {
      // What cannot be read is found to be so again, segment by segment.
      guard case .ioFailed = error else { throw error }
      tail = nil
    }
    var source = SalvageSource(survey, tail: tail)
    try source.scan()
    var run = try SalvageRun(source, target: target, epoch: epoch, environment: environment, layers: layers)
    return try run.run()
  }
}

/// One salvage, after the source was looked through.
private struct SalvageRun {
  let source: SalvageSource
  let target: String
  let epoch: UInt64
  let facts: SalvageSource.EpochFacts
  let environment: Environment
  let layerSalvager: (any LayerSalvager)?
  private var report: SalvageReport
  private var fileSystem: any FileSystem { environment.fileSystem }

  init(
    _ source: SalvageSource, target: String, epoch wanted: UInt64?, environment: Environment,
    layers: (any LayerSalvager)?
  ) throws(LogError) {
    let survey = source.survey
    guard let highest = source.epochs.keys.max(), source.identifier != nil else {
      throw survey.chainError ?? survey.segments.lazy.compactMap(\.error).first ?? .noStore(path: survey.path)
    }
    guard let facts = source.epochs[wanted ?? highest] else { throw .noStore(path: survey.path) }
    self.source = source
    self.target = target
    self.facts = facts
    self.environment = environment
    layerSalvager = layers
    epoch = wanted ?? highest
    report = SalvageReport(source: source.survey.path, target: target, epoch: epoch, highestEpoch: highest)
  }

  mutating func run() throws(LogError) -> SalvageReport {
    let there: FileStatus?
    do throws(Errno) {
      there = try fileSystem.statusIfPresent(at: target)
    } catch {
      throw .ioFailed(IOFailure(operation: .status, path: target, errno: error))
    }
    if there != nil { throw .targetExists(path: target) }
    let place = NewDirectory(
      target: target, temporary: "\(target).tmp-\(hexadecimal(environment.randomBits()))", fileSystem: fileSystem)
    // By hand: a closure could not change `self`.
    try place.begin()
    do throws(LogError) {
      try fill(place.directory)
      try layerSalvager?.finish(place.directory, report)
    } catch {
      throw place.abandon(error)
    }
    try place.finish()
    return report
  }

  // MARK: - What the new store begins with

  /// The root of the source, if it speaks of the epoch that is saved.
  private var root: RootSlot? {
    source.survey.root.root.flatMap { $0.epoch == epoch ? $0 : nil }
  }

  /// The last number in front of the new store's first frame.
  private var baseSequence: SequenceNumber {
    // In front of the RESET, if it is here; behind it, if it was lost.
    var base = SequenceNumber.zero
    if let reset = facts.reset, epoch > 0 {
      base = facts.hasWholeReset ? SequenceNumber(reset.sequence.rawValue - 1) : reset.sequence
    }
    guard let root else { return base }
    // What a release gave up on purpose is not lost: the layers hold it.
    let first = source.groups.first?.header
    if let first, first.ordinal == root.firstLiveOrdinal, first.epoch == epoch { return max(base, first.baseSequence) }
    if let first, first.ordinal > root.firstLiveOrdinal, root.anchor.ordinal != 0 {
      return max(base, min(root.anchor.sequence, first.baseSequence))
    }
    return base
  }

  private func plan(_ directory: StoreDirectory) -> StoreImageWriter.Plan {
    var plan = StoreImageWriter.Plan(
      directory: directory, identifier: source.identifier ?? StoreIdentifier(high: 0, low: 0),
      incarnation: environment.randomBits(), epoch: epoch, baseSequence: baseSequence)
    let resetIsAhead = facts.hasWholeReset && (facts.reset.map { $0.sequence > plan.baseSequence } ?? false)
    if resetIsAhead {
      plan.epoch = epoch - 1
    } else if epoch > 0, let reset = facts.reset {
      plan.reset = reset
    }
    return plan
  }

  // MARK: - Copying

  private mutating func fill(_ directory: StoreDirectory) throws(LogError) {
    report.usedRoot = root != nil
    report.unusable = source.unusable
    report.segments = source.groups.flatMap(\.paths)
    if epoch == report.highestEpoch { report.lostEnd = source.lostEnd }
    noteMissingOrdinals()
    var layers = try keepLayers(root?.layers ?? [], in: directory)
    let plan = plan(directory)
    // A RESET in front of the first segment was given up with the segment that held it; the layers know what it carried.
    report.hasReset = epoch == 0 || facts.hasWholeReset || source.groups.first?.header.epoch == epoch
    var writer = StoreImageWriter(plan, environment: environment)
    // With part of a layer lost the log is replayed from its beginning: what it still holds makes up for some of it.
    let wantedAnchor = report.lostLayers.isEmpty && report.damagedLayers.isEmpty ? root?.anchor : nil
    var copying = Copying(anchorSequence: wantedAnchor.flatMap { $0.ordinal == 0 ? nil : $0.sequence })
    try copying.noteAnchor(&writer)
    for group in source.groups {
      try copy(group, &writer, &copying, &layers, directory)
    }
    try fillGap(through: facts.sequenceMax, &writer, &copying)
    report.byteCount = writer.byteCount
    let anchor = copying.anchor ?? .none
    try writer.finish(layers: layers, anchor: anchor)
  }

  /// What happened since the last commit that was kept.
  private struct Copying {
    /// The number behind which the root says replay begins.
    var anchorSequence: SequenceNumber?
    var anchor: RootSlot.Anchor?
    var sawDamage = false
    var sawIncomplete = false
    var previousOrdinal: UInt64?
    var skippedSegments = false

    mutating func noteAnchor(_ writer: inout StoreImageWriter) throws(LogError) {
      if anchor == nil, writer.lastSequence == anchorSequence { anchor = try writer.anchorHere() }
    }

    var reason: GapPayload.Reason {
      if skippedSegments { return .missing }
      if sawDamage { return .damaged }
      return sawIncomplete ? .incomplete : .missing
    }

    mutating func settle() {
      sawDamage = false
      sawIncomplete = false
      skippedSegments = false
    }
  }

  private mutating func copy(
    _ group: SalvageSource.Group, _ writer: inout StoreImageWriter, _ copying: inout Copying,
    _ layers: inout [LayerEntry], _ directory: StoreDirectory
  ) throws(LogError) {
    if let previous = copying.previousOrdinal, group.header.ordinal != previous + 1 { copying.skippedSegments = true }
    copying.previousOrdinal = group.header.ordinal
    let cursors = try source.cursors(of: group)
    for cursor in cursors { advance(cursor, &copying) }
    while let cursor = Self.first(of: cursors), case .commit(let commit)? = cursor.step {
      if commit.epoch < epoch {
        report.olderCommitCount += 1
      } else if commit.epoch == epoch, commit.sequence > writer.lastSequence {
        try keep(commit, of: cursor, &writer, &copying)
        if case .reset(let payload) = commit.content, root == nil {
          // Without a root the RESET is one: its base, and everything behind it.
          layers = try keepLayers(payload.base, in: directory)
        }
      }
      for other in cursors {
        while case .commit(let rival)? = other.step, rival.lsn <= commit.lsn { advance(other, &copying) }
      }
    }
  }

  /// The cursor whose whole commit comes first.
  private static func first(of cursors: [SalvageCursor]) -> SalvageCursor? {
    func lsn(_ cursor: SalvageCursor) -> LSN? {
      if case .commit(let commit)? = cursor.step { commit.lsn } else { nil }
    }
    return cursors.filter { lsn($0) != nil }.min { (lsn($0) ?? .max) < (lsn($1) ?? .max) }
  }

  /// Moves to the next whole commit and notes what lies in between.
  private mutating func advance(_ cursor: SalvageCursor, _ copying: inout Copying) {
    while true {
      let step: CommitWalk.Step?
      do throws(LogError) {
        step = try cursor.next()
      } catch {
        // Bytes the system cannot read are lost like others; the scan has reported the file.
        copying.sawDamage = true
        return
      }
      switch step {
      case nil: return
      case .commit(let commit) where commit.state == .whole: return
      case .commit(let commit):
        report.brokenCommitCount += 1
        if commit.state == .damaged { copying.sawDamage = true } else { copying.sawIncomplete = true }
      case .damage(let stretch):
        guard !stretch.isZero else { continue }
        copying.sawDamage = true
        report.unreadableByteCount += stretch.byteCount
      case .mark, .frame: continue
      }
    }
  }

  private mutating func keep(
    _ commit: InspectedCommit, of cursor: SalvageCursor, _ writer: inout StoreImageWriter, _ copying: inout Copying
  ) throws(LogError) {
    if case .gap(let gap) = commit.content {
      if gap.first > writer.lastSequence.next {
        try fillGap(through: SequenceNumber(gap.first.rawValue - 1), &writer, &copying)
      }
      try fillGap(through: gap.last, reason: gap.reason, &writer, &copying)
      return
    }
    try fillGap(through: SequenceNumber(commit.sequence.rawValue - 1), &writer, &copying)
    try writer.beginCommit(byteCount: commit.byteCount)
    try cursor.readStored(commit) { (header, stored) throws(LogError) in
      try writer.append(like: header, stored: stored)
    }
    try copying.noteAnchor(&writer)
    copying.settle()
    report.commitCount += 1
    report.recordCount += commit.recordCount
    report.firstSequence = report.firstSequence ?? commit.sequence
    report.lastSequence = commit.sequence
  }

  /// Writes GAP frames so that the next number is the one behind `last`; one of them ends at the anchor if that lies inside.
  private mutating func fillGap(
    through last: SequenceNumber, reason: GapPayload.Reason? = nil, _ writer: inout StoreImageWriter,
    _ copying: inout Copying
  ) throws(LogError) {
    while writer.lastSequence < last {
      var end = last
      if let anchor = copying.anchorSequence, copying.anchor == nil, writer.lastSequence < anchor, anchor < last {
        end = anchor
      }
      let gap = GapPayload(first: writer.lastSequence.next, last: end, reason: reason ?? copying.reason)
      try writer.appendGap(through: end, reason: gap.reason)
      report.add(gap)
      try copying.noteAnchor(&writer)
    }
  }

  // MARK: - Layers, ordinals

  /// Copies what can be kept of the layers and notes the rest.
  private mutating func keepLayers(
    _ entries: [LayerEntry], in directory: StoreDirectory
  ) throws(LogError) -> [LayerEntry] {
    var kept: [LayerEntry] = []
    let copy = StoreCopy(directory: source.survey.directory, environment: environment)
    for entry in entries {
      let path = source.survey.directory.path(of: entry.fileName)
      switch try keep(entry, path, in: directory) {
      case .whole:
        try copy.transfer(entry.fileName, to: directory, byteCount: Int64(entry.byteCount), zeros: 0, method: .copy)
        report.layers.append(path)
        kept.append(entry)
      case .rebuilt(let rebuilt, let isComplete):
        if isComplete { report.layers.append(path) } else { report.damagedLayers.append(path) }
        kept.append(rebuilt)
      case .lost: report.lostLayers.append(path)
      }
    }
    return kept
  }

  private func keep(_ entry: LayerEntry, _ path: String, in directory: StoreDirectory) throws(LogError) -> KeptLayer {
    if let layerSalvager, let identifier = source.identifier {
      return try layerSalvager.keep(entry, of: identifier, from: source.survey.directory, to: directory)
    }
    let status: FileStatus?
    do throws(Errno) {
      status = try fileSystem.statusIfPresent(at: path)
    } catch {
      throw .ioFailed(IOFailure(operation: .status, path: path, errno: error))
    }
    guard let status, status.kind == .file, UInt64(clamping: status.byteCount) == entry.byteCount else { return .lost }
    return .whole
  }

  private mutating func noteMissingOrdinals() {
    let present = Set(source.groups.map(\.header.ordinal))
    guard let lowest = present.min(), let highest = present.max() else {
      if let root, root.lastCreatedOrdinal >= root.firstLiveOrdinal {
        report.missingOrdinals = [root.firstLiveOrdinal...root.lastCreatedOrdinal]
      }
      return
    }
    let first = root.map { min($0.firstLiveOrdinal, lowest) } ?? lowest
    let last = root.map { max($0.lastCreatedOrdinal, highest) } ?? highest
    var expected = first
    for ordinal in present.sorted() {
      if ordinal > expected { report.missingOrdinals.append(expected...ordinal - 1) }
      expected = ordinal + 1
    }
    if expected <= last { report.missingOrdinals.append(expected...last) }
  }
}
