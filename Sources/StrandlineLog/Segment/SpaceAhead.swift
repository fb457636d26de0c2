/// The space behind the tail that is allocated before it is needed, and the next segment, prepared before it is due.
///
/// Only this object grows files, so a full disk is met here, before any byte of a frame is written. What it has published as
/// allocated is overwritten in place; the writer never writes beyond it. The last 64 KiB are left for RESET alone.
final class SpaceAhead: Sendable {
  /// Kept behind the tail for a RESET.
  static let reserveByteCount: Int64 = 64 << 10
  // Groups from this size on write fewer bytes without zeros in front of them.
  private static let largeGroupByteCount = 64 << 10
  private static let zeroPieceByteCount = 256 << 10

  /// A segment file whose header is not written yet: zeros, synced, under its temporary name.
  struct Prepared: Sendable {
    var name: SegmentFileName
    var file: FileDescriptor
    var allocatedEnd: Int64
  }

  private struct State {
    /// The active segment; nil once the log is closed.
    var path: String?
    var allocatedEnd: Int64 = 0
    /// How far the file is to be grown; more than `allocatedEnd` while growing is due.
    var goal: Int64 = 0
    var isWorking = false
    /// Why the last growth failed. A full disk is tried again; anything else stays.
    var failure: LogError?
    var growsWithoutZeros = false
    var prepared: Prepared?
    var ordinalToPrepare: UInt64?
  }

  private let monitor = Monitor(State())
  private let directory: StoreDirectory
  private let step: Int64
  private let randomBits: @Sendable () -> UInt64
  /// Runs work beside the caller, or nil if callers do it themselves.
  private let helper: HelperThread?

  init(directory: StoreDirectory, options: LogOptions, helper: HelperThread?) {
    self.directory = directory
    step = Int64(options.spaceAheadByteCount)
    randomBits = options.environment.randomBits
    self.helper = helper
  }

  deinit {
    monitor.look { state in
      if let prepared = state.prepared { directory.fileSystem.closeQuietly(prepared.file) }
    }
  }

  /// Takes over a segment as the one that is written to.
  func activate(path: String, allocatedEnd: Int64) {
    monitor.change { state in
      state.path = path
      state.allocatedEnd = allocatedEnd
      state.goal = allocatedEnd
      if state.failure?.isOutOfSpace == true { state.failure = nil }
    }
  }

  /// Makes sure that everything up to `end`, and the reserve behind it, is allocated. Waits for the helper where there is one.
  ///
  /// - Throws: ``LogError/outOfSpace(_:)``, after which a later call tries again; ``LogError/ioFailed(_:)`` poisons.
  /// - Returns: whether the caller had to wait.
  func ensure(_ end: Int64) throws(LogError) -> Bool {
    let needed = end + Self.reserveByteCount
    let isThere = try monitor.look { (state) throws(LogError) in
      // What the helper failed to sync may be what the writer has written.
      if let failure = state.failure, !failure.isOutOfSpace { throw failure }
      if state.allocatedEnd >= needed { return true }
      state.failure = nil
      state.goal = max(state.goal, needed + step)
      return false
    }
    if isThere { return false }
    if let helper {
      helper.submit { [self] in work() }
      let failure: LogError?? = monitor.wait { state in
        if state.allocatedEnd >= needed { return .some(nil) }
        return state.failure.map { .some($0) }
      }
      if let failure = failure ?? nil { throw failure }
    } else {
      work()
      if let failure = monitor.look({ $0.allocatedEnd >= needed ? nil : $0.failure }) { throw failure }
    }
    return true
  }

  /// Whether everything up to `end` is allocated, the reserve included.
  func holds(_ end: Int64) -> Bool { monitor.look { $0.allocatedEnd >= end } }

  /// Tells where the tail is; grows the file beside the writer once less than half a step is left.
  func noteTail(_ offset: Int64, groupByteCount: Int) {
    let isDue = monitor.look { state in
      state.growsWithoutZeros = groupByteCount >= Self.largeGroupByteCount
      guard helper != nil, state.failure == nil, state.goal == state.allocatedEnd else { return false }
      // Large groups use a step up at once; give them more of it.
      let ahead = max(step, Int64(groupByteCount) * 8)
      guard state.allocatedEnd - Self.reserveByteCount - offset < ahead / 2 else { return false }
      state.goal = offset + Self.reserveByteCount + ahead
      return state.goal > state.allocatedEnd
    }
    if isDue { helper?.submit { [self] in work() } }
  }

  /// Asks for the segment after the active one to be made ready beside the writer.
  func prepare(ordinal: UInt64) {
    guard let helper else { return }
    let isDue = monitor.look { state in
      guard state.prepared == nil, state.ordinalToPrepare == nil else { return false }
      state.ordinalToPrepare = ordinal
      return true
    }
    if isDue { helper.submit { [self] in work() } }
  }

  /// The prepared segment with `ordinal`, made now if it is not there yet. The caller owns it.
  func takePrepared(ordinal: UInt64) throws(LogError) -> Prepared {
    let ready: Prepared? = monitor.wait { state -> Prepared?? in
      guard !state.isWorking else { return nil }
      // The active segment is about to end: nothing more is grown there.
      state.goal = state.allocatedEnd
      state.ordinalToPrepare = nil
      let prepared = state.prepared
      state.prepared = nil
      return .some(prepared)
    }
    if let ready {
      if ready.name.ordinal == ordinal { return ready }
      discard(ready)
    }
    return try makeSegment(ordinal: ordinal)
  }

  /// Removes a prepared segment that is not used.
  func discard(_ prepared: Prepared) {
    directory.fileSystem.closeQuietly(prepared.file)
    directory.discard(directory.path(of: prepared.name.temporary))
  }

  /// Lets go of the active file and what was prepared; nothing is grown afterwards. Answers up to where the file is allocated.
  @discardableResult
  func close() -> Int64 {
    let (prepared, allocatedEnd) = monitor.wait { state -> (Prepared?, Int64)? in
      guard !state.isWorking else { return nil }
      state.path = nil
      state.goal = state.allocatedEnd
      state.ordinalToPrepare = nil
      let prepared = state.prepared
      state.prepared = nil
      return (prepared, state.allocatedEnd)
    }
    if let prepared { discard(prepared) }
    return allocatedEnd
  }

  /// Where the space ends that a segment keeps behind a tail at `offset` while nothing hurries: one step and the reserve, in whole blocks.
  func endKept(behind offset: Int64) -> Int64 { (offset + step + Self.reserveByteCount + 4095) & ~4095 }

  // MARK: Work

  private enum Task {
    case grow(String, Range<Int64>, zeros: Bool)
    case prepare(UInt64)
  }

  /// Does what is due, on the helper or on the caller's thread; one at a time.
  private func work() {
    while let task = nextTask() {
      switch task {
      case .grow(let path, let range, let zeros):
        let outcome = Result { () throws(LogError) in try grow(path, range, zeros: zeros) }
        monitor.change { state in
          state.isWorking = false
          switch outcome {
          case .success: state.allocatedEnd = range.upperBound
          case .failure(let error): state.failure = error
          }
          state.goal = max(state.allocatedEnd, outcome.isSuccess ? state.goal : state.allocatedEnd)
        }
      case .prepare(let ordinal):
        // No space for it now: the roll tries again and tells its caller.
        let prepared = try? makeSegment(ordinal: ordinal)
        monitor.change { state in
          state.isWorking = false
          state.prepared = prepared
          state.ordinalToPrepare = nil
        }
      }
    }
  }

  private func nextTask() -> Task? {
    monitor.look { state -> Task? in
      guard !state.isWorking else { return nil }
      if let path = state.path, state.goal > state.allocatedEnd {
        state.isWorking = true
        // Whole blocks, so that no later write shares one with zeros that are being written.
        let end = (state.goal + 4095) & ~4095
        return .grow(path, state.allocatedEnd..<end, zeros: !state.growsWithoutZeros)
      }
      if let ordinal = state.ordinalToPrepare, state.prepared == nil {
        state.isWorking = true
        return .prepare(ordinal)
      }
      return nil
    }
  }

  /// Grows the active segment through a descriptor of its own: the kernel tells each descriptor once that a sync has failed, and the
  /// writer must not miss it because this one was told.
  private func grow(_ path: String, _ range: Range<Int64>, zeros: Bool) throws(LogError) {
    let file = try open(path, .readWrite)
    defer { directory.fileSystem.closeQuietly(file) }
    try grow(file, path, range, zeros: zeros)
  }

  private func open(_ path: String, _ access: FileAccess) throws(LogError) -> FileDescriptor {
    do throws(LogError) {
      return try directory.performNeedingSpace(.open, path) { () throws(Errno) in
        try directory.fileSystem.openRetrying(path, access)
      }
    } catch {
      // The directory was there when the store was opened.
      guard case .ioFailed(let failure) = error, failure.errno == .noSuchFile else { throw error }
      throw .ioFailed(IOFailure(operation: .open, path: directory.path, errno: .staleFile))
    }
  }

  private func grow(_ file: FileDescriptor, _ path: String, _ range: Range<Int64>, zeros: Bool) throws(LogError) {
    if !zeros {
      do throws(Errno) {
        try directory.fileSystem.retryingInterrupts { () throws(Errno) in
          try directory.fileSystem.allocate(file, range)
        }
        return
      } catch {
        if error.meansOutOfSpace {
          throw .outOfSpace(IOFailure(operation: .allocate, path: path, errno: error))
        }
        // The file system cannot allocate without writing; zeros can always be written.
      }
    }
    let piece = [UInt8](
      repeating: 0, count: Int(min(Int64(Self.zeroPieceByteCount), range.upperBound - range.lowerBound)))
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = Int(min(Int64(piece.count), range.upperBound - offset))
      try directory.performNeedingSpace(.write, path) { () throws(Errno) in
        try piece.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
          try directory.fileSystem.writeAll(file, UnsafeRawBufferPointer(rebasing: bytes[0..<count]), at: offset)
        }
      }
      offset += Int64(count)
    }
    do throws(Errno) {
      try directory.fileSystem.syncData(file)
    } catch {
      // Not even a full disk makes a failed sync harmless: what else it covered is in doubt.
      throw .ioFailed(IOFailure(operation: .sync, path: path, errno: error))
    }
  }

  /// Makes a segment file under its temporary name: a zero block for the header, a first step, the reserve.
  private func makeSegment(ordinal: UInt64) throws(LogError) -> Prepared {
    let name = SegmentFileName(ordinal: ordinal, id: randomBits())
    let path = directory.path(of: name.temporary)
    let end = endKept(behind: Int64(SegmentHeader.blockByteCount))
    let file = try open(path, .create)
    let prepared = Prepared(name: name, file: file, allocatedEnd: end)
    do throws(LogError) {
      try grow(file, path, 0..<end, zeros: true)
    } catch {
      discard(prepared)
      throw error
    }
    return prepared
  }
}

extension LogError {
  fileprivate var isOutOfSpace: Bool {
    if case .outOfSpace = self { true } else { false }
  }
}

extension Result {
  fileprivate var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
