internal import Glibc

/// Opens a store: lock, META, chain of segments, tail, replay, repair, in this order. Docs/Recovery.md has the table of what a crash
/// at each step leaves.
///
/// Nothing is changed before everything has been read and judged; where the verdict is corruption nothing is changed at all.
struct LogOpener {
  let directory: StoreDirectory
  let options: LogOptions
  private var report = OpenReport()
  /// Of the META that the current look began with.
  private var revision: UInt64 = 0

  private var fileSystem: any FileSystem { directory.fileSystem }
  private var environment: Environment { options.environment }

  init(path: String, options: LogOptions) throws(LogError) {
    self.options = try options.checked()
    directory = StoreDirectory(path: try StoreDirectory.absolute(path), fileSystem: options.environment.fileSystem)
  }

  // MARK: Read-only

  /// What a read-only open has: no lock, no writer, a view of what was durable when it looked.
  ///
  /// Beside a live writer a reset or release may remove files that META still named a moment ago. Then META is read again and everything
  /// starts over, three times.
  mutating func openForReading(_ consumer: Replay.Consumer?) throws(LogError) -> (Published, OpenReport) {
    let started = environment.clock.monotonicNanoseconds()
    var attempt = 1
    while true {
      do throws(LogError) {
        let view = try lookForReading()
        return try deliver(view, to: consumer, since: started)
      } catch {
        // A file that is missing while META stays as it is was lost, not removed.
        guard error.meansFileGone, try RootFile.open(directory, for: .read).current.revision != revision else {
          throw error
        }
        guard attempt < 3, report.commitCount == 0 else { throw .generationGone }
        attempt += 1
        report = OpenReport()
      }
    }
  }

  /// Everything a read-only open has found out before it delivers anything.
  private struct ReadView {
    var root: RootSlot
    var headers: [SegmentHeader]
    var start: ChainState?
    var spans: [ReplaySpan]
  }

  /// Reads and verifies. A commit of several frames must not be delivered in part, so damage is looked for first.
  private mutating func lookForReading() throws(LogError) -> ReadView {
    let listing = try readListing()
    guard listing.hasRoot else { throw listing.missingRoot(in: directory) }
    let root = try RootFile.open(directory, for: .read).current
    revision = root.revision
    let chain = try SegmentChain.read(listing, root: root, in: directory)
    report.warnings += chain.events
    report.unknown = listing.unknown
    guard let last = chain.headers.last else {
      return ReadView(root: root, headers: [], start: nil, spans: [])
    }
    let start = try chain.stateBehindAnchor(of: root, in: directory)
    let tail = try SegmentFile(opening: directory.path(of: last.fileName.description), header: last, in: fileSystem)
    let evidence = try TailJudge(tail, root: root).examine()
    do throws(LogError) {
      try evidence.refuseIfCorrupt(tail: tail, root: root)
    } catch {
      guard case .corrupt(let damage) = error else { throw error }
      report.damage = damage
    }
    let plan = spans(chain, from: start, end: evidence.commitEnd)
    do throws(LogError) {
      _ = try replay(plan, from: start, consumer: nil)
    } catch {
      guard case .corrupt(let damage) = error, let offset = damage.offset else { throw error }
      report.damage = damage
      let prefix = try prefix(of: plan, from: start, damagedFile: damage.file, at: offset)
      return ReadView(root: root, headers: chain.headers, start: start, spans: prefix)
    }
    return ReadView(root: root, headers: chain.headers, start: start, spans: plan)
  }

  private mutating func deliver(
    _ view: ReadView, to consumer: Replay.Consumer?, since started: UInt64
  ) throws(LogError) -> (Published, OpenReport) {
    guard let start = view.start else {
      report.nanoseconds = environment.clock.monotonicNanoseconds() &- started
      return (published(root: view.root, chain: [], state: nil), report)
    }
    let outcome = try replay(view.spans, from: start, consumer: consumer)
    finishReport(outcome.state, outcome.totals, since: started)
    var root = view.root
    // META does not know of a RESET whose last steps have not been taken.
    if let reset = outcome.lastReset, outcome.state.epoch > root.epoch { root.layers = reset.payload.base }
    return (published(root: root, chain: view.headers, state: outcome.state), report)
  }

  /// The spans in front of damage, up to the last complete commit.
  private func prefix(
    of plan: [ReplaySpan], from start: ChainState, damagedFile: String, at offset: Int64
  ) throws(LogError) -> [ReplaySpan] {
    var kept: [ReplaySpan] = []
    var state = start
    for var span in plan {
      if state.lsn < span.header.firstFrameLSN { state = ChainState(startOf: span.header, commitTag: state.commitTag) }
      let segment = try SegmentFile(opening: span.path, header: span.header, in: fileSystem)
      let end = span.path == damagedFile ? segment.lsn(at: offset) : span.end
      var scanner = SegmentScanner(segment, from: state, end: segment.offset(of: span.end))
      var complete = state
      do throws(Errno) {
        while scanner.state.lsn < end, case .frame = try scanner.next(provingBody: false) {
          if !scanner.state.isInsideCommit { complete = scanner.state }
        }
      } catch {
        throw .ioFailed(segment.failure(.read, error))
      }
      state = complete
      if span.path == damagedFile || complete.lsn < span.end {
        span.end = complete.lsn
        span.endTag = nil
        kept.append(span)
        break
      }
      kept.append(span)
    }
    return kept
  }

  // MARK: Writable

  /// What a writable open has.
  struct Opened {
    var writer: Writer
    var published: Published
    var lock: DirectoryLock
    var report: OpenReport
  }

  mutating func openForWriting(_ consumer: Replay.Consumer?, extender: HelperThread?) throws(LogError) -> Opened {
    let started = environment.clock.monotonicNanoseconds()
    if options.createsIfMissing {
      try makeDirectoryIfMissing()
    } else {
      try requireDirectory()
    }
    let lock = try DirectoryLock(directory)
    let listing = try readListing()
    if !listing.hasRoot {
      if listing.holdsData || !options.createsIfMissing { throw listing.missingRoot(in: directory) }
      try StoreCreation.makeRoot(directory, environment: environment)
      report.isNew = true
    }
    let root = try RootFile.open(directory, for: .readWrite)
    if let slot = root.damagedSlot { report.warnings.append(.rootSlotDamaged(slot: slot)) }
    try RootFile.refuseIfReadOnly(root.current, in: directory)
    warnOfFileSystem()
    let space = SpaceAhead(directory: directory, options: options, helper: extender)
    let chain = try SegmentChain.read(listing, root: root.current, in: directory)
    report.warnings += chain.events
    report.unknown = listing.unknown
    if chain.headers.isEmpty {
      return try openEmpty(root, chain, space, lock, listing, since: started)
    }
    return try openExisting(root, chain, space, lock, listing, consumer, since: started)
  }

  private mutating func openEmpty(
    _ root: RootFile, _ chain: SegmentChain, _ space: SpaceAhead, _ lock: DirectoryLock, _ listing: StoreListing,
    since started: UInt64
  ) throws(LogError) -> Opened {
    try chain.refuseIfEmpty(root: root.current, in: directory)
    // A process that died while it made the store may have left META's name in the cache alone. A segment whose name survives it is
    // a store without its root.
    if !report.isNew { try directory.syncEntries() }
    try removeLeftOvers(listing, root: root, unfinished: chain.unfinished)
    let segment = try StoreCreation.makeFirstSegment(
      directory, root: root, space: space, environment: environment)
    let state = ChainState(startOf: segment.header)
    let byteCount = try segment.byteCount()
    space.activate(path: segment.path, allocatedEnd: byteCount & ~7)
    LockFile.write(in: directory, now: environment.clock.wallMilliseconds())
    report.nanoseconds = environment.clock.monotonicNanoseconds() &- started
    let writer = Writer(
      directory: directory, options: options, space: space, root: root, segment: segment, chain: state,
      stated: state.lsn)
    return Opened(
      writer: writer, published: published(root: root.current, chain: [segment.header], state: state), lock: lock,
      report: report)
  }

  private mutating func openExisting(
    _ root: RootFile, _ chain: SegmentChain, _ space: SpaceAhead, _ lock: DirectoryLock, _ listing: StoreListing,
    _ consumer: Replay.Consumer?, since started: UInt64
  ) throws(LogError) -> Opened {
    let last = chain.headers[chain.headers.count - 1]
    let start = try chain.stateBehindAnchor(of: root.current, in: directory)
    let tail = try openForAppending(last)
    let evidence = try examine(tail, root: root.current)
    try evidence.refuseIfCorrupt(tail: tail, root: root.current)
    let outcome = try replay(spans(chain, from: start, end: evidence.commitEnd), from: start, consumer: consumer)
    try checkLayers(root.current, state: outcome.state)
    // Everything is read and judged; from here on the store is changed.
    for header in chain.untrimmed { try trim(header, chain) }
    let allocatedEnd = try cutTail(tail, evidence)
    space.activate(path: tail.path, allocatedEnd: allocatedEnd)
    let writer = Writer(
      directory: directory, options: options, space: space, root: root, segment: tail, chain: outcome.state,
      stated: max(evidence.statedPromise, root.current.closedCleanly ? outcome.state.lsn : last.firstFrameLSN))
    try catchUp(writer, chain, outcome.state, reset: outcome.lastReset)
    try removeLeftOvers(listing, root: root, unfinished: chain.unfinished)
    restoreReserve(space, tail, outcome.state)
    LockFile.write(in: directory, now: environment.clock.wallMilliseconds())
    finishReport(outcome.state, outcome.totals, since: started)
    var headers = chain.headers
    headers.removeAll { $0.ordinal < root.current.firstLiveOrdinal }
    return Opened(
      writer: writer, published: published(root: root.current, chain: headers, state: outcome.state), lock: lock,
      report: report)
  }

  // MARK: Steps

  private func makeDirectoryIfMissing() throws(LogError) {
    let status = try status()
    if let status, status.kind != .directory { _ = try readListing() }
    let rootStatus = try? fileSystem.statusIfPresent(at: directory.path(of: RootSlot.fileName))
    if status == nil || rootStatus == nil { try StoreCreation.makeDirectory(directory) }
  }

  private func requireDirectory() throws(LogError) {
    guard let status = try status() else { throw .noStore(path: directory.path) }
    if status.kind != .directory { _ = try readListing() }
  }

  private func readListing() throws(LogError) -> StoreListing {
    do throws(Errno) {
      return StoreListing(
        try fileSystem.retryingInterrupts { () throws(Errno) in try fileSystem.list(directory.path) })
    } catch {
      let isMissing = error == .noSuchFile
      if isMissing, try status() == nil { throw .noStore(path: directory.path) }
      if isMissing { throw .unsupportedFormat(file: directory.path, detail: .brokenLink) }
      // A file, or anything else that has no names in it.
      if error.meansNoRegularFile {
        throw .unsupportedFormat(file: directory.path, detail: .ofFile(at: directory.path))
      }
      throw .ioFailed(IOFailure(operation: .list, path: directory.path, errno: error))
    }
  }

  private func status() throws(LogError) -> FileStatus? {
    try directory.perform(.status, directory.path) { () throws(Errno) in
      try fileSystem.statusIfPresent(at: directory.path)
    }
  }

  private mutating func warnOfFileSystem() {
    guard let kind = try? fileSystem.kind(of: directory.path), kind == .copyOnWrite || kind == .network else { return }
    report.warnings.append(.fileSystemWarning(kind))
  }

  private func openForAppending(_ header: SegmentHeader) throws(LogError) -> SegmentFile {
    let path = directory.path(of: header.fileName.description)
    let file = try directory.perform(.open, path) { () throws(Errno) in
      try fileSystem.openRetrying(path, .readWrite)
    }
    return SegmentFile(fileSystem: fileSystem, file: file, path: path, header: header)
  }

  /// Judges the tail of a store that is about to be written to.
  ///
  /// Before anything of the tail is believed it is synced and read again from the device: an earlier process may have had a failed
  /// sync that left pages marked clean whose bytes never arrived.
  private mutating func examine(_ tail: SegmentFile, root: RootSlot) throws(LogError) -> TailEvidence {
    let judge = TailJudge(tail, root: root)
    if root.closedCleanly {
      // Everything was synced and META says so; there is nothing to settle, and nothing is written.
      let evidence = try judge.examine()
      if evidence.state.tag == root.tailTag, evidence.isZeroBehind {
        report.wasClosedCleanly = true
        return evidence
      }
    }
    return try judge.examine { [directory, fileSystem] (promise) throws(LogError) in
      try directory.perform(.sync, tail.path) { () throws(Errno) in try fileSystem.syncData(tail.file) }
      try directory.perform(.syncDirectory, directory.path) { () throws(Errno) in
        try fileSystem.syncDirectory(directory.path)
      }
      let offset = max(0, tail.offset(of: max(promise, tail.header.baseLSN))) & ~4095
      // A hint: a file system that has no cache to drop has answered from the device already.
      do throws(Errno) { try fileSystem.dropCache(tail.file, from: offset) } catch {}
    }
  }

  /// The stretches of the log to replay.
  private func spans(_ chain: SegmentChain, from start: ChainState, end: LSN) -> [ReplaySpan] {
    var spans: [ReplaySpan] = []
    for (index, header) in chain.headers.enumerated() {
      let isLast = index == chain.headers.count - 1
      let spanEnd = isLast ? end : chain.headers[index + 1].baseLSN
      let isBefore = isLast ? spanEnd < start.lsn : spanEnd <= start.lsn
      guard !isBefore || isLast else { continue }
      spans.append(
        ReplaySpan(
          header: header, path: directory.path(of: header.fileName.description), end: spanEnd,
          endTag: isLast ? nil : chain.headers[index + 1].predecessor.headTag))
    }
    return spans
  }

  private struct Outcome {
    var state: ChainState
    var totals: Replay.Totals
    /// The last RESET among what was replayed, and where it stands.
    var lastReset: Reset?

    struct Reset {
      var payload: ResetPayload
      var lsn: LSN
    }
  }

  private func replay(
    _ spans: [ReplaySpan], from start: ChainState, consumer: Replay.Consumer?
  ) throws(LogError) -> Outcome {
    let threadCount = options.replayThreadCount ?? max(1, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var lastReset: Outcome.Reset?
    let (state, totals) = try Replay.run(
      spans, from: start, fileSystem: fileSystem, threadCount: threadCount
    ) { (batch) throws(LogError) in
      if !batch.resets.isEmpty {
        for frame in batch.frames {
          if let payload = batch.reset(of: frame) { lastReset = Outcome.Reset(payload: payload, lsn: frame.lsn) }
        }
      }
      try consumer?(&batch)
    }
    return Outcome(state: state, totals: totals, lastReset: lastReset)
  }

  /// Checks that the layers the state stands on are there. Their contents are proved when they are read.
  private func checkLayers(_ root: RootSlot, state: ChainState) throws(LogError) {
    guard root.epoch == state.epoch else { return }
    for layer in root.layers { try checkLayer(layer) }
  }

  private func checkLayer(_ layer: LayerEntry) throws(LogError) {
    let path = directory.path(of: layer.fileName)
    let status = try directory.perform(.status, path) { () throws(Errno) in
      try fileSystem.statusIfPresent(at: path)
    }
    guard let status, status.kind == .file, UInt64(clamping: status.byteCount) == layer.byteCount else {
      throw .corrupt(
        CorruptionReport(
          reason: .layerDamaged, file: path, expected: "\(layer.byteCount) bytes",
          found: status.map { "\($0.byteCount) bytes" } ?? "no such file"))
    }
  }

  /// Gives back the space behind a closed segment's end.
  private func trim(_ header: SegmentHeader, _ chain: SegmentChain) throws(LogError) {
    guard let next = chain.headers.first(where: { $0.ordinal == header.ordinal + 1 }) else { return }
    let segment = try openForAppending(header)
    try directory.perform(.truncate, segment.path) { () throws(Errno) in
      try fileSystem.truncate(segment.file, to: Int64(next.predecessor.byteCount))
    }
    try directory.perform(.sync, segment.path) { () throws(Errno) in try fileSystem.sync(segment.file) }
  }

  /// Cuts a torn tail; answers up to where the file is allocated and zero behind the tail.
  private mutating func cutTail(_ tail: SegmentFile, _ evidence: TailEvidence) throws(LogError) -> Int64 {
    let end = tail.offset(of: evidence.commitEnd)
    let isClean = evidence.isZeroBehind && evidence.commitEnd == evidence.verifiedEnd && evidence.fileByteCount % 8 == 0
    if isClean { return evidence.fileByteCount }
    try directory.perform(.truncate, tail.path) { () throws(Errno) in
      try fileSystem.truncate(tail.file, to: end)
    }
    try directory.perform(.sync, tail.path) { () throws(Errno) in try fileSystem.sync(tail.file) }
    if !(evidence.isZeroBehind && evidence.commitEnd == evidence.verifiedEnd) {
      let cut = OpenReport.Cut(
        file: tail.header.fileName.description, offset: end, byteCount: evidence.contentEnd - end,
        lastSequence: evidence.laterSequenceMax)
      report.cut = cut
      options.observer?(.tailCut(file: cut.file, byteCount: cut.byteCount))
    }
    return end
  }

  /// Lets META know what the log already says: a segment born right before a crash, a RESET whose last steps are due.
  private mutating func catchUp(
    _ writer: Writer, _ chain: SegmentChain, _ state: ChainState, reset: Outcome.Reset?
  ) throws(LogError) {
    if state.epoch > writer.root.current.epoch {
      guard let reset else {
        throw .corrupt(
          CorruptionReport(
            reason: .logOlderThanRoot, file: directory.path, expected: "the RESET that began epoch \(state.epoch)",
            found: "none behind the anchor"))
      }
      for layer in reset.payload.base { try checkLayer(layer) }
      guard let header = chain.headers.last(where: { $0.baseLSN <= reset.lsn }) else { return }
      let path = directory.path(of: header.fileName.description)
      let segment = try SegmentFile(opening: path, header: header, in: fileSystem)
      let before = try ResetCompletion.state(before: reset.lsn, in: segment)
      try writer.writeRoot(both: true) { slot in
        ResetCompletion.apply(
          to: &slot, payload: reset.payload, resetSequence: state.reset.sequence, ordinal: header.ordinal,
          before: before)
        Self.note(chain, in: &slot)
      }
      report.finishedReset = true
    } else if !chain.lastIsNamedByRoot {
      try writer.writeRoot { Self.note(chain, in: &$0) }
    }
  }

  private static func note(_ chain: SegmentChain, in slot: inout RootSlot) {
    guard let last = chain.headers.last else { return }
    slot.lastCreatedOrdinal = last.ordinal
    slot.lastCreatedID = last.id
    slot.closedCleanly = false
    slot.tailTag = 0
  }

  /// Removes files of ours that nothing reaches: lowest segment first, so that what is left is always a chain.
  private mutating func removeLeftOvers(
    _ listing: StoreListing, root: RootFile, unfinished: SegmentFileName?
  ) throws(LogError) {
    let live = Set(root.current.layers.map(\.fileName))
    var names = listing.segments.filter { $0.ordinal < root.current.firstLiveOrdinal }.map(\.description)
    names += listing.layers.map(\.description).filter { !live.contains($0) }
    // Before anything goes that a root has named, either slot alone must lead to what stays.
    if !names.isEmpty, !root.slotsAgree { try root.write() }
    if let unfinished { names.append(unfinished.description) }
    names += listing.unfinished
    guard !names.isEmpty else { return }
    for name in names {
      let path = directory.path(of: name)
      do throws(Errno) {
        if try fileSystem.statusIfPresent(at: path)?.kind == .directory {
          try directory.removeTree(path)
        } else {
          try fileSystem.unlinkIfPresent(path)
        }
        report.removed.append(name)
      } catch {
        report.warnings.append(
          .leftOver(file: path, IOFailure(operation: .unlink, path: path, errno: error)))
      }
    }
    try directory.syncEntries()
  }

  /// A cut gave the space behind the tail back. RESET needs it to be there even when the disk is full later.
  private func restoreReserve(_ space: SpaceAhead, _ tail: SegmentFile, _ state: ChainState) {
    if report.wasClosedCleanly { return }
    // On a full disk the first append tells; a reset tries again.
    _ = try? space.ensure(tail.offset(of: state.lsn))
  }

  // MARK: Results

  private func published(root: RootSlot, chain: [SegmentHeader], state: ChainState?) -> Published {
    let position = state.map { Position(epoch: $0.epoch, sequence: $0.sequence, tag: $0.commitTag) } ?? .start
    return Published(
      epoch: state?.epoch ?? 0, last: position, durable: position, durableLSN: state?.lsn ?? .zero, root: root,
      segments: chain, resetSequence: state?.reset.sequence ?? .zero)
  }

  private mutating func finishReport(_ state: ChainState, _ totals: Replay.Totals, since started: UInt64) {
    report.epoch = state.epoch
    report.last = Position(epoch: state.epoch, sequence: state.sequence, tag: state.commitTag)
    report.commitCount = totals.commitCount
    report.recordCount = totals.recordCount
    report.storedByteCount = totals.storedByteCount
    report.rawByteCount = totals.rawByteCount
    for warning in report.warnings { options.observer?(warning) }
    report.nanoseconds = environment.clock.monotonicNanoseconds() &- started
  }
}

extension LogError {
  /// A file that META named is not there: removed under a reader, or lost.
  fileprivate var meansFileGone: Bool {
    switch self {
    case .ioFailed(let failure): failure.errno.rawValue == ENOENT
    case .corrupt(let report): report.reason == .segmentMissing
    default: false
    }
  }
}
