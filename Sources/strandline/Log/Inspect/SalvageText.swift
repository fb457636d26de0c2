@_spi(Engine) import StrandlineLog

/// The report of a salvage as lines and as JSON.
enum SalvageText {
  static func lines(_ report: SalvageReport) -> [String] {
    var lines = ["\(TerminalText.escaped(report.target)): a new store of epoch \(report.epoch)"]
    if report.epoch < report.highestEpoch {
      lines.append("  brought back from an epoch that a reset had ended; the source is in epoch \(report.highestEpoch)")
    }
    let range =
      report.firstSequence.flatMap { first in report.lastSequence.map { ", numbers \(first) to \($0)" } } ?? ""
    lines.append(
      "  kept   \(HumanUnits.number(report.commitCount, of: "commit")) with "
        + "\(HumanUnits.number(report.recordCount, of: "record"))\(range), \(HumanUnits.bytes(report.byteCount))")
    if !report.layers.isEmpty { lines.append("  kept   \(HumanUnits.number(report.layers.count, of: "layer"))") }
    if !report.usedRoot { lines.append("  META of the source could not be used") }
    if report.olderCommitCount > 0 {
      lines.append(
        "  left   \(HumanUnits.number(report.olderCommitCount, of: "commit")) of epochs that a reset had ended")
    }
    lines += lost(report)
    if report.isComplete { lines.append("  lost   nothing") }
    return lines
  }

  private static func lost(_ report: SalvageReport) -> [String] {
    var lines: [String] = []
    for gap in report.gaps {
      let numbers = gap.first == gap.last ? "commit \(gap.first)" : "commits \(gap.first) to \(gap.last)"
      lines.append("  lost   \(numbers): \(gap.reason)")
    }
    let omitted = report.gapCount - report.gaps.count
    if omitted > 0 {
      lines.append(
        "  lost   \(omitted) more stretches; \(HumanUnits.number(report.lostSequenceCount, of: "number")) in all")
    }
    if !report.hasReset { lines.append("  lost   the RESET that began the epoch, with the records it carried") }
    if report.brokenCommitCount > 0 {
      lines.append("  broken \(HumanUnits.number(report.brokenCommitCount, of: "commit")) of which a part was found")
    }
    if report.unreadableByteCount > 0 {
      lines.append("  broken \(HumanUnits.number(report.unreadableByteCount, of: "byte")) in which no frame is")
    }
    if let end = report.lostEnd {
      lines.append(
        "  lost   the end of \(TerminalText.escaped(end.file)), byte \(end.offset) to \(end.confirmedEnd): a sync had "
          + "confirmed it; how many commits stood there nobody can tell")
    }
    for ordinals in report.missingOrdinals {
      let text =
        ordinals.count == 1
        ? "segment \(ordinals.lowerBound)" : "segments \(ordinals.lowerBound) to \(ordinals.upperBound)"
      lines.append("  lost   \(text): no usable file")
    }
    for file in report.unusable {
      lines.append("  unused \(TerminalText.escaped(file.file)): \(TerminalText.escaped(file.reason))")
    }
    for layer in report.lostLayers { lines.append("  lost   layer \(TerminalText.escaped(layer))") }
    return lines
  }

  static func write(_ report: SalvageReport, to json: inout JSONWriter) {
    json.object { json in
      json.schemaField()
      json.field("source", report.source)
      json.field("target", report.target)
      json.field("complete", report.isComplete)
      json.field("epoch", report.epoch)
      json.field("highestEpoch", report.highestEpoch)
      json.field("usedRoot", report.usedRoot)
      json.field("hasReset", report.hasReset)
      json.field("commits", report.commitCount)
      json.field("records", report.recordCount)
      json.field("byteCount", report.byteCount)
      json.field("firstSequence", report.firstSequence?.rawValue)
      json.field("lastSequence", report.lastSequence?.rawValue)
      json.field("gapCount", report.gapCount)
      json.field("lostSequences", report.lostSequenceCount)
      json.name("gaps")
      json.array { json in
        for gap in report.gaps {
          json.object { json in
            json.field("from", gap.first.rawValue)
            json.field("to", gap.last.rawValue)
            json.field("reason", "\(gap.reason)")
          }
        }
      }
      json.field("brokenCommits", report.brokenCommitCount)
      json.field("olderCommits", report.olderCommitCount)
      json.field("unreadableByteCount", report.unreadableByteCount)
      if let end = report.lostEnd {
        json.name("lostEnd")
        json.object { json in
          json.field("file", end.file)
          json.field("offset", end.offset)
          json.field("confirmedEnd", end.confirmedEnd)
        }
      } else {
        json.field("lostEnd", nil as String?)
      }
      json.list("segments", report.segments)
      json.name("unusable")
      json.array { json in
        for file in report.unusable {
          json.object { json in
            json.field("file", file.file)
            json.field("reason", file.reason)
          }
        }
      }
      json.name("missingOrdinals")
      json.array { json in
        for ordinals in report.missingOrdinals {
          json.object { json in
            json.field("from", ordinals.lowerBound)
            json.field("to", ordinals.upperBound)
          }
        }
      }
      json.list("layers", report.layers)
      json.list("lostLayers", report.lostLayers)
    }
  }
}

extension JSONWriter {
  /// A named array of texts.
  mutating func list(_ name: String, _ texts: [String]) {
    self.name(name)
    array { json in
      for text in texts { json.value(text) }
    }
  }
}
