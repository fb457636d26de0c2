import StrandlineSync

/// `strandline sync put`: rows written here and queued for the server.
struct SyncPut: Command {
  static let specification = CommandSpecification(
    name: "put",
    summary: "Write rows of a client's store, and queue the writes for the server.",
    discussion: [
      "ROW is a JSON object, or - for JSON Lines on standard input, a row each. It inserts the row, or where there is one",
      "with its key sets the columns that it names. A row without the key `id` gets a new one. Each write is durable, with",
      "its place in the queue, when its line is printed; nothing is sent before `strandline sync STORE`.",
      "",
      "A transform changes what the column holds when the server gets to it:",
      #"  --transform 'likes={"op":"increment","by":1}'    also arrayUnion and arrayRemove, with "values":[…]"#,
      "With --if the server takes the write only while its row has these values.",
      "",
      "Exit code 1: the row is there (--insert), or is not there (--update).",
    ],
    positionals: [
      SyncAccess.positional, .init(name: "ROW", summary: "A JSON object, or - for JSON Lines on standard input."),
    ],
    options: [
      StoreAccess.table,
      .init("--insert", summary: "Refuse if there is such a row."),
      .init("--update", summary: "Refuse if there is no such row."),
      .init("--atomic", summary: "All rows are one commit here, and one batch that the server applies wholly or not."),
      .init("--transform", "COLUMN=JSON", isRepeatable: true, summary: "A transform; the row has to be there."),
      .init("--if", "COLUMN=JSON", isRepeatable: true, summary: "A value that the server's row must have."),
    ] + SyncAccess.options + [.json, .jsonLines])

  private let access: SyncAccess
  private let text: String
  private let table: String
  private let form: RowWriter.Form
  private let transforms: [String: Value]
  private let precondition: [String: Value]
  private let isAtomic: Bool
  private let layout: JSONWriter.Layout?

  init(_ arguments: Arguments) throws(UsageError) {
    access = try SyncAccess(arguments)
    text = arguments.positional(1)
    try arguments.requireAtMostOne(of: "--insert", "--update")
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    try arguments.requireAtMostOne(of: "--insert", "--transform")
    table = try arguments.required("--table", "T")
    transforms = try ColumnOption.values(arguments, "--transform")
    precondition = try ColumnOption.values(arguments, "--if")
    form =
      arguments.has("--insert") ? .insert : arguments.has("--update") || !transforms.isEmpty ? .update : .put
    isAtomic = arguments.has("--atomic")
    layout = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .line : nil
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try access.settings()
    let rows = try rows()
    // A table that there is none of is for the client to refuse.
    let writer = RowWriter(
      table: table, key: settings.tables[table]?.key ?? [], form: form, transforms: transforms,
      precondition: precondition)
    let (access, isAtomic) = (access, isAtomic)
    let ((written, failure), reset) = try AsyncWork.wait {
      try await access.withClient(settings, makes: true, performsAction: true) { client in
        let outcome =
          isAtomic ? try await writer.writeAtOnce(rows, to: client) : try await writer.write(rows, to: client)
        return (outcome, client.resetAtOpen)
      }
    }
    ResetText.note(reset, console)
    try WrittenText.print(written, table: table, layout, console)
    if let failure { throw failure }
    return .success
  }

  /// All of them, read before any is written.
  private func rows() throws -> RowWriter.Rows {
    do {
      return try text == "-" ? LineRows.standardInput() : [("ROW", RowLine.row(text, "ROW"))]
    } catch let failure as Failure {
      throw Failure(failure.code, "\(failure.message). Nothing was written.")
    }
  }
}
