import Strandline
import StrandlineLog

/// `strandline query`: rows of a table that fulfil conditions.
struct QueryCommand: Command {
  static let specification = CommandSpecification(
    name: "query",
    summary: "Find rows of a table.",
    discussion: [
      "All conditions must be true of a row. Rows come as they are read; the default is columns for people.",
      "  strandline query STORE --table people --where 'age>=18' --order name --limit 10",
      "Reads one state, beside a writer if there is one. Decimals, and so integers beyond 64 bits, come out as JSON strings.",
      "",
    ] + QueryArguments.filterDiscussion,
    positionals: [StoreAccess.positional],
    options: [StoreAccess.table] + QueryArguments.options + [
      .init("--at", "N", summary: "As of right behind commit N, if the history reaches back to it."),
      .init("--count", summary: "Print how many rows the conditions find, whatever limit and offset."),
      .init("--explain", summary: "Print how the rows would be found, and read none."),
      .init("--csv", summary: "Print csv with a header."), .json, .jsonLines,
    ])

  private enum Form { case table, csv, json, jsonLines }

  private let path: String
  private let table: String
  private let query: QueryArguments
  private let sequence: SequenceNumber?
  private let counts: Bool
  private let explains: Bool
  private let form: Form

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    table = try arguments.required("--table", "T")
    query = try QueryArguments(arguments)
    sequence = try arguments.sequence("--at")
    try arguments.requireAtMostOne(of: "--count", "--explain")
    try arguments.requireAtMostOne(of: "--csv", "--json", "--jsonl")
    counts = arguments.has("--count")
    explains = arguments.has("--explain")
    form =
      arguments.has("--csv") ? .csv : arguments.has("--json") ? .json : arguments.has("--jsonl") ? .jsonLines : .table
    if form == .csv, counts || explains { throw .conflict("--csv", counts ? "--count" : "--explain") }
  }

  func run(_ console: Console) throws -> ExitCode {
    let store = try StoreAccess.reading(path)
    let view = try StoreAccess.view(of: store, at: sequence)
    var query = view.query(table)
    query.plan = try self.query.plan(over: try view.schema(of: table))
    if explains {
      let explanation = try query.explain()
      try console.print(form == .table ? TerminalText.escapedLines(explanation.description) : explanation.json)
    } else if counts {
      let count = try query.count()
      try console.print(form == .table ? "\(count)" : "{\"count\":\(count)}")
    } else {
      try print(try query.rows(), console)
    }
    return .success
  }

  private func print(_ rows: QueryRows, _ console: Console) throws {
    switch form {
    case .csv:
      var failure: OutputError?
      try rows.writeCSV { bytes in
        guard failure == nil else { return }
        do throws(OutputError) { try console.out.write(bytes) } catch { failure = error }
      }
      if let failure { throw failure }
    case .table:
      var table = RowTable(columns: rows.columns, console: console)
      while let row = try rows.next() { try table.add(row) }
      try table.finish()
      if console.errIsTerminal {
        console.note("\(HumanUnits.count(table.rowCount)) \(table.rowCount == 1 ? "row" : "rows")")
      }
    case .jsonLines:
      while let row = try rows.next() { try console.print(ValueText.json(row)) }
    case .json:
      var isFirst = true
      try console.out.write("[")
      while let row = try rows.next() {
        try console.out.write((isFirst ? "\n  " : ",\n  ") + ValueText.json(row))
        isFirst = false
      }
      try console.out.write(isFirst ? "]\n" : "\n]\n")
    }
  }
}
