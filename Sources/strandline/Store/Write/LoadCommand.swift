import Glibc
import Strandline
import StrandlineLog

/// `strandline load`: JSON Lines become rows of a table.
struct LoadCommand: Command {
  static let specification = CommandSpecification(
    name: "load",
    summary: "Load JSON Lines into a table.",
    discussion: [
      "One JSON object a line, from FILE or standard input; blank lines are passed over. A row with the key of another",
      "replaces it. The store is made if there is none; the table is made if there is none and its key is given:",
      "  strandline load STORE --table people --key id:int people.jsonl",
      "A table that was made so takes any column; those of --column and --index have cells of one type.",
      "Integers beyond 64 bits are kept as decimals, which come out as JSON strings.",
      "",
      "Rows are gathered into commits. A commit is there wholly or not at all after any crash, and once it is",
      "acknowledged it stays. SIGINT and SIGTERM write the rows in hand and close the store.",
      "",
      "With --acks each commit is confirmed by a line once it is durable:",
      #"  {"first":7,"last":7,"records":1000}"#,
    ],
    positionals: [
      StoreAccess.positional,
      .init(name: "FILE", summary: "JSON Lines; none or - is standard input.", arity: .optional),
    ],
    options: [StoreAccess.table] + TableDeclaration.options + LineSettings.options(defaultBatch: 1000)
      + [MetadataOption.option, HistoryOption.option(default: "all"), MemoryOption.option])

  private let path: String
  private let table: String
  private let file: String?
  private let declaration: TableDeclaration
  private let settings: LineSettings
  private let metadata: [String: String]
  private let history: StoreOptions.History
  private let memoryByteCount: Int

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    file = arguments.positionals.count > 1 && arguments.positional(1) != "-" ? arguments.positional(1) : nil
    table = try arguments.required("--table", "T")
    declaration = try TableDeclaration(arguments, table: table)
    settings = try LineSettings(arguments, defaultBatch: 1000)
    metadata = try MetadataOption.value(arguments)
    history = try HistoryOption.value(arguments, default: "all")
    memoryByteCount = try MemoryOption.value(arguments)
  }

  func run(_ console: Console) throws -> ExitCode {
    let (descriptor, byteCount) = try openInput()
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    let started = ContinuousClock.now
    let (rows, commits) = try StoreAccess.write(
      path, makes: true, history: history, memoryByteCount: memoryByteCount, console
    ) { store in
      Interruption.beginGraceful()
      try StoreKeeper.refuse("put", in: store)
      try declaration.ensure(table, in: store)
      let schema = try store.view().schema(of: table)
      let sink = RowSink(store: store, table: schema, durability: settings.durability, metadata: metadata)
      var batcher = LineBatcher(sink, settings: settings, out: console.out)
      let bar = ProgressBar("loading", total: nil, console: console)
      batcher.progress = { lines, bytes in
        if let byteCount { bar.update(bytes, of: byteCount) } else { bar.update(lines) }
      }
      defer { bar.finish() }
      try batcher.takeAll(from: descriptor, named: file ?? "standard input")
      return (batcher.committedLineCount, batcher.commitCount)
    }
    if console.errIsTerminal {
      let time = (ContinuousClock.now - started)
      console.note(
        "\(HumanUnits.count(rows)) rows in \(HumanUnits.count(commits)) commits, \(HumanUnits.duration(time))")
    }
    try Interruption.check()
    return .success
  }

  private func openInput() throws(Failure) -> (descriptor: Int32, byteCount: Int?) {
    guard let file else {
      try StandardStreams.requireInput()
      return (STDIN_FILENO, nil)
    }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      throw Failure(.ioFailure, "\(file): \(String(cString: strerror(errno)))")
    }
    return (descriptor, status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil)
  }
}
