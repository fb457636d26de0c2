import Strandline
@_spi(Engine) import StrandlineLog

/// The report of a salvage as lines and as JSON.
enum SalvageText {
  static func lines(_ salvage: StoreSalvageReport) -> [String] {
    let report = salvage.log
    var lines = ["\(TerminalText.escaped(report.target)): a new store of epoch \(report.epoch)"]
    if report.epoch < report.highestEpoch {
      lines.append("  brought back from an epoch that a reset had ended; the source is in epoch \(report.highestEpoch)")
    }
    let range =
      report.firstSequence.flatMap { first in report.lastSequence.map { ", numbers \(first) to \($0)" } } ?? ""
    lines.append(
      "  kept   \(HumanUnits.number(report.commitCount, of: "commit")) with "
        + "\(HumanUnits.number(report.recordCount, of: "record"))\(range), \(HumanUnits.bytes(report.byteCount))")
    if !salvage.layers.isEmpty {
      let count = salvage.layers.reduce(0) { $0 + $1.versionCount }
      lines.append(
        "  kept   \(HumanUnits.number(count, of: "version")) of keys from "
          + "\(HumanUnits.number(salvage.layers.count, of: "layer"))")
    }
    if !report.usedRoot { lines.append("  META of the source could not be used") }
    if report.olderCommitCount > 0 {
      lines.append(
        "  left   \(HumanUnits.number(report.olderCommitCount, of: "commit")) of epochs that a reset had ended")
    }
    lines += lost(report) + salvage.layers.flatMap { layer in self.lines(layer) }
    lines += salvage.lostDefinitions.flatMap { definition in self.lines(definition) }
    if let reason = salvage.unsettled {
      lines.append("  indexes were not made anew: \(TerminalText.escaped(reason.summary))")
    }
    if !salvage.reindexedTables.isEmpty {
      let names = salvage.reindexedTables.map { TerminalText.escaped($0) }.joined(separator: ", ")
      lines.append("  indexes made anew: \(names)")
    }
    if salvage.isComplete { lines.append("  lost   nothing") }
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
    return lines
  }

  /// What a damaged layer lost.
  private static func lines(_ layer: SavedLayer) -> [String] {
    let name = TerminalText.escaped(layer.file)
    let commits = "commits \(layer.commits.lowerBound) to \(layer.commits.upperBound)"
    var lines: [String] = []
    if let damage = layer.damage.first {
      let place = damage.offset.map { ":\($0)" } ?? ""
      lines.append("  broken layer \(name)\(place): expected \(damage.expected), found \(damage.found)")
    }
    if layer.isInLog {
      if layer.outcome == .lost || !layer.lost.isEmpty {
        lines.append("  kept   \(commits), which the layer held, from the log")
      }
      return lines
    }
    if layer.outcome == .lost { lines.append("  lost   layer \(name) with what \(commits) wrote last") }
    for keys in layer.lost { lines.append("  lost   \(text(keys)) (\(commits), \(HumanUnits.bytes(keys.byteCount)))") }
    return lines
  }

  /// What rows and cells are called whose definition is lost.
  private static func lines(_ lost: LostDefinition) -> [String] {
    let table = TerminalText.escaped(lost.table)
    var lines: [String] = []
    if lost.isWhole {
      lines.append(
        "  lost   the definition of table \(lost.tableNumber), which has \(HumanUnits.number(lost.rowCount, of: "row")): "
          + "it is called \(table) now, its keys are bytes")
    }
    for column in lost.columns {
      lines.append(
        "  lost   the definition of column \(column.number) of \(table), which has "
          + "\(HumanUnits.number(column.cellCount, of: "cell")): it is called \(TerminalText.escaped(column.name)) now")
    }
    for index in lost.indexes { lines.append("  lost   index \(index) of \(table)") }
    return lines
  }

  private static func write(_ lost: LostDefinition, to json: inout JSONWriter) {
    json.object { json in
      json.field("tableNumber", lost.tableNumber)
      json.field("table", lost.table)
      json.field("whole", lost.isWhole)
      json.field("rows", lost.rowCount)
      json.name("columns")
      json.array { json in
        for column in lost.columns {
          json.object { json in
            json.field("number", column.number)
            json.field("name", column.name)
            json.field("cells", column.cellCount)
          }
        }
      }
      json.name("indexes")
      json.array { json in for index in lost.indexes { json.value(index) } }
    }
  }

  private static func text(_ keys: LostKeys) -> String {
    let what: String =
      switch (keys.family, keys.table) {
      case ("row", let table?): "rows of \(TerminalText.escaped(table))"
      case ("index", let table?): "index entries of \(TerminalText.escaped(table))"
      case ("catalog", _): "definitions of tables"
      case (let family?, _): "facts of family \(family)"
      case (nil, _): "facts of which nothing tells what they were"
      }
    let range =
      switch (keys.after.map { TerminalText.escaped($0) }, keys.before.map { TerminalText.escaped($0) }) {
      case (let after?, let before?): " behind key \(after) and in front of key \(before)"
      case (let after?, nil): " behind key \(after)"
      case (nil, let before?): " in front of key \(before)"
      case (nil, nil): ""
      }
    return what + range + (keys.isOpenEnded ? ", and whatever the layer held behind them" : "")
  }

  static func write(_ salvage: StoreSalvageReport, to json: inout JSONWriter) {
    let report = salvage.log
    json.object { json in
      json.schemaField()
      json.field("source", report.source)
      json.field("target", report.target)
      json.field("complete", salvage.isComplete)
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
      json.name("layers")
      json.array { json in
        for layer in salvage.layers { write(layer, to: &json) }
      }
      json.name("lostDefinitions")
      json.array { json in
        for lost in salvage.lostDefinitions { write(lost, to: &json) }
      }
      json.list("reindexedTables", salvage.reindexedTables)
      json.field("unsettled", salvage.unsettled?.summary)
    }
  }

  private static func write(_ layer: SavedLayer, to json: inout JSONWriter) {
    json.object { json in
      json.field("file", layer.file)
      json.field("outcome", layer.outcome.rawValue)
      json.field("firstSequence", layer.commits.lowerBound.rawValue)
      json.field("lastSequence", layer.commits.upperBound.rawValue)
      json.field("versions", layer.versionCount)
      json.field("inLog", layer.isInLog)
      json.name("damage")
      json.array { json in
        for damage in layer.damage {
          json.object { json in
            json.field("offset", damage.offset)
            json.field("expected", damage.expected)
            json.field("found", damage.found)
          }
        }
      }
      json.name("lost")
      json.array { json in
        for keys in layer.lost {
          json.object { json in
            json.field("family", keys.family)
            json.field("table", keys.table)
            json.field("after", keys.after)
            json.field("before", keys.before)
            json.field("openEnded", keys.isOpenEnded)
            json.field("byteCount", keys.byteCount)
          }
        }
      }
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
