internal import Glibc

/// Finds the place of a commit: the segment by its base number, the frame by a walk over headers. There is no other index.
struct CommitLocator {
  let directory: StoreDirectory
  /// Segments that are there, in order.
  let headers: [SegmentHeader]
  /// Nothing behind this is looked at.
  let end: LSN

  /// A place between two frames of a segment.
  struct Place {
    var index: Int
    var segment: SegmentFile
    var state: ChainState
  }

  enum Failure: Error {
    /// The segment that held it is gone.
    case released
    /// There is no such commit in the log.
    case absent
    case failed(LogError)
  }

  /// In front of the first frame of the log.
  func start() throws(Failure) -> Place {
    guard let first = headers.first else { throw .absent }
    let segment = try open(first)
    let isReset = first.reset.sequence == first.baseSequence
    return Place(
      index: 0, segment: segment, state: ChainState(startOf: first, commitTag: isReset ? first.reset.headTag : 0))
  }

  /// Right behind commit `sequence`.
  func place(behind sequence: SequenceNumber) throws(Failure) -> Place {
    guard let first = headers.first else { throw .absent }
    if sequence < first.baseSequence { throw .released }
    if sequence == first.baseSequence {
      let start = try start()
      // The commit itself is gone; its tag is known only if it was a RESET or the log begins here.
      if sequence == .zero || start.state.commitTag != 0 { return start }
      throw .released
    }
    guard let index = headers.lastIndex(where: { $0.baseSequence < sequence }) else { throw .absent }
    let segment = try open(headers[index])
    return try walk(segment, index: index) { state, _ in !state.isInsideCommit && state.sequence == sequence }
  }

  /// Right in front of the RESET that began `epoch`, or of the first frame if the log begins in it.
  func place(ofEpoch epoch: UInt64) throws(Failure) -> Place {
    guard let index = headers.lastIndex(where: { $0.epoch < epoch }) else { return try start() }
    let segment = try open(headers[index])
    return try walk(segment, index: index) { _, next in next?.epoch == epoch }
  }

  /// Walks headers until `isThere` holds of the state behind a frame, or of the frame that comes next.
  private func walk(
    _ segment: SegmentFile, index: Int, until isThere: (ChainState, SegmentScanner.Frame?) -> Bool
  ) throws(Failure) -> Place {
    let segmentEnd = index + 1 < headers.count ? headers[index + 1].baseLSN : end
    var scanner = SegmentScanner(
      segment, from: ChainState(startOf: headers[index]), end: segment.offset(of: segmentEnd))
    do throws(Errno) {
      while true {
        let before = scanner.state
        guard case .frame(let frame) = try scanner.next(provingBody: false) else { break }
        if isThere(before, frame) { return Place(index: index, segment: segment, state: before) }
      }
    } catch {
      throw .failed(.ioFailed(segment.failure(.read, error)))
    }
    if isThere(scanner.state, nil) { return Place(index: index, segment: segment, state: scanner.state) }
    throw .absent
  }

  func open(_ header: SegmentHeader) throws(Failure) -> SegmentFile {
    do throws(LogError) {
      return try SegmentFile(
        opening: directory.path(of: header.fileName.description), header: header, in: directory.fileSystem)
    } catch {
      if case .ioFailed(let failure) = error, failure.errno.rawValue == ENOENT { throw .released }
      throw .failed(error)
    }
  }
}
