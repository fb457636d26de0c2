/// What META, names, headers, the chain and the end of the log say about a store, before its frames are walked.
///
/// The one place that says how grave each kind of damage is: `verify` adds what it proves besides, and every other command begins
/// here and adds what it meets on its way, so all end with the same exit code.
@_spi(Engine) public struct StoreCondition: Sendable {
  public let survey: StoreSurvey
  /// The end of the last segment; nil if none has a header, or the system refused to read it.
  public private(set) var tail: TailInspection?
  /// About META, names, layers and headers.
  private(set) var ofFiles: [Finding] = []
  /// About the end of the log, and what open says of the whole.
  private(set) var ofEnd: [Finding] = []
  /// What open refuses the store for, before it replays; nil if it does not.
  public private(set) var refusal: Finding?
  /// The layer for which open refuses the store.
  private(set) var layerRefusal: Finding?

  /// In the order in which they are found.
  public var findings: [Finding] { ofFiles + ofEnd }
  /// Nil: nothing to report.
  public var worst: Finding.Severity? { findings.map(\.severity).max() }

  private static let namesMax = 10

  /// - Throws: ``LogError/generationGone`` where files vanished meanwhile; ``LogError/ioFailed(_:)`` never: that is a finding.
  init(_ survey: StoreSurvey) throws(LogError) {
    self.survey = survey
    if survey.isEmpty {
      addAbsence()
      if !survey.isForeign { addNames() }
      return
    }
    addRoot()
    addNames()
    addLayers()
    for segment in survey.live { addHeader(segment) }
    addStrangers()
    try examineTail()
    let reason = try engineRefusal()
    if let reason, reason != survey.root.error { ofEnd.append(Finding(reason, path: survey.path)) }
    refusal =
      reason.map { Finding($0, path: survey.path) } ?? tail?.refusal.map { Finding($0, path: survey.path) }
  }

  private var directory: StoreDirectory { survey.directory }

  // MARK: - META and names

  /// A directory with nothing in it, or with what a creation left that a crash ended, is a store that is not there yet; the next writable
  /// open begins again. One with somebody else's files is not ours.
  private mutating func addAbsence() {
    guard survey.isForeign else {
      ofFiles.append(Finding(.note, .noStore, survey.path, "no store here yet"))
      return
    }
    let names = survey.listing.unknown + survey.listing.inner
    let shown = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    let count = names.count == 1 ? "the one name in it is" : "the \(names.count) names in it are"
    ofFiles.append(
      Finding(.corruption, .noStore, survey.path, "no store here: \(count) no file of a store (\(shown))"))
  }

  private mutating func addRoot() {
    let root = survey.root
    for slot in root.slots {
      // Of a slot that the file has no room for there is nothing to say but that: the root's error does.
      guard let defect = slot.defect, Int64((slot.number + 1) * RootSlot.byteCount) <= root.byteCount ?? 0 else {
        continue
      }
      // With no slot left the store is refused; with one it opens as ever. A torn write of META looks the same as damage.
      ofFiles.append(
        Finding(
          root.root == nil ? .corruption : .finding, .rootSlotDamaged, root.path,
          at: Int64(slot.number * RootSlot.byteCount), byteCount: Int64(RootSlot.byteCount),
          "slot \(slot.number): \(slot.isZero ? "zeros" : defect.description)", flippedBit: slot.singleBit))
    }
    if let error = root.error { ofFiles.append(Finding(error, path: root.path)) }
  }

  private mutating func addNames() {
    let listing = survey.listing
    add(
      listing.unfinished, .unfinishedFile,
      "left by an operation that was interrupted; the next writable open removes it")
    add(listing.inner, .innerStore, "a store of its own; not looked into")
    add(listing.unknown, .unknownName, "no file of a store; left alone")
  }

  /// A note for each name, and one for all that are too many to be told.
  private mutating func add(_ names: [String], _ code: Finding.Code, _ message: String) {
    for name in names.prefix(Self.namesMax) {
      ofFiles.append(Finding(.note, code, directory.path(of: name), message))
    }
    let rest = names.count - Self.namesMax
    if rest > 0 { ofFiles.append(Finding(.note, code, survey.path, "and \(rest) more of these: \(message)")) }
  }

  // MARK: - Layers and headers

  private mutating func addLayers() {
    for layer in survey.layers where !layer.isWhole {
      guard let entry = layer.entry else { continue }
      let isMissing = layer.byteCount == nil
      let finding = Finding(
        .corruption, isMissing ? .layerMissing : .layerDamaged, layer.path,
        isMissing
          ? "META names this layer and it is not there"
          : layer.isFile
            ? "META says \(entry.byteCount) bytes, the file has \(layer.byteCount ?? 0)" : "no regular file")
      ofFiles.append(finding)
      layerRefusal = layerRefusal ?? finding
    }
    for layer in survey.layers where layer.entry == nil && survey.root.root != nil {
      ofFiles.append(Finding(.note, .layerUnnamed, layer.path, "a layer that META does not name"))
    }
  }

  private mutating func addHeader(_ segment: SegmentInspection) {
    if let error = segment.error { return ofFiles.append(Finding(error, path: segment.path)) }
    for copy in segment.copies where copy.header != segment.header {
      let defect = copy.defect?.description ?? "another header"
      ofFiles.append(
        Finding(
          .corruption, .headerCopyDamaged, segment.path, at: Int64(copy.offset),
          byteCount: Int64(SegmentHeader.encodedByteCount),
          "one copy of the segment's header is damaged (\(defect)); the other one is whole and is used",
          flippedBit: copy.singleBit))
    }
    if let dirty = segment.dirtyPadding {
      ofFiles.append(
        Finding(
          .corruption, .headerBlockDirty, segment.path, at: Int64(dirty),
          "bytes of the header block that nothing uses were written as zeros and are not zero any more"))
    }
    let blockByteCount = Int64(SegmentHeader.blockByteCount)
    if segment.byteCount < blockByteCount, survey.piece == nil {
      ofFiles.append(
        Finding(
          .corruption, .segmentEnd, segment.path, at: segment.byteCount, byteCount: blockByteCount - segment.byteCount,
          "the file ends inside its header block"))
    }
  }

  /// Segment files that are not of the chain.
  private mutating func addStrangers() {
    for segment in survey.segments {
      switch segment.role {
      case .closed, .active: break
      case .released:
        ofFiles.append(
          Finding(
            .note, .releasedSegment, segment.path, byteCount: segment.byteCount,
            "given up by a reset or release; the next writable open removes it"))
      case .unfinished:
        ofFiles.append(
          Finding(
            .finding, .unfinishedSegment, segment.path, byteCount: segment.byteCount,
            "a segment that was never finished; the next writable open removes it"))
      case .stray:
        // Where the chain is broken, this file may be what is missing: its own damage is part of the picture.
        if survey.chainError != nil, let error = segment.error {
          ofFiles.append(Finding(error, path: segment.path))
        } else {
          ofFiles.append(
            Finding(
              .finding, .straySegment, segment.path, byteCount: segment.byteCount,
              "not a segment of this store's chain"))
        }
      }
    }
  }

  // MARK: - The end of the log

  private mutating func examineTail() throws(LogError) {
    guard let active = survey.active else { return }
    do throws(LogError) {
      tail = try survey.examineTail()
    } catch {
      guard case .ioFailed = error else { throw error }
      ofEnd.append(Finding(error, path: active.path))
    }
    guard let tail else { return }
    if let finding = Finding(tail) { ofEnd.append(finding) }
    if case .header(.unknownKind(let kind)) = tail.evidence.stop {
      ofEnd.append(
        Finding(
          .corruption, .unsupported, tail.path, at: tail.verifiedEndOffset,
          "a frame of kind \(kind), which this version does not know"))
    }
  }

  /// What open refuses the store for before it looks at the tail.
  private func engineRefusal() throws(LogError) -> LogError? {
    guard let root = survey.root.root else { return survey.chainError }
    do throws(LogError) {
      try RootFile.refuseIfReadOnly(root, in: directory)
    } catch {
      return error
    }
    if let error = survey.chainError { return error }
    guard let chain = survey.chain else { return nil }
    do throws(LogError) {
      try chain.refuseIfEmpty(root: root, in: directory)
      if !chain.headers.isEmpty { _ = try chain.stateBehindAnchor(of: root, in: directory) }
      return nil
    } catch {
      if case .ioFailed(let failure) = error, failure.errno == .noSuchFile { throw .generationGone }
      return error
    }
  }
}

extension StoreSurvey {
  /// The end of the last segment; nil if none has a header.
  func examineTail() throws(LogError) -> TailInspection? {
    guard let active, let header = active.header, piece == nil else { return nil }
    let segment = try SegmentFile(inspecting: active.path, header: header, in: directory.fileSystem)
    return try TailInspection.examine(
      segment, root: root.root, isLocked: lock.isHeld, store: root.byteCount == nil ? nil : directory)
  }
}

extension Finding {
  /// The tail's verdict; nil if there is nothing to say.
  fileprivate init?(_ tail: TailInspection) {
    let evidence = tail.evidence
    let behind = evidence.fileByteCount - tail.commitEndOffset
    switch tail.verdict {
    case .torn where tail.isInFlight, .cleanEnd where tail.isInFlight:
      self.init(
        .note, .inFlight, tail.path, at: tail.commitEndOffset, byteCount: behind,
        "a writer has the store open; what follows here is on its way")
    case .torn:
      self.init(
        .finding, .tornTail, tail.path, at: tail.commitEndOffset, byteCount: behind,
        "torn tail: \(evidence.stop); none of it was ever confirmed, and the next writable open cuts it")
    case .cleanEnd where evidence.verifiedEnd != evidence.commitEnd:
      self.init(
        .finding, .tornTail, tail.path, at: tail.commitEndOffset,
        byteCount: tail.verifiedEndOffset - tail.commitEndOffset,
        "torn tail: the last commit has no end; it was never confirmed, and the next writable open cuts it")
    case .corrupt(let rule):
      let promised = tail.offset(of: evidence.promise.lsn)
      self.init(
        .corruption, .tailVerdict, tail.path, at: tail.verifiedEndOffset,
        "rule \(rule): frames verify up to byte \(tail.verifiedEndOffset) (\(evidence.stop)), a sync had confirmed byte \(promised) "
          + "(\(evidence.promise.source.rawValue)); \(evidence.laterFrameCount) frame headers verify from there on")
    case .cleanEnd, .unfinishedCreation, .readFailed: return nil
    }
  }
}
