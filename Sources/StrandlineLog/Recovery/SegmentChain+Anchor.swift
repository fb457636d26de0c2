extension SegmentChain {
  /// The chain where replay begins: behind the anchor, or at the first live segment.
  func stateBehindAnchor(of root: RootSlot, in directory: StoreDirectory) throws(LogError) -> ChainState {
    let anchor = root.anchor
    guard anchor.ordinal != 0 else {
      let first = headers[0]
      return ChainState(startOf: first, commitTag: first.reset.sequence == first.baseSequence ? first.reset.headTag : 0)
    }
    func mismatch(_ file: String, _ found: String, isSingleBit: Bool? = nil) -> LogError {
      .corrupt(
        CorruptionReport(
          reason: .anchorMismatch, file: file,
          expected: "commit \(anchor.sequence) with tag \(hexadecimal(anchor.headTag)) in segment \(anchor.ordinal)",
          found: found, isSingleBit: isSingleBit))
    }
    guard let header = headers.first(where: { $0.ordinal == anchor.ordinal }) else {
      throw mismatch(directory.path, "no segment \(anchor.ordinal)")
    }
    let path = directory.path(of: header.fileName.description)
    guard anchor.lsn >= header.firstFrameLSN else { throw mismatch(path, "a segment that begins behind it") }
    let segment = try SegmentFile(opening: path, header: header, in: directory.fileSystem)
    let isReset = header.reset.sequence == header.baseSequence
    var scanner = SegmentScanner(
      segment, from: ChainState(startOf: header, commitTag: isReset ? header.reset.headTag : 0),
      end: segment.offset(of: anchor.lsn))
    var stop = SegmentScanner.Stop.endOfFile
    do throws(Errno) {
      walk: while scanner.state.lsn < anchor.lsn {
        if case .stop(let reason) = try scanner.next(provingBody: false) {
          stop = reason
          break walk
        }
      }
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    let state = scanner.state
    guard state.lsn == anchor.lsn, state.tag == anchor.headTag, state.sequence == anchor.sequence,
      !state.isInsideCommit
    else {
      throw mismatch(
        path, "commit \(state.sequence) with tag \(hexadecimal(state.tag)) at LSN \(state.lsn)",
        isSingleBit: SingleBit.explains(stop, at: segment.offset(of: state.lsn), of: segment))
    }
    return state
  }

  /// A store without a segment is one whose creation was interrupted, and nothing else.
  func refuseIfEmpty(root: RootSlot, in directory: StoreDirectory) throws(LogError) {
    guard headers.isEmpty else { return }
    guard root.lastCreatedOrdinal == 0, root.epoch == 0, root.layers.isEmpty else {
      throw .corrupt(
        CorruptionReport(
          reason: .segmentMissing, file: directory.path, expected: "segment \(root.firstLiveOrdinal)",
          found: "no segment"))
    }
  }
}
