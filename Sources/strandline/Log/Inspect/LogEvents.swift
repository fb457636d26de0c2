@_spi(Engine) import StrandlineLog

/// `strandline log events`: the records of a store, one object or line each.
struct LogEvents: Command {
  enum Values: String, CaseIterable { case none, hex, utf8 }

  static let specification = CommandSpecification(
    name: "events",
    summary: "Print the records of a store.",
    discussion: [
      "What is live: the commits behind the last reset. With --all also what a reset, a release or a torn tail left in the",
      "files, marked. Commits that do not verify whole are left out and noted on standard error. Beside a writer the commits",
      "that were complete when it began; it does not follow: `strandline changes STORE --follow` does, for a store with tables.",
      "",
      "With --jsonl one object a record:",
      #"  {"schema":1,"sequence":7,"lsn":4160,"value":"…"}"#,
      "with \"valueHex\" instead of \"value\" where the bytes are not UTF-8. lsn is the place of the commit.",
      "",
      "A commit of a store with tables is one object, with its cause, time, metadata and facts, tables and columns by name:",
      #"  {"schema":1,"sequence":8,"lsn":…,"time":"…","cause":"imported","metadata":{},"facts":[{"op":"put","family":"row","table":…},…]}"#,
      "Cells whose column is dropped, or defined in nothing that could be read, stand behind the row under their numbers:",
      #"  "row":{"id":2},"unnamedCells":[{"column":1,"value":"Bern"}]"#,
    ],
    positionals: [InspectedPath.positional],
    options: [
      .jsonLines,
      .init(
        "--values", "none|hex|utf8",
        summary: "How records are printed (default utf8); rows of tables are JSON unless it is none."),
      .init("--from", "N", summary: "Begin with commit N."),
      .init("--to", "N", summary: "End with commit N."),
      .init("--all", summary: "Also what does not count any more, marked with its state."),
    ] + InspectedPath.options)

  private let path: InspectedPath
  private let options: EventPrinter.Options

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    options = EventPrinter.Options(
      printsJSON: arguments.has("--jsonl"), values: try arguments.choice("--values") ?? .utf8,
      from: try arguments.sequence("--from") ?? .zero, to: try arguments.sequence("--to") ?? .max,
      includesAll: arguments.has("--all"))
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try path.inspector()
    var printer = EventPrinter(options: options, console: console)
    return try inspector.resuming { condition in try printer.print(inspector, condition) }
  }
}
