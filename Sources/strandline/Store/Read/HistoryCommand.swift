import Strandline
import StrandlineLog

/// `strandline history`: what one row was before.
struct HistoryCommand: Command {
  static let specification = CommandSpecification(
    name: "history",
    summary: "Print the versions of one row, the newest first.",
    discussion: [
      "As far back as compaction has kept them; see `--history` of the commands that write.",
      "Reads beside a writer. Exit code 1: there is no version of such a row.",
    ],
    positionals: [StoreAccess.positional],
    options: [
      StoreAccess.table, TableKey.option, .init("--limit", "N", summary: "At most N versions (default all)."), .json,
      .jsonLines,
    ])

  private let path: String
  private let table: String
  private let key: TableKey
  private let limit: Int?
  private let layout: JSONWriter.Layout?

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    table = try arguments.required("--table", "T")
    key = try TableKey(arguments)
    limit = try arguments.integer("--limit", in: 1...Int.max)
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    layout = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .line : nil
  }

  func run(_ console: Console) throws -> ExitCode {
    let store = try StoreAccess.reading(path)
    let values = try key.values(of: try store.view().schema(of: table))
    let versions = try store.history(of: values, in: table).prefix(limit ?? .max)
    switch layout {
    case .document:
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("table", table)
        json.field("key", key: values)
        json.name("versions")
        json.array { json in for version in versions { Self.write(version, to: &json) } }
      }
      json.endLine()
      try console.out.write(&json)
    case .line:
      var json = JSONWriter()
      for version in versions {
        Self.write(version, to: &json)
        json.endLine()
        try console.out.write(&json)
      }
    case nil:
      for version in versions {
        try console.print("\(version.sequence)\t\(version.row.map { ValueText.json($0.shown) } ?? "deleted")")
      }
    }
    if versions.isEmpty { console.note("\(TerminalText.escaped(table)) \(ValueText.key(values)): no such row") }
    return versions.isEmpty ? .finding : .success
  }

  private static func write(_ version: RowVersion, to json: inout JSONWriter) {
    json.object { json in
      json.field("sequence", version.sequence.rawValue)
      json.field("row", version.row?.shown)
    }
  }
}
