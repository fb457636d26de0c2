/// Who speaks with which server.
struct TranscriptContext: Sendable {
  struct Table: Sendable {
    var bucketColumn: String?
    var conflictMode: ConflictMode
    var keepsConflictJournal: Bool
    var softDeleteColumn: String?
    var key: [String]
  }

  var userID: String
  var clientID: String
  var schemaVersion: Int64
  var minSchemaVersion: Int64
  var tombstoneDays: Int64
  var maxPullScan: Int64
  var tables: [String: Table]

  init(_ context: MessageMember) throws(MessageDefect) {
    userID = try context.required("user_id").text()
    clientID = try context.required("client_id").text()
    schemaVersion = try context.required("schema_version").integer()
    let server = try context.required("server")
    minSchemaVersion = try server.present("min_schema_version")?.integer() ?? 0
    tombstoneDays = 30
    if let days = server.present("tombstone_ttl_days") {
      tombstoneDays = try days.integer()
      guard (0...1_000_000).contains(tombstoneDays) else { throw days.defect("a number of days") }
    }
    maxPullScan = try server.present("max_pull_scan")?.integer() ?? 5000
    let named = try server.required("tables")
    var tables: [String: Table] = [:]
    for name in try named.object().keys { tables[name] = try Table(named.required(name)) }
    self.tables = tables
  }
}

extension TranscriptContext.Table {
  fileprivate init(_ table: MessageMember) throws(MessageDefect) {
    bucketColumn = try table.present("bucket_column")?.text()
    conflictMode = .arrival
    if let word = table.present("conflict_mode") {
      guard let mode = ConflictMode(rawValue: try word.text()) else { throw word.defect("\"arrival\" or \"hlc\"") }
      conflictMode = mode
    }
    keepsConflictJournal = try table.present("conflict_journal")?.flag() ?? false
    softDeleteColumn = try table.present("soft_delete_column")?.text()
    let columns = table.present("key_columns") ?? table.present("key")
    key = try columns?.list { (column) throws(MessageDefect) in try column.text() } ?? ["id"]
  }
}
