import StrandlineSync

/// Writes that are queued, for people and for programs.
enum WrittenText {
  static func print(
    _ written: [RowWriter.Written], table: String, _ layout: JSONWriter.Layout?, _ console: Console
  ) throws {
    switch layout {
    case nil:
      for write in written {
        try console.print("queued \(write.operation.rawValue) \(TerminalText.escaped("\(table) \(write.pk)"))")
      }
    case .line:
      var json = JSONWriter(.line)
      for write in written {
        Self.write(write, table, to: &json)
        json.endLine()
        try console.out.write(&json)
      }
    case .document:
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.name("queued")
        json.array { json in for write in written { Self.write(write, table, to: &json) } }
      }
      json.endLine()
      try console.out.write(&json)
    }
  }

  private static func write(_ write: RowWriter.Written, _ table: String, to json: inout JSONWriter) {
    json.object { json in
      json.field("table", table)
      json.field("key", write.pk)
      json.field("operation", write.operation.rawValue)
    }
  }
}
