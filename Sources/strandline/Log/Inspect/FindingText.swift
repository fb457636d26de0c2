@_spi(Engine) import StrandlineLog

/// Findings as lines and as JSON.
enum FindingText {
  static func word(_ severity: Finding.Severity) -> String {
    switch severity {
    case .note: "note"
    case .finding: "finding"
    case .corruption: "corrupt"
    case .ioFailure: "I/O"
    }
  }

  /// - Parameter console: styles the line, where it goes to standard output; nil: plain.
  static func line(_ finding: Finding, _ console: Console?) -> String {
    let style: TextStyle =
      switch finding.severity {
      case .note: .dim
      case .finding: .yellow
      case .corruption, .ioFailure: .red
      }
    var place = TerminalText.escaped(finding.file)
    if let offset = finding.offset { place += ":\(offset)" }
    let word = word(finding.severity)
    var text = "\(console?.styled(style, word) ?? word): \(place): \(TerminalText.escaped(finding.message))"
    if let byteCount = finding.byteCount { text += " (\(byteCount) bytes)" }
    if let bit = finding.flippedBit { text += "; one flipped bit explains it: byte \(bit.byte), bit \(bit.bit)" }
    return text
  }

  static func write(_ finding: Finding, to json: inout JSONWriter) {
    json.object { json in
      json.field("severity", severityCode(finding.severity))
      json.field("code", finding.code.rawValue)
      json.field("file", finding.file)
      json.field("offset", finding.offset)
      json.field("byteCount", finding.byteCount)
      json.field("message", finding.message)
      json.name("flippedBit")
      if let bit = finding.flippedBit {
        json.object { json in
          json.field("byte", bit.byte)
          json.field("bit", bit.bit)
        }
      } else {
        json.null()
      }
    }
  }

  private static func severityCode(_ severity: Finding.Severity) -> String {
    switch severity {
    case .note: "note"
    case .finding: "finding"
    case .corruption: "corruption"
    case .ioFailure: "ioFailure"
    }
  }
}
