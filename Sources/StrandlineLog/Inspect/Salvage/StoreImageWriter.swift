/// Writes the files of a new store: segments with frames whose sequence numbers the caller chooses, then META.
///
/// For salvage, which must keep the numbers that commits had. It writes into a directory that nobody else looks at and
/// that counts for nothing until it is renamed, so it needs no lock, no space ahead and no order of syncs but one: every
/// segment is synced before the next one names it, and all of them before META does.
struct StoreImageWriter: ~Copyable {
  struct Plan {
    /// Exists and is empty.
    var directory: StoreDirectory
    var identifier: StoreIdentifier
    var incarnation: UInt64
    /// In force in front of the first frame.
    var epoch: UInt64
    /// The last sequence number in front of the first frame.
    var baseSequence: SequenceNumber
    /// The last RESET in front of the first frame.
    var reset = SegmentHeader.LastReset(sequence: .zero, headTag: 0)
    var segmentByteCountMax = 64 << 20
  }

  private let plan: Plan
  private let randomBits: @Sendable () -> UInt64
  private let createdAt: Int64
  private var fileSystem: any FileSystem { plan.directory.fileSystem }

  /// Of the last frame.
  private(set) var lastSequence: SequenceNumber
  private(set) var epoch: UInt64
  private(set) var lastReset: SegmentHeader.LastReset
  private var chainTag: UInt64 = 0
  /// Bytes of all files so far, flushed or not.
  private(set) var byteCount: Int64 = 0

  private var header: SegmentHeader?
  private var file: FileDescriptor?
  private var path = ""
  private var flushedByteCount: Int64 = 0
  private var pending: [UInt8] = []

  init(_ plan: Plan, environment: Environment) {
    self.plan = plan
    randomBits = environment.randomBits
    createdAt = environment.clock.wallMilliseconds()
    lastSequence = plan.baseSequence
    epoch = plan.epoch
    lastReset = plan.reset
  }

  deinit {
    if let file { fileSystem.closeQuietly(file) }
  }

  /// Bytes of the open segment, flushed or not.
  private var segmentByteCount: Int64 { flushedByteCount + Int64(pending.count) }

  /// Position behind the last frame.
  private var endLSN: LSN {
    (header?.baseLSN ?? .zero).advanced(by: header == nil ? 0 : segmentByteCount)
  }

  /// Begins a commit whose frames take `byteCount` bytes: in the open segment if it has the room, else in a new one, which
  /// is larger than the others if the commit is.
  mutating func beginCommit(byteCount: Int64) throws(LogError) {
    let hasRoom = header != nil && segmentByteCount + byteCount <= Int64(plan.segmentByteCountMax)
    let isUntouched = header != nil && segmentByteCount == Int64(SegmentHeader.blockByteCount)
    if !hasRoom && !isUntouched { try roll() }
  }

  /// Writes one frame of the commit begun: `like` gives kind, codec, counts, sequence number and `continues`, `stored` the
  /// payload as it is to stand in the file. Place, chain, epoch and tags are this store's own.
  mutating func append(like frame: FrameHeader, stored: UnsafeRawBufferPointer) throws(LogError) {
    guard let segment = header else { preconditionFailure("append without beginCommit") }
    if frame.kind == .reset {
      guard let (reset, _) = ResetPayload.decode(stored) else { preconditionFailure("a RESET that does not decode") }
      epoch = reset.epoch
    }
    let encoded = EncodedFrame(like: frame, stored: stored)
    // All segments in front were synced when this one was made; nothing in it has been yet.
    let place = EncodedFrame.Place(
      lsn: endLSN, salt: segment.salt, sequence: frame.sequence, epoch: epoch, durable: segment.baseLSN,
      previousTag: chainTag, continues: frame.continues)
    let start = pending.count
    pending.append(contentsOf: repeatElement(0, count: encoded.byteCount))
    let tag = pending.withUnsafeMutableBytes { bytes in
      encoded.write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), at: place).headTag
    }
    chainTag = tag
    lastSequence = frame.sequence
    if frame.kind == .reset { lastReset = SegmentHeader.LastReset(sequence: frame.sequence, headTag: tag) }
    byteCount += Int64(pending.count - start)
    if pending.count >= 1 << 20 { try flush() }
  }

  /// Writes a GAP for the numbers from the one behind the last frame up to `last`.
  mutating func appendGap(through last: SequenceNumber, reason: GapPayload.Reason) throws(LogError) {
    let gap = GapPayload(first: lastSequence.next, last: last, reason: reason)
    let payload = gap.encoded()
    try beginCommit(byteCount: Int64(FrameHeader.byteCount + paddedTo8(payload.count)))
    let head = FrameHeader(
      kind: .gap, codec: .raw, continues: false, storedByteCount: payload.count, rawByteCount: payload.count,
      sequence: last, recordCount: 0, epoch: 0, durable: .zero, previousTag: 0, bodyTag: 0)
    try payload.span.bytes.withUnsafeBytes { (bytes) throws(LogError) in try append(like: head, stored: bytes) }
  }

  /// Where replay begins for what is appended from here on.
  mutating func anchorHere() throws(LogError) -> RootSlot.Anchor {
    if header == nil { try roll() }
    return RootSlot.Anchor(ordinal: header?.ordinal ?? 1, lsn: endLSN, headTag: chainTag, sequence: lastSequence)
  }

  /// Closes the last segment and writes META, both slots; everything is synced, the directory too.
  consuming func finish(layers: [LayerEntry], anchor: RootSlot.Anchor) throws(LogError) {
    if header == nil { try roll() }
    try flush()
    try syncSegment()
    var root = RootSlot(identifier: plan.identifier, incarnation: plan.incarnation)
    root.epoch = epoch
    root.resetSequence = lastReset.sequence
    root.lastCreatedOrdinal = header?.ordinal ?? 0
    root.lastCreatedID = header?.id ?? 0
    root.anchor = anchor
    root.durableMark = endLSN
    root.closedCleanly = true
    root.tailTag = chainTag
    root.layers = layers
    try plan.directory.writeNew(plan.directory.path(of: RootSlot.fileName), RootFile.bytes(of: root))
    try plan.directory.syncEntries()
  }

  // MARK: - Segments

  private mutating func roll() throws(LogError) {
    try flush()
    try syncSegment()
    if let file { fileSystem.closeQuietly(file) }
    file = nil
    let predecessor =
      header.map { SegmentHeader.Predecessor(id: $0.id, byteCount: UInt64(segmentByteCount), headTag: chainTag) }
      ?? SegmentHeader.Predecessor(id: 0, byteCount: 0, headTag: 0)
    let next = SegmentHeader(
      identifier: plan.identifier, ordinal: (header?.ordinal ?? 0) + 1, id: randomBits(), epoch: epoch,
      baseSequence: lastSequence, baseLSN: endLSN, salt: randomBits(), predecessor: predecessor,
      reset: lastReset, createdAt: createdAt)
    path = plan.directory.path(of: next.fileName.description)
    file = try plan.directory.performNeedingSpace(.open, path) { () throws(Errno) in
      try fileSystem.openRetrying(path, .create)
    }
    header = next
    flushedByteCount = 0
    pending = next.encodedBlock()
    byteCount += Int64(pending.count)
  }

  private mutating func flush() throws(LogError) {
    guard let file, !pending.isEmpty else { return }
    let offset = flushedByteCount
    try pending.span.bytes.withUnsafeBytes { (bytes) throws(LogError) in
      try plan.directory.performNeedingSpace(.write, path) { () throws(Errno) in
        try fileSystem.writeAll(file, bytes, at: offset)
      }
    }
    flushedByteCount += Int64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  private func syncSegment() throws(LogError) {
    guard let file else { return }
    try plan.directory.performNeedingSpace(.sync, path) { () throws(Errno) in try fileSystem.sync(file) }
  }
}
