import Strandline
@_spi(Engine) import StrandlineLog

/// One commit as consumers of changes see it, as lines and as JSON.
enum CommitText {
  static func heading(sequence: UInt64, time: Int64?, cause: String, metadata: [String: String]) -> String {
    var line =
      "\(sequence)\t" + (time.map { UTCTime.text(milliseconds: $0) } ?? "-") + "\t" + TerminalText.escaped(cause)
    for (name, text) in metadata.sorted(by: { $0.key < $1.key }) {
      line += "\t\(TerminalText.escaped(name))=\(TerminalText.escaped(text))"
    }
    return line
  }

  static func lines(_ commit: StoreCommit, table: String?) -> [String] {
    var lines = [
      heading(
        sequence: commit.position.sequence.rawValue, time: commit.time, cause: word(commit), metadata: commit.metadata)
    ]
    for change in commit.rows where table == nil || change.table == table { lines.append("  " + line(change)) }
    guard table == nil else { return lines }
    for event in commit.events { lines.append("  " + line(event)) }
    return lines
  }

  static func line(_ change: RowChange) -> String { line(table: change.table, key: change.key, row: change.row) }

  static func line(table: String, key: [Value], row: Row?) -> String {
    let what = "\(TerminalText.escaped(table)) \(ValueText.key(key))"
    return row.map { "put \(what) \(ValueText.json($0))" } ?? "delete \(what)"
  }

  static func line(_ event: StreamEvent) -> String {
    "event \(TerminalText.escaped(event.stream)) \(event.version) \(TerminalText.escaped(event.type)) "
      + ValueText.json(event.payload)
  }

  /// The cause, or what a commit is that has none.
  private static func word(_ commit: StoreCommit) -> String {
    if case .gap(let last) = commit.kind { return "gap through \(last)" }
    return "\(commit.cause)"
  }

  static func write(_ commit: StoreCommit, table: String?, to json: inout JSONWriter) {
    json.object { json in
      json.schemaField()
      json.field("position", PositionText.text(commit.position))
      json.field("epoch", commit.position.epoch)
      json.field("sequence", commit.position.sequence.rawValue)
      json.field("time", UTCTime.text(milliseconds: commit.time))
      switch commit.kind {
      case .facts: break
      case .reset: json.field("reset", true)
      case .gap(let last): json.field("gapThrough", last.rawValue)
      }
      json.field("cause", "\(commit.cause)")
      json.field("metadata", words: commit.metadata)
      json.name("changes")
      json.array { json in
        for change in commit.rows where table == nil || change.table == table {
          json.object { json in
            json.field("table", change.table)
            json.field("key", key: change.key)
            json.field("row", change.row)
          }
        }
      }
      guard table == nil else { return }
      json.name("events")
      json.array { json in for event in commit.events { write(event, to: &json) } }
    }
  }

  static func write(_ event: StreamEvent, to json: inout JSONWriter) {
    json.object { json in
      json.field("stream", event.stream)
      json.field("version", event.version)
      json.field("type", event.type)
      json.field("payload", event.payload)
    }
  }
}
