/// Proves a whole store: META, headers, every frame of every segment, the chain, the tail. Changes nothing.
struct StoreVerifier {
  let survey: StoreSurvey
  let searchesBits: Bool
  let threadCount: Int
  /// Nil: only lengths of layers are compared.
  var proveLayer: LayerProver?
  /// Called with the number of bytes proved so far; from any thread.
  var progress: (@Sendable (Int64) -> Void)?

  private var directory: StoreDirectory { survey.directory }

  func run() throws(LogError) -> VerifyReport {
    var report = VerifyReport(survey: survey)
    var findings = FindingList()
    if survey.isEmpty {
      findings.add(Finding(.note, .noStore, survey.path, "no store here yet"))
      addNames(&findings)
      report.take(findings)
      return report
    }
    addRoot(&findings)
    addNames(&findings)
    let layerRefusal = try addLayers(&findings, &report)
    report.tail = try examineTail(&findings)
    let members = survey.live
    let results = verify(members, tail: report.tail)
    for result in results where result.error == .generationGone { throw .generationGone }
    for result in results {
      report.segments.append(result.summary)
      findings.add(result.findings)
    }
    addStrangers(&findings)
    let chainBreak = checkChain(members, results, &findings)
    addTail(report.tail, &findings)
    let refusal = try engineRefusal()
    if let refusal, refusal != survey.root.error { findings.add(Finding(refusal, path: survey.path)) }
    report.refusal =
      refusal.map { Finding($0, path: survey.path) }
      ?? report.tail?.refusal.map { Finding($0, path: survey.path) }
      ?? results.lazy.compactMap(\.refusal).first ?? chainBreak
      ?? layerRefusal
    report.take(findings)
    return report
  }

  // MARK: - META, names, layers

  private func addRoot(_ findings: inout FindingList) {
    let root = survey.root
    for slot in root.slots {
      guard let defect = slot.defect else { continue }
      // With no slot left the store is refused; with one it opens as ever. A torn write of META looks the same as damage.
      findings.add(
        Finding(
          root.root == nil ? .corruption : .finding, .rootSlotDamaged, root.path,
          at: Int64(slot.number * RootSlot.byteCount), byteCount: Int64(RootSlot.byteCount),
          "slot \(slot.number): \(slot.isZero ? "zeros" : defect.description)", flippedBit: slot.singleBit))
    }
    if let error = root.error { findings.add(Finding(error, path: root.path)) }
  }

  private func addNames(_ findings: inout FindingList) {
    for name in survey.listing.unfinished {
      findings.add(
        Finding(
          .note, .unfinishedFile, directory.path(of: name),
          "left by an operation that was interrupted; the next writable open removes it"))
    }
    for name in survey.listing.inner {
      findings.add(
        Finding(.note, .innerStore, directory.path(of: name), "a store of its own; not looked into"))
    }
    for name in survey.listing.unknown {
      findings.add(Finding(.note, .unknownName, directory.path(of: name), "no file of a store; left alone"))
    }
  }

  /// - Returns: the layer for which open refuses the store.
  private func addLayers(_ findings: inout FindingList, _ report: inout VerifyReport) throws(LogError) -> Finding? {
    var refusal: Finding?
    for layer in survey.layers where !layer.isWhole {
      guard let entry = layer.entry else { continue }
      let isMissing = layer.byteCount == nil
      let finding = Finding(
        .corruption, isMissing ? .layerMissing : .layerDamaged, layer.path,
        isMissing
          ? "META names this layer and it is not there"
          : layer.isFile
            ? "META says \(entry.byteCount) bytes, the file has \(layer.byteCount ?? 0)" : "no regular file")
      findings.add(finding)
      refusal = refusal ?? finding
    }
    for proof in try proveLayers(&findings) {
      report.layers.append(proof)
      for damage in proof.damage {
        findings.add(
          Finding(
            .corruption, .layerDamaged, damage.file, at: damage.offset,
            "expected \(damage.expected), found \(damage.found)"))
      }
      guard let reason = proof.refusal else { continue }
      var finding = Finding(reason, path: proof.file)
      if finding.code == .refused { finding.code = .layerDamaged }
      findings.add(finding)
      refusal = refusal ?? finding
    }
    for layer in survey.layers where layer.entry == nil && survey.root.root != nil {
      findings.add(Finding(.note, .layerUnnamed, layer.path, "a layer that META does not name"))
    }
    return refusal
  }

  /// Has the layers that META names and that have the right length proved, several at a time.
  private func proveLayers(_ findings: inout FindingList) throws(LogError) -> [LayerProof] {
    guard let proveLayer, let identifier = survey.root.root?.identifier else { return [] }
    let entries = survey.layers.filter(\.isWhole).compactMap(\.entry)
    let directory = directory
    let results = parallelMap(count: entries.count, threadCount: threadCount) { index in
      Result { () throws(LogError) in try proveLayer(entries[index], identifier, directory) }
    }
    var proofs: [LayerProof] = []
    for (entry, result) in zip(entries, results) {
      switch result {
      case .success(let proof): proofs.append(proof)
      case .failure(let error):
        guard case .ioFailed = error else { throw error }
        findings.add(Finding(error, path: directory.path(of: entry.fileName)))
      }
    }
    return proofs
  }

  /// Segment files that are not of the chain.
  private func addStrangers(_ findings: inout FindingList) {
    for segment in survey.segments {
      switch segment.role {
      case .closed, .active: break
      case .released:
        findings.add(
          Finding(
            .note, .releasedSegment, segment.path, byteCount: segment.byteCount,
            "given up by a reset or release; the next writable open removes it"))
      case .unfinished:
        findings.add(
          Finding(
            .finding, .unfinishedSegment, segment.path, byteCount: segment.byteCount,
            "a segment that was never finished; the next writable open removes it"))
      case .stray:
        // Where the chain is broken, this file may be what is missing: its own damage is part of the picture.
        if survey.chainError != nil, let error = segment.error {
          findings.add(Finding(error, path: segment.path))
        } else {
          findings.add(
            Finding(
              .finding, .straySegment, segment.path, byteCount: segment.byteCount,
              "not a segment of this store's chain"))
        }
      }
    }
  }

  // MARK: - Segments

  private func examineTail(_ findings: inout FindingList) throws(LogError) -> TailInspection? {
    guard let active = survey.active, let header = active.header, survey.piece == nil else { return nil }
    do throws(LogError) {
      let segment = try SegmentFile(inspecting: active.path, header: header, in: directory.fileSystem)
      return try TailInspection.examine(segment, root: survey.root.root, isLocked: survey.lock.isHeld)
    } catch {
      guard case .ioFailed = error else { throw error }
      findings.add(Finding(error, path: active.path))
      return nil
    }
  }

  private func verify(_ members: [SegmentInspection], tail: TailInspection?) -> [SegmentVerifier.Result] {
    let verifiers = members.map { member in
      SegmentVerifier(
        directory: directory, inspection: member, searchesBits: searchesBits, isPiece: survey.piece != nil,
        tail: member.role == .active ? tail : nil, replayStart: survey.root.root?.anchor.lsn ?? .zero)
    }
    let done = Lock<Int64>(0)
    return parallelMap(count: verifiers.count, threadCount: threadCount) { index in
      let result = verifiers[index].run()
      if let progress {
        let total = done.withLock { sum in
          sum += members[index].byteCount
          return sum
        }
        progress(total)
      }
      return result
    }
  }

  /// Where one whole segment ends the next must begin. The first place where it does not and replay would meet it.
  private func checkChain(
    _ members: [SegmentInspection], _ results: [SegmentVerifier.Result], _ findings: inout FindingList
  ) -> Finding? {
    let replayStart = survey.root.root?.anchor.lsn ?? .zero
    var refusal: Finding?
    for index in members.indices.dropLast() {
      guard results[index].summary.damageCount == 0, let end = results[index].end,
        let next = members[index + 1].header, members[index].named != nil
      else { continue }
      guard next.baseSequence != end.sequence || next.epoch != end.epoch || next.reset != end.reset else { continue }
      let finding = Finding(
        .corruption, .chainBroken, members[index + 1].path, at: 0,
        "the segment begins behind commit \(next.baseSequence) of epoch \(next.epoch); the one in front ends with commit "
          + "\(end.sequence) of epoch \(end.epoch)")
      findings.add(finding)
      if refusal == nil, next.baseLSN > replayStart { refusal = finding }
    }
    return refusal
  }

  private func addTail(_ tail: TailInspection?, _ findings: inout FindingList) {
    guard let tail else { return }
    let evidence = tail.evidence
    let behind = evidence.fileByteCount - tail.commitEndOffset
    switch tail.verdict {
    case .torn where tail.isInFlight:
      findings.add(
        Finding(
          .note, .inFlight, tail.path, at: tail.commitEndOffset, byteCount: behind,
          "a writer has the store open; what follows here is on its way"))
    case .torn:
      findings.add(
        Finding(
          .finding, .tornTail, tail.path, at: tail.commitEndOffset, byteCount: behind,
          "torn tail: \(evidence.stop); none of it was ever confirmed, and the next writable open cuts it"))
    case .cleanEnd where evidence.verifiedEnd != evidence.commitEnd:
      findings.add(
        Finding(
          tail.isInFlight ? .note : .finding, .tornTail, tail.path, at: tail.commitEndOffset,
          byteCount: tail.verifiedEndOffset - tail.commitEndOffset,
          "torn tail: the last commit has no end; it was never confirmed, and the next writable open cuts it"))
    case .corrupt(let rule):
      let promised = tail.offset(of: evidence.promise.lsn)
      findings.add(
        Finding(
          .corruption, .tailVerdict, tail.path, at: tail.verifiedEndOffset,
          "rule \(rule): frames verify up to byte \(tail.verifiedEndOffset) (\(evidence.stop)), a sync had confirmed byte \(promised) "
            + "(\(evidence.promise.source.rawValue)); \(evidence.laterFrameCount) frame headers verify from there on"))
    case .cleanEnd, .unfinishedCreation, .readFailed: break
    }
    if case .header(.unknownKind(let kind)) = evidence.stop {
      findings.add(
        Finding(
          .corruption, .unsupported, tail.path, at: tail.verifiedEndOffset,
          "a frame of kind \(kind), which this version does not know"))
    }
  }

  // MARK: - What open says

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

/// What ``StoreInspector/verify(threadCount:progress:)`` found.
@_spi(Engine) public struct VerifyReport: Sendable {
  public var survey: StoreSurvey
  /// One for each segment of the chain, in order.
  public var segments: [SegmentSummary] = []
  /// One for each layer that was proved, top first.
  public var layers: [LayerProof] = []
  public var tail: TailInspection?
  /// What a writable open would refuse the store for; nil if it would open it, cutting a torn tail if there is one.
  public var refusal: Finding?
  public private(set) var findings: [Finding] = []
  /// Findings that were left out because there are too many.
  public private(set) var omittedCount = 0
  /// nil: nothing to report.
  public private(set) var worst: Finding.Severity?

  init(survey: StoreSurvey) { self.survey = survey }

  mutating func take(_ list: FindingList) {
    findings = list.findings
    omittedCount = list.omittedCount
    worst = list.worst
  }
}
