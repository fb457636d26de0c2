@_spi(Engine) import StrandlineLog

/// What `log verify` says at the end.
enum VerifyText {
  static func summary(of report: VerifyReport) -> [String] {
    if report.survey.isEmpty { return ["no store"] }
    var lines: [String] = []
    if report.omittedCount > 0 { lines.append("\(report.omittedCount) more findings are left out") }
    let total = report.total
    lines.append(
      HumanUnits.number(report.segments.count, of: "segment") + ", "
        + HumanUnits.number(total.frameCount, of: "frame") + ", "
        + HumanUnits.number(total.commitCount, of: "commit") + ", "
        + HumanUnits.number(total.recordCount, of: "record") + ", \(HumanUnits.bytes(total.storedByteCount)) stored, "
        + "\(HumanUnits.bytes(total.rawByteCount)) raw")
    if !report.layers.isEmpty {
      let layers = report.layers
      lines.append(
        HumanUnits.number(layers.count, of: "layer") + ", "
          + HumanUnits.number(layers.reduce(0) { $0 + ($1.blockCount ?? 0) }, of: "block") + ", "
          + HumanUnits.number(layers.reduce(0) { $0 + ($1.versionCount ?? 0) }, of: "version") + ", "
          + HumanUnits.bytes(layers.reduce(0) { $0 + Int($1.byteCount) }))
    }
    lines.append(opening(report))
    return lines
  }

  /// Places that are damaged. The verdict on the end of a file only follows from such a place, where that is told of itself.
  private static func damageCount(_ report: VerifyReport) -> Int {
    let damage = report.findings.filter { $0.severity == .corruption }
    let causes = damage.filter { $0.code != .tailVerdict }
    let verdicts = damage.filter { verdict in
      verdict.code == .tailVerdict && !causes.contains { $0.file == verdict.file }
    }
    return causes.count + verdicts.count + report.omittedCount
  }

  /// What a writable open would do.
  private static func opening(_ report: VerifyReport) -> String {
    let damage = damageCount(report)
    if report.refusal?.code == .factUnreadable {
      return
        "UNUSABLE as a store with tables, though every byte verifies; `strandline log events STORE` prints what is there."
    }
    if let refusal = report.refusal {
      let place = refusal.offset.map { ":\($0)" } ?? ""
      return "DAMAGED: open refuses the store because of \(TerminalText.escaped(refusal.file))\(place). "
        + "`strandline log salvage STORE --to NEW` copies what verifies."
    }
    if report.survey.root.byteCount == nil, damage > 0 { return "DAMAGED: \(HumanUnits.number(damage, of: "place"))" }
    if report.worst == .ioFailure { return "UNREADABLE: the system refused to read; nothing can be said" }
    if damage > 0 {
      return "DAMAGED: \(HumanUnits.number(damage, of: "place")); nothing of it keeps the store from being opened"
    }
    if let tail = report.tail, tail.isInFlight { return "fine; a writer is at work" }
    if report.worst == .finding {
      let cut = report.findings.contains { $0.code == .tornTail }
      return cut ? "fine but for a torn tail, which the next open cuts" : "open works; see the findings"
    }
    return "fine"
  }

  static func write(_ report: VerifyReport, to json: inout JSONWriter) {
    let total = report.total
    json.object { json in
      json.schemaField()
      json.field("path", report.survey.path)
      json.field("verdict", verdict(report))
      json.field("opens", report.refusal == nil && report.worst != .ioFailure)
      json.field("segments", report.segments.count)
      json.field("frames", total.frameCount)
      json.field("commits", total.commitCount)
      json.field("records", total.recordCount)
      json.field("storedByteCount", total.storedByteCount)
      json.field("rawByteCount", total.rawByteCount)
      json.name("layers")
      json.array { json in
        for layer in report.layers {
          json.object { json in
            json.field("file", layer.file)
            json.field("byteCount", layer.byteCount)
            json.field("blocks", layer.blockCount)
            json.field("versions", layer.versionCount)
            json.field("damagedPlaces", layer.damage.count + (layer.refusal == nil ? 0 : 1))
            json.field("opens", layer.refusal == nil)
          }
        }
      }
      json.field("omittedFindings", report.omittedCount)
      json.name("findings")
      json.array { json in
        for finding in report.findings { FindingText.write(finding, to: &json) }
      }
    }
  }

  private static func verdict(_ report: VerifyReport) -> String {
    if report.survey.isEmpty { return "noStore" }
    switch report.worst {
    case nil, .note: return "fine"
    case .finding: return "finding"
    case .corruption: return "corrupt"
    case .ioFailure: return "ioFailure"
    }
  }
}

extension VerifyReport {
  struct Total {
    var frameCount = 0
    var commitCount = 0
    var recordCount = 0
    var storedByteCount: Int64 = 0
    var rawByteCount: Int64 = 0
  }

  var total: Total {
    segments.reduce(into: Total()) { total, segment in
      total.frameCount += segment.frameCount
      total.commitCount += segment.commitCount
      total.recordCount += segment.recordCount
      total.storedByteCount += segment.storedByteCount
      total.rawByteCount += segment.rawByteCount
    }
  }
}
