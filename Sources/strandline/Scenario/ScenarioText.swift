import StrandlineScenario

/// One case for people and for programs.
enum ScenarioText {
  /// Differences of one step that are printed; more help nobody.
  static let differenceCountMax = 12
  /// Characters of a value that are printed.
  static let valueCharacterCountMax = 2000

  /// One line, and below a failed case what went wrong.
  static func lines(of report: CaseReport, _ console: Console) -> [String] {
    var lines: [String] = []
    let name = TerminalText.escaped(report.name)
    switch report.outcome {
    case .passed: lines.append("\(console.styled(.green, "passed"))   \(name)")
    case .failed: lines.append("\(console.styled(.red, "failed"))   \(name)")
    case .skipped: lines.append("\(console.styled(.dim, "skipped"))  \(name)")
    }
    for side in report.sides {
      if let failure = side.failure { lines += self.lines(of: failure, side.side, report.path) }
    }
    return lines
  }

  private static func lines(of failure: CaseFailure, _ side: ScenarioSide, _ path: String) -> [String] {
    let step = failure.step.map { "step \($0), " } ?? ""
    var lines = ["  \(side.rawValue), \(step)\(failure.subject)  (\(path))"]
    if let reason = failure.reason { lines.append("    \(reason)") }
    for difference in failure.differences.prefix(differenceCountMax) {
      if !difference.path.isEmpty { lines.append("    at \(difference.path)") }
      lines.append("      expected  \(text(difference.expected))")
      lines.append("      got       \(text(difference.got))")
    }
    let rest = failure.differences.count - differenceCountMax
    if rest > 0 { lines.append("    and \(rest) more") }
    return lines.map(TerminalText.escaped)
  }

  private static func text(_ value: Value?) -> String {
    guard let value else { return "nothing" }
    let text = json(value)
    return text.count <= valueCharacterCountMax ? text : "\(text.prefix(valueCharacterCountMax))…"
  }

  private static func json(_ value: Value) -> String {
    var text: [UInt8] = []
    value.appendJSON(to: &text, decimals: .number)
    return String(decoding: text, as: UTF8.self)
  }

  static func write(_ report: CaseReport, to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", 1)
      json.field("case", report.name)
      json.field("path", report.path)
      json.field("kind", report.kind?.rawValue)
      json.field("outcome", report.outcome.rawValue)
      json.name("sides")
      json.array { json in for side in report.sides { write(side, to: &json) } }
    }
  }

  private static func write(_ side: SideReport, to json: inout JSONWriter) {
    json.object { json in
      json.field("side", side.side.rawValue)
      json.field("passed", side.failure == nil)
      guard let failure = side.failure else { return }
      json.field("step", failure.step)
      json.field("subject", failure.subject)
      json.field("reason", failure.reason)
      json.name("differences")
      json.array { json in
        for difference in failure.differences {
          json.object { json in
            json.field("path", difference.path)
            // JSON in a text: a value that is not there and one that is null are told apart.
            json.field("expected", difference.expected.map(Self.json))
            json.field("got", difference.got.map(Self.json))
          }
        }
      }
    }
  }
}
