@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog

/// The records of one commit as a store's facts.
struct CommitFacts {
  var cause: Cause
  var metadata: [String: String]
  var facts: [FactReader.Fact] = []

  /// Nil if the first record is no header, or a later one no fact: the log is used for something else.
  init?(_ records: [[UInt8]], of sequence: SequenceNumber, reader: inout FactReader) {
    guard let first = records.first,
      case .header(let cause, let metadata)? = Self.read(first, sequence, &reader)
    else { return nil }
    self.cause = cause
    self.metadata = metadata
    for record in records.dropFirst() {
      guard case .fact(let fact)? = Self.read(record, sequence, &reader) else { return nil }
      facts.append(fact)
    }
  }

  private static func read(
    _ record: [UInt8], _ sequence: SequenceNumber, _ reader: inout FactReader
  ) -> FactReader.Record? {
    record.span.bytes.withUnsafeBytes { reader.read($0, of: sequence) }
  }

  // MARK: - Lines

  /// What the commit did, one line each; entries of indexes are counted, they follow from the rows.
  var lines: [String] {
    var lines: [String] = []
    var indexEntryCount = 0
    for fact in facts {
      if fact.family == "index" { indexEntryCount += 1 } else { lines.append("  " + Self.line(fact)) }
    }
    if indexEntryCount > 0 { lines.append("  \(indexEntryCount) index \(indexEntryCount == 1 ? "entry" : "entries")") }
    return lines
  }

  private static func line(_ fact: FactReader.Fact) -> String {
    let verb = fact.isDelete ? "delete" : "put"
    switch fact.content {
    case .row(let table, let key, let row):
      let unnamed = fact.unnamedCells.map { "column \($0.column) \(ValueText.json($0.value))" }.joined(separator: ", ")
      return CommitText.line(table: table, key: key, row: row) + (unnamed.isEmpty ? "" : " and \(unnamed)")
    case .index(let table, let index, let key):
      return "\(verb) index \(TerminalText.escaped(table)).\(TerminalText.escaped(index)) \(ValueText.key(key))"
    case .event(let event): return CommitText.line(event)
    case .table(let table, let number, let isDropped):
      let name = TerminalText.escaped(table.name)
      if isDropped { return "drop table \(name), number \(number)" }
      let key = table.key.map { "\(TerminalText.escaped($0.name)) \($0.type)" }.joined(separator: ", ")
      let columns = table.columns.map { "\(TerminalText.escaped($0.name)) \($0.type)" }.joined(separator: ", ")
      let indexes = table.indexes.map { TerminalText.escaped($0.name) }.joined(separator: ", ")
      return "define table \(name), number \(number): key \(key)" + (columns.isEmpty ? "" : "; columns \(columns)")
        + (table.allowsOtherColumns ? ", and others" : "") + (indexes.isEmpty ? "" : "; indexes \(indexes)")
    case .other(let key, let value):
      let table = fact.tableNumber.map { " of table \($0)" } ?? ""
      return "\(verb) \(fact.family)\(table) \(TerminalText.escaped(key))"
        + (value.map { " (\($0.count) bytes)" } ?? "")
    }
  }

  // MARK: - JSON

  func write(to json: inout JSONWriter, values: LogEvents.Values) {
    json.field("cause", "\(cause)")
    json.field("metadata", words: metadata)
    json.name("facts")
    json.array { json in for fact in facts { Self.write(fact, to: &json, values) } }
  }

  private static func write(_ fact: FactReader.Fact, to json: inout JSONWriter, _ values: LogEvents.Values) {
    json.object { json in
      json.field("op", fact.isDelete ? "delete" : "put")
      json.field("family", fact.family)
      switch fact.content {
      case .row(let table, let key, let row):
        json.field("table", table)
        json.field("key", key: key)
        guard !fact.isDelete, values != .none else { return }
        json.field("row", row)
        if !fact.unnamedCells.isEmpty { write(fact.unnamedCells, to: &json) }
      case .index(let table, let index, let key):
        json.field("table", table)
        json.field("index", index)
        json.field("key", key: key)
      case .event(let event):
        json.field("stream", event.stream)
        json.field("version", event.version)
        json.field("type", event.type)
        if values != .none { json.field("payload", event.payload) }
      case .table(let table, let number, let isDropped): write(table, number, isDropped, to: &json)
      case .other(let key, let value):
        json.field("tableNumber", fact.tableNumber)
        json.field("keyHex", hex: key)
        guard let value else { return }
        if values == .none { json.field("byteCount", value.count) } else { json.field("valueHex", hex: value) }
      }
    }
  }

  private static func write(_ cells: [FactReader.Fact.UnnamedCell], to json: inout JSONWriter) {
    json.name("unnamedCells")
    json.array { json in
      for cell in cells {
        json.object { json in
          json.field("column", cell.column)
          json.field("value", cell.value)
        }
      }
    }
  }

  private static func write(_ table: TableSchema, _ number: UInt16, _ isDropped: Bool, to json: inout JSONWriter) {
    json.field("table", table.name)
    json.field("number", number)
    if isDropped { json.field("dropped", true) }
    json.name("keyColumns")
    json.array { json in
      for column in table.key {
        json.object { json in
          json.field("name", column.name)
          json.field("type", column.type.rawValue)
        }
      }
    }
    json.name("columns")
    json.array { json in
      for column in table.columns {
        json.object { json in
          json.field("name", column.name)
          json.field("type", column.type.rawValue)
          json.field("nullable", column.isNullable)
        }
      }
    }
    json.name("indexes")
    json.array { json in
      for index in table.indexes {
        json.object { json in
          json.field("name", index.name)
          json.name("columns")
          json.array { json in for column in index.columns { json.value(column) } }
        }
      }
    }
    json.field("allowsOtherColumns", table.allowsOtherColumns)
  }
}
