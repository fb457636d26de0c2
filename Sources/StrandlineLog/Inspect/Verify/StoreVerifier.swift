/// Proves a whole store: META, headers, every frame of every segment, the chain, the tail. Changes nothing.
struct StoreVerifier {
  let condition: StoreCondition
  let searchesBits: Bool
  let threadCount: Int
  /// Nil: only lengths of layers are compared.
  var proveLayer: LayerProver?
  /// Called with the number of bytes proved so far; from any thread.
  var progress: (@Sendable (Int64) -> Void)?

  private var survey: StoreSurvey { condition.survey }
  private var directory: StoreDirectory { survey.directory }

  func run() throws(LogError) -> VerifyReport {
    var report = VerifyReport(survey: survey)
    var findings = FindingList()
    for finding in condition.ofFiles { findings.add(finding) }
    let layerRefusal = try addLayers(&findings, &report)
    report.tail = condition.tail
    let members = survey.live
    let results = verify(members, tail: report.tail)
    for result in results where result.error == .generationGone { throw .generationGone }
    for result in results {
      report.segments.append(result.summary)
      findings.add(result.findings)
    }
    let chainBreak = checkChain(members, results, &findings)
    for finding in condition.ofEnd { findings.add(finding) }
    report.refusal = condition.refusal ?? results.lazy.compactMap(\.refusal).first ?? chainBreak ?? layerRefusal
    report.take(findings)
    return report
  }

  // MARK: - Layers

  /// - Returns: the layer for which open refuses the store.
  private func addLayers(_ findings: inout FindingList, _ report: inout VerifyReport) throws(LogError) -> Finding? {
    var refusal = condition.layerRefusal
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

  // MARK: - Segments

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

  /// Adds what a reader of the records found, and refuses the store for.
  @_spi(Engine) public mutating func refuse(_ finding: Finding) {
    findings.append(finding)
    worst = max(worst ?? .note, finding.severity)
    if refusal == nil { refusal = finding }
  }

  mutating func take(_ list: FindingList) {
    findings = list.findings
    omittedCount = list.omittedCount
    worst = list.worst
  }
}
