import StrandlineScenario

/// What `strandline scenario run` prints.
struct ScenarioReport {
  enum Format { case text, document, lines }

  private let format: Format
  private let console: Console
  private var counts: [CaseReport.Outcome: Int] = [:]
  /// The cases of a document; nothing is printed before its end.
  private var reports: [CaseReport] = []

  init(_ format: Format, _ console: Console) {
    self.format = format
    self.console = console
  }

  var failedCount: Int { counts[.failed, default: 0] }

  mutating func add(_ report: CaseReport) throws {
    counts[report.outcome, default: 0] += 1
    switch format {
    case .text: for line in ScenarioText.lines(of: report, console) { try console.print(line) }
    case .document: reports.append(report)
    case .lines:
      var json = JSONWriter(.line)
      ScenarioText.write(report, to: &json)
      json.endLine()
      try console.out.write(&json)
    }
    // A run may take long, and its reader wants to see where it is.
    try console.out.flush()
  }

  /// The summary, which is the last line.
  mutating func end() throws {
    switch format {
    case .text:
      var line = "\(counts[.passed, default: 0]) passed, \(failedCount) failed"
      if let skipped = counts[.skipped] { line += ", \(skipped) skipped" }
      try console.print(line)
    case .document:
      var json = JSONWriter(.document)
      json.object { json in
        json.field("schema", 1)
        writeCounts(to: &json)
        json.name("cases")
        json.array { json in for report in reports { ScenarioText.write(report, to: &json) } }
      }
      json.endLine()
      try console.out.write(&json)
    case .lines:
      var json = JSONWriter(.line)
      json.object { json in
        json.field("schema", 1)
        writeCounts(to: &json)
      }
      json.endLine()
      try console.out.write(&json)
    }
  }

  private func writeCounts(to json: inout JSONWriter) {
    json.field("passed", counts[.passed, default: 0])
    json.field("failed", failedCount)
    json.field("skipped", counts[.skipped, default: 0])
  }
}
