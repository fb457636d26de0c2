extension TailEvidence {
  /// Asks the decision table, and throws if the answer is corruption.
  func refuseIfCorrupt(tail: SegmentFile, root: RootSlot) throws(LogError) {
    if case .header(.unknownKind(let kind)) = stop {
      throw .unsupportedFormat(
        file: tail.path, detail: .frameKind(kind, offset: tail.offset(of: verifiedEnd)))
    }
    let facts = TailFacts(self, tail: tail, root: root)
    let verdict = TailVerdict(facts)
    guard case .corrupt(let rule) = verdict else { return }
    let offset = tail.offset(of: verifiedEnd)
    func corrupt(_ reason: CorruptionReport.Reason, _ expected: String, _ found: String) -> LogError {
      .corrupt(
        CorruptionReport(
          reason: reason, file: tail.path, offset: offset, expected: expected, found: found,
          isSingleBit: SingleBit.explains(stop, at: offset, of: tail), laterFrameCount: laterFrameCount))
    }
    switch rule {
    case 5:
      throw corrupt(
        .logOlderThanRoot, "epoch \(root.epoch), RESET \(root.resetSequence)",
        "epoch \(state.epoch), RESET \(state.reset.sequence)")
    case 7:
      throw corrupt(
        .tailLost, "last tag \(hexadecimal(root.tailTag))", "\(hexadecimal(state.tag)), \(stop)")
    default:
      let promised = max(tail.offset(of: promise.lsn), Int64(SegmentHeader.blockByteCount))
      if fileByteCount < promised {
        throw corrupt(.fileTruncated, "at least \(promised) bytes", "\(fileByteCount)")
      }
      throw corrupt(
        .frameDamaged, "frames up to byte \(promised), which a sync had confirmed", "\(stop)")
    }
  }
}

extension TailFacts {
  /// The facts about the last segment of a store whose header verifies.
  init(_ evidence: TailEvidence, tail: SegmentFile, root: RootSlot) {
    self.init()
    isNewest = true
    isNamedByRoot = root.lastCreatedOrdinal == tail.header.ordinal
    rootIsAhead =
      root.epoch > evidence.state.epoch
      || root.epoch == evidence.state.epoch && root.resetSequence != evidence.state.reset.sequence
    let promise = evidence.promise.lsn
    breaksPromise =
      promise > evidence.verifiedEnd || tail.lsn(at: evidence.fileByteCount) < promise
      // The header's block was synced before the file had its name.
      || evidence.fileByteCount < Int64(SegmentHeader.blockByteCount)
    differsFromCleanClose = root.closedCleanly && isNamedByRoot && evidence.state.tag != root.tailTag
    isZeroBehind = evidence.isZeroBehind
  }
}
