import Strandline
import StrandlineLog

/// A store's statistics as lines and as JSON.
enum StatText {
  static func lines(_ statistics: StoreStatistics, _ report: StoreOpenReport, path: String) -> [String] {
    var lines = [TerminalText.escaped(path), "  epoch     \(statistics.epoch), commit \(statistics.sequence)"]
    let opened = HumanUnits.duration(nanoseconds: Double(report.nanoseconds))
    lines.append(
      "  opened    in \(opened): \(HumanUnits.count(report.log.commitCount)) commits with "
        + "\(HumanUnits.count(report.log.recordCount)) facts replayed, \(report.layerCount) layers")
    lines.append(
      "  history   views from commit \(statistics.oldestView) on, changes from commit \(statistics.oldestCommit) on")
    lines.append("  log       \(HumanUnits.bytes(statistics.logByteCount)) in \(statistics.segmentCount) segments")
    lines.append(
      "  cache     \(HumanUnits.bytes(statistics.cache.byteCount)) of \(HumanUnits.bytes(statistics.cache.byteCountMax)), "
        + "\(HumanUnits.count(statistics.cache.hitCount)) hits, \(HumanUnits.count(statistics.cache.missCount)) misses")
    lines.append("  pinned    \(HumanUnits.bytes(statistics.pinnedByteCount)) by views of this process")
    lines.append("")
    var layers = TextTable(
      ("layer", .left), ("level", .right), ("commits", .left), ("versions", .right), ("deletes", .right),
      ("bytes", .right))
    for layer in statistics.layers {
      layers.add(
        layer.file ?? layer.kind.rawValue, layer.kind == .disk ? "\(layer.level)" : "-",
        layer.sequences.map { "\($0.lowerBound)–\($0.upperBound)" } ?? "-", HumanUnits.count(layer.versionCount),
        HumanUnits.count(layer.deleteCount), HumanUnits.bytes(layer.byteCount))
    }
    lines += layers.lines(indent: "  ")
    guard !statistics.contents.isEmpty else { return lines }
    lines.append("")
    var contents = TextTable(
      ("family", .left), ("table", .left), ("live", .right), ("live bytes", .right), ("versions", .right),
      ("dead", .right),
      ("all bytes", .right))
    for content in statistics.contents {
      contents.add(
        content.family, TerminalText.escaped(content.table ?? "-"),
        content.live.map { HumanUnits.count($0.count) } ?? "-",
        content.live.map { HumanUnits.bytes($0.byteCount) } ?? "-",
        HumanUnits.count(content.versionCount),
        content.live.map { HumanUnits.count(content.versionCount - min($0.count, content.versionCount)) } ?? "-",
        HumanUnits.bytes(content.byteCount))
    }
    return lines + contents.lines(indent: "  ")
  }

  static func write(
    _ statistics: StoreStatistics, _ report: StoreOpenReport, path: String, to json: inout JSONWriter
  ) {
    json.object { json in
      json.schemaField()
      json.field("path", path)
      json.field("epoch", statistics.epoch)
      json.field("sequence", statistics.sequence.rawValue)
      json.field("position", PositionText.text(statistics.log.last))
      json.field("oldestView", statistics.oldestView.rawValue)
      json.field("oldestCommit", statistics.oldestCommit.rawValue)
      json.name("open")
      json.object { json in
        json.field("nanoseconds", report.nanoseconds)
        json.field("replayedCommits", report.log.commitCount)
        json.field("replayedFacts", report.log.recordCount)
        json.field("replayedBytes", report.log.storedByteCount)
        json.field("memoryBytes", report.memoryByteCount)
        json.field("layers", report.layerCount)
        json.field("layerBytes", report.layerByteCount)
      }
      json.name("log")
      json.object { json in
        json.field("segments", statistics.segmentCount)
        json.field("bytes", statistics.logByteCount)
      }
      json.name("cache")
      json.object { json in
        json.field("bytesMax", statistics.cache.byteCountMax)
        json.field("bytes", statistics.cache.byteCount)
        json.field("hits", statistics.cache.hitCount)
        json.field("misses", statistics.cache.missCount)
        json.field("evicted", statistics.cache.evictedCount)
      }
      json.field("pinnedBytes", statistics.pinnedByteCount)
      json.name("layers")
      json.array { json in for layer in statistics.layers { write(layer, to: &json) } }
      json.name("contents")
      json.array { json in for content in statistics.contents { write(content, to: &json) } }
    }
  }

  private static func write(_ layer: StoreStatistics.Layer, to json: inout JSONWriter) {
    json.object { json in
      json.field("kind", layer.kind.rawValue)
      json.field("file", layer.file)
      json.field("level", layer.level)
      json.field("firstSequence", layer.sequences?.lowerBound.rawValue)
      json.field("lastSequence", layer.sequences?.upperBound.rawValue)
      json.field("versions", layer.versionCount)
      json.field("deletes", layer.deleteCount)
      json.field("bytes", layer.byteCount)
    }
  }

  private static func write(_ content: StoreStatistics.Content, to json: inout JSONWriter) {
    json.object { json in
      json.field("family", content.family)
      json.field("table", content.table)
      json.field("versions", content.versionCount)
      json.field("deletes", content.deleteCount)
      json.field("bytes", content.byteCount)
      json.field("live", content.live?.count)
      json.field("liveBytes", content.live?.byteCount)
    }
  }
}
