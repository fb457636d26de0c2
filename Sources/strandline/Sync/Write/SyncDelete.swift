import StrandlineSync

/// `strandline sync delete`: one row less here, and on the server once it is told.
struct SyncDelete: Command {
  static let specification = CommandSpecification(
    name: "delete",
    summary: "Delete a row of a client's store, and queue that for the server.",
    discussion: [
      "In a table whose settings name a softDelete column the row is marked instead, and no longer found.",
      "Exit code 1: there is no such row, or the answer to the question was no.",
    ],
    positionals: [SyncAccess.positional],
    options: [
      StoreAccess.table, TableKey.option, Confirmation.option,
      .init("--if", "COLUMN=JSON", isRepeatable: true, summary: "A value that the server's row must have."),
    ] + SyncAccess.options + [.json, .jsonLines])

  private let access: SyncAccess
  private let table: String
  private let keys: [String]
  private let isConfirmed: Bool
  private let precondition: [String: Value]
  private let layout: JSONWriter.Layout?

  init(_ arguments: Arguments) throws(UsageError) {
    access = try SyncAccess(arguments)
    table = try arguments.required("--table", "T")
    keys = arguments.values("--key")
    isConfirmed = arguments.has("--yes")
    precondition = try ColumnOption.values(arguments, "--if")
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    layout = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .line : nil
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try access.settings()
    let columns = settings.tables[table]?.key ?? ["id"]
    guard columns.count == keys.count else {
      throw Failure(
        .usage,
        "the key of table \(table) is \(columns.joined(separator: ", ")); --key was given "
          + HumanUnits.number(keys.count, of: "time"))
    }
    let name = "\(table) \(keys.joined(separator: ", "))"
    try Confirmation.require(isConfirmed, "Delete \(name)?", console)
    // A key that reads as a number may be one or a text: JSON tells them apart, the shell does not.
    let filters = zip(columns, keys).map { column, text -> Filter in
      let asText = Filter.column(column, .equals, .string(text))
      return Int64(text).map { .or([asText, .column(column, .equals, .int($0))]) } ?? asText
    }
    let (access, table, precondition) = (access, table, precondition)
    let (deleted, reset) = try AsyncWork.wait {
      try await access.withClient(settings, makes: false, performsAction: true) { client in
        let deleted = try await client.applyWhere(
          .delete, in: table, filters: filters, precondition: precondition.isEmpty ? nil : precondition)
        return (deleted, client.resetAtOpen)
      }
    }
    ResetText.note(reset, console)
    if deleted.isEmpty {
      console.note("\(TerminalText.escaped(name)): no such row")
      return .finding
    }
    try WrittenText.print(
      deleted.map { RowWriter.Written(operation: .delete, pk: $0) }, table: table, layout, console)
    return .success
  }
}
