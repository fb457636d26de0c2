/// The end of the log that is written to. Every method is called with the lane held.
///
/// Writes frames, syncs, rolls to the next segment and keeps META; knows nothing of who waits. After a failed sync or write it is
/// poisoned: what the failing call covered is in doubt, so nothing may build on it (Linux marks pages clean after a failed sync, and a
/// second sync would answer success for bytes that are gone).
final class Writer {
  let directory: StoreDirectory
  let options: LogOptions
  let space: SpaceAhead
  let root: RootFile
  private(set) var segment: SegmentFile
  /// Headers of segments begun since they were last made public; one group of commits may begin several.
  private var begun: [SegmentHeader] = []
  /// Behind the last frame that was written.
  private(set) var chain: ChainState
  /// A sync has returned success for everything in front of this.
  private(set) var synced: LSN
  /// The position of the last commit in front of `synced`.
  private(set) var syncedPosition: Position
  /// The farthest position that a frame on disk vouches for.
  private(set) var stated: LSN
  private(set) var poison: IOFailure?
  /// Commits written behind `synced`, and when the first of them was.
  private(set) var unsyncedCommitCount = 0
  private(set) var unsyncedSince: UInt64 = 0
  /// A RESET that is in the log and that META does not know in both slots yet.
  var unfinishedReset: UnfinishedReset?

  struct UnfinishedReset {
    var payload: ResetPayload
    var recordCount: Int
    var sequence: SequenceNumber
    var ordinal: UInt64
    /// The chain in front of it.
    var before: ChainState
    /// Behind it.
    var end: LSN
  }

  private var buffer: UnsafeMutableRawBufferPointer
  private var bufferedByteCount = 0
  /// Position of the first byte in `buffer`.
  private var bufferStart: LSN
  var counters = LogStatus.Counters()

  init(
    directory: StoreDirectory, options: LogOptions, space: SpaceAhead, root: RootFile, segment: SegmentFile,
    chain: ChainState, stated: LSN
  ) {
    self.directory = directory
    self.options = options
    self.space = space
    self.root = root
    self.segment = segment
    self.chain = chain
    synced = chain.lsn
    syncedPosition = Position(epoch: chain.epoch, sequence: chain.sequence, tag: chain.commitTag)
    self.stated = stated
    bufferStart = chain.lsn
    buffer = .allocate(byteCount: 64 << 10, alignment: 4096)
  }

  deinit { buffer.deallocate() }

  var position: Position { Position(epoch: chain.epoch, sequence: chain.sequence, tag: chain.commitTag) }
  private var tailOffset: Int64 { segment.offset(of: chain.lsn) }
  private var environment: Environment { options.environment }

  /// Hands over the headers of segments begun since the last call, in order.
  func takeBegun() -> [SegmentHeader] {
    defer { begun.removeAll() }
    return begun
  }

  // MARK: Frames

  /// Puts one commit behind the tail, in the buffer; rolls first if it does not fit the segment.
  ///
  /// - Throws: with nothing of the commit in the buffer, and the tail as before.
  func compose(_ frames: [EncodedFrame]) throws(LogError) {
    let byteCount = frames.reduce(0) { $0 + $1.byteCount }
    try makeRoom(for: byteCount)
    for (index, frame) in frames.enumerated() {
      try compose(
        frame, sequence: index == 0 ? chain.sequence.next : chain.sequence, continues: index < frames.count - 1)
    }
  }

  /// Checks every limit and makes sure that `byteCount` bytes of frames fit behind the tail.
  private func makeRoom(for byteCount: Int) throws(LogError) {
    guard chain.sequence < .max else {
      throw .limitExceeded(
        Limit(name: .sequenceNumber, value: chain.sequence.rawValue + 1, maximum: SequenceNumber.max.rawValue))
    }
    guard chain.lsn.rawValue + UInt64(byteCount) + (4 << 20) < LSN.max.rawValue else {
      throw .limitExceeded(Limit(name: .logByteCount, value: chain.lsn.rawValue, maximum: LSN.max.rawValue))
    }
    let used = tailOffset - Int64(SegmentHeader.blockByteCount)
    // A segment takes at least one commit, however large; one that shares its file with a copy takes none.
    if used > 0, used + Int64(byteCount) > Int64(options.segmentByteCountMax) || sharesFile {
      try roll()
    } else if used > Int64(options.segmentByteCountMax) / 2 {
      space.prepare(ordinal: segment.header.ordinal + 1)
    }
    let started = environment.clock.monotonicNanoseconds()
    do throws(LogError) {
      if try space.ensure(tailOffset + Int64(byteCount)) {
        counters.waitsForSpace += 1
        options.observer?(.spaceAwaited(nanoseconds: environment.clock.monotonicNanoseconds() &- started))
      }
    } catch {
      if case .outOfSpace(let failure) = error { options.observer?(.outOfSpace(failure)) }
      throw poisoning(error)
    }
  }

  /// Whether the active file has a second name, in a kept copy or linked backup: appending would change the copy too.
  private lazy var sharesFile: Bool = {
    (try? segment.fileSystem.status(segment.file))?.linkCount ?? 1 > 1
  }()

  private func compose(
    _ frame: EncodedFrame, sequence: SequenceNumber, continues: Bool
  ) throws(LogError) {
    if bufferedByteCount + frame.byteCount > CommitGroup.byteCountMax { try flush() }
    if bufferedByteCount + frame.byteCount > buffer.count { growBuffer(bufferedByteCount + frame.byteCount) }
    let place = EncodedFrame.Place(
      lsn: chain.lsn, salt: segment.header.salt, sequence: sequence,
      epoch: frame.kind == .reset ? chain.epoch + 1 : chain.epoch, durable: synced, previousTag: chain.tag,
      continues: continues)
    let target = UnsafeMutableRawBufferPointer(
      rebasing: buffer[bufferedByteCount..<bufferedByteCount + frame.byteCount])
    let (header, headTag) = frame.write(to: target, at: place)
    do throws(ChainState.Break) {
      try chain.accept(header, tag: headTag)
    } catch {
      preconditionFailure("a frame of our own does not continue the chain: \(error)")
    }
    bufferedByteCount += frame.byteCount
  }

  private func growBuffer(_ byteCount: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, buffer.count * 2), alignment: 4096)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[0..<bufferedByteCount]))
    buffer.deallocate()
    buffer = larger
  }

  /// Fills up to the next 4 KiB block, so that what a sync has covered is never rewritten in part.
  func align() throws(LogError) {
    guard let byteCount = bytesToNextBlock else { return }
    try makeRoom(for: byteCount)
    try pad()
  }

  /// Bytes of a padding frame that ends with a block; nil if the tail is at its end already.
  private var bytesToNextBlock: Int? {
    let used = Int(tailOffset % 4096)
    if used == 0 { return nil }
    let rest = 4096 - used
    return rest >= FrameHeader.byteCount ? rest : rest + 4096
  }

  /// Puts the padding behind the tail; there is room for it.
  private func pad() throws(LogError) {
    guard let byteCount = bytesToNextBlock else { return }
    let zeros = [UInt8](repeating: 0, count: byteCount - FrameHeader.byteCount)
    try compose(
      EncodedFrame(kind: .padding, raw: zeros, recordCount: 0, compresses: false), sequence: chain.sequence,
      continues: false)
  }

  /// Writes what has been composed. On failure the log is poisoned.
  func flush() throws(LogError) {
    guard bufferedByteCount > 0 else { return }
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[0..<bufferedByteCount])
    do throws(Errno) {
      try directory.fileSystem.writeAll(segment.file, bytes, at: segment.offset(of: bufferStart))
    } catch {
      throw poison(segment.failure(.write, error))
    }
    counters.writtenByteCount += Int64(bufferedByteCount)
    // Every frame says how far a sync had come, so what was written last vouches for it.
    stated = max(stated, synced)
    bufferStart = chain.lsn
    bufferedByteCount = 0
  }

  /// Syncs everything that is written. On failure the log is poisoned.
  func sync() throws(LogError) {
    try flush()
    guard synced < chain.lsn else { return }
    do throws(Errno) {
      try directory.fileSystem.syncData(segment.file)
    } catch {
      throw poison(segment.failure(.sync, error))
    }
    counters.syncs += 1
    synced = chain.lsn
    syncedPosition = position
    unsyncedCommitCount = 0
  }

  /// Counts commits that were written and wait for a later sync.
  func leaveUnsynced(_ commitCount: Int) {
    if unsyncedCommitCount == 0 { unsyncedSince = environment.clock.monotonicNanoseconds() }
    unsyncedCommitCount += commitCount
  }

  /// States in the log that everything is synced, so that later damage to it is known for damage. Nothing to do if a frame says so.
  func mark() throws(LogError) {
    try sync()
    guard stated < synced else { return }
    if options.alignsCommits { try align() }
    try makeRoom(for: FrameHeader.byteCount)
    try compose(
      EncodedFrame(kind: .syncMark, raw: [], recordCount: 0, compresses: false), sequence: chain.sequence,
      continues: false)
    try sync()
    // The mark itself is vouched for by nothing, and need not be: it holds nothing.
    stated = synced
  }

  /// Writes a RESET into the space that is kept for it and syncs it: the commit point of a reset.
  func writeReset(_ frame: EncodedFrame, _ payload: ResetPayload) throws(LogError) {
    let byteCount = frame.byteCount + (options.alignsCommits ? bytesToNextBlock ?? 0 : 0)
    precondition(byteCount <= SpaceAhead.reserveByteCount, "a RESET fits into its reserve")
    if sharesFile { try roll() }
    // The reserve is missing only if its space could not be made again after an open or a roll that failed.
    if !space.holds(tailOffset + Int64(byteCount)) { try makeRoom(for: byteCount) }
    guard chain.sequence < .max, chain.epoch < UInt64(Int64.max) - 1 else {
      throw .limitExceeded(
        Limit(name: .sequenceNumber, value: chain.sequence.rawValue, maximum: SequenceNumber.max.rawValue))
    }
    if options.alignsCommits { try pad() }
    try flush()
    let before = chain
    try compose(frame, sequence: chain.sequence.next, continues: false)
    try sync()
    unfinishedReset = UnfinishedReset(
      payload: payload, recordCount: frame.recordCount, sequence: chain.sequence, ordinal: segment.header.ordinal,
      before: before, end: chain.lsn)
  }

  // MARK: Poison

  /// Refuses all further writes and returns the error to answer.
  @discardableResult
  func poison(_ failure: IOFailure) -> LogError {
    if poison == nil {
      poison = failure
      options.observer?(.poisoned(failure))
    }
    return poisonError ?? .closed
  }

  var poisonError: LogError? {
    poison.map { .poisoned(first: $0, buffered: unsyncedCommitCount) }
  }

  /// Poisons on anything but a full disk, which is met before a byte is written.
  private func poisoning(_ error: LogError) -> LogError {
    guard case .ioFailed(let failure) = error else { return error }
    return poison(failure)
  }

  /// Tells the space ahead where the tail is now.
  func noteTail(groupByteCount: Int) { space.noteTail(tailOffset, groupByteCount: groupByteCount) }

  // MARK: META

  /// Replaces the root in one slot, or in both where the old root's files are to be removed after.
  func writeRoot(both: Bool = false, _ change: (inout RootSlot) -> Void) throws(LogError) {
    do throws(LogError) {
      let durable = synced
      let stamped: (inout RootSlot) -> Void = { slot in
        change(&slot)
        slot.durableMark = durable
      }
      if both {
        try root.writeBoth(stamped)
      } else {
        try root.write(stamped)
      }
    } catch {
      throw poisoning(error)
    }
  }

  /// Lets META say how far is synced: what frames say about it goes with them where the end of the segment is lost. Nothing to do if
  /// META says so.
  func markRoot() throws(LogError) {
    guard root.current.durableMark < synced else { return }
    try writeRoot { _ in }
  }

  /// Takes the mark of a clean close back before the first frame after an open.
  func beginWriting() throws(LogError) {
    guard root.current.closedCleanly else { return }
    try writeRoot { slot in
      slot.closedCleanly = false
      slot.tailTag = 0
    }
  }

  // MARK: Roll

  /// Ends the active segment and begins the next.
  ///
  /// - Throws: ``LogError/outOfSpace(_:)`` with the old segment still in use.
  func roll() throws(LogError) {
    let prepared: SpaceAhead.Prepared
    do throws(LogError) {
      prepared = try space.takePrepared(ordinal: segment.header.ordinal + 1)
    } catch {
      throw poisoning(error)
    }
    do throws(LogError) {
      try sync()
      try cutSpaceAhead(at: tailOffset)
      try adopt(prepared)
    } catch {
      // Before the new name is durable the old segment stays in use; its space ahead is gone and is made again.
      if poison == nil {
        space.discard(prepared)
        space.activate(path: segment.path, allocatedEnd: tailOffset)
      } else if segment.file != prepared.file {
        // Nobody took the file over, and a poisoned log removes nothing.
        directory.fileSystem.closeQuietly(prepared.file)
      }
      throw error
    }
  }

  /// Ends the growth of the active segment, and gives back what large groups have left allocated beyond a step: the next open reads
  /// every byte behind the tail.
  func giveSpaceBack() throws(LogError) {
    let kept = space.endKept(behind: tailOffset)
    guard space.close() > kept, !sharesFile else { return }
    try cutSpaceAhead(at: kept)
  }

  private func cutSpaceAhead(at end: Int64) throws(LogError) {
    do throws(Errno) {
      try directory.fileSystem.retryingInterrupts { () throws(Errno) in
        try directory.fileSystem.truncate(segment.file, to: end)
      }
    } catch {
      throw .ioFailed(segment.failure(.truncate, error))
    }
    do throws(Errno) {
      try directory.fileSystem.sync(segment.file)
    } catch {
      throw poison(segment.failure(.sync, error))
    }
  }

  private func adopt(_ prepared: SpaceAhead.Prepared) throws(LogError) {
    let header = SegmentHeader(
      identifier: segment.header.identifier, ordinal: prepared.name.ordinal, id: prepared.name.id, epoch: chain.epoch,
      baseSequence: chain.sequence, baseLSN: chain.lsn, salt: environment.randomBits(),
      predecessor: SegmentHeader.Predecessor(
        id: segment.header.id, byteCount: UInt64(tailOffset), headTag: chain.tag),
      reset: chain.reset, createdAt: environment.clock.wallMilliseconds())
    let path = try SegmentCreation.finish(prepared, header: header, in: directory) { [self] failure in poison(failure) }
    let commitTag = chain.commitTag
    segment = SegmentFile(fileSystem: directory.fileSystem, file: prepared.file, path: path, header: header)
    begun.append(header)
    sharesFile = false
    chain = ChainState(startOf: header, commitTag: commitTag)
    synced = chain.lsn
    bufferStart = chain.lsn
    // The header names the last tag of the old segment: nothing in it can be lost unnoticed.
    stated = max(stated, synced)
    space.activate(path: path, allocatedEnd: prepared.allocatedEnd)
    counters.rolls += 1
    try writeRoot { slot in
      slot.lastCreatedOrdinal = header.ordinal
      slot.lastCreatedID = header.id
    }
  }
}
