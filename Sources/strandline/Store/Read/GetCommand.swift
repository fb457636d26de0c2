import Strandline
import StrandlineLog

/// `strandline get`: one row by its key.
struct GetCommand: Command {
  static let specification = CommandSpecification(
    name: "get",
    summary: "Print one row.",
    discussion: ["Reads beside a writer. Exit code 1: there is no such row."],
    positionals: [StoreAccess.positional],
    options: [
      StoreAccess.table, TableKey.option,
      .init("--at", "N", summary: "As of right behind commit N, if the history reaches back to it."), .json, .jsonLines,
    ])

  private let path: String
  private let table: String
  private let key: TableKey
  private let sequence: SequenceNumber?
  private let layout: JSONWriter.Layout?

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    table = try arguments.required("--table", "T")
    key = try TableKey(arguments)
    sequence = try arguments.sequence("--at")
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    layout = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .line : nil
  }

  func run(_ console: Console) throws -> ExitCode {
    let store = try StoreAccess.reading(path)
    let view = try StoreAccess.view(of: store, at: sequence)
    let values = try key.values(of: try view.schema(of: table))
    guard let row = try view.get(key: values, in: table)?.shown else {
      console.note("\(TerminalText.escaped(table)) \(ValueText.key(values)): no such row")
      return .finding
    }
    if let layout {
      var json = JSONWriter(layout)
      json.object { json in for cell in row { json.field(cell.column, cell.value) } }
      json.endLine()
      try console.out.write(&json)
    } else {
      let width = row.columns.map { TerminalText.escaped($0).count }.max() ?? 0
      for cell in row {
        try console.print(
          "\(TextTable.padded(TerminalText.escaped(cell.column), to: width, .left))  \(ValueText.cell(cell.value))")
      }
    }
    return .success
  }
}
