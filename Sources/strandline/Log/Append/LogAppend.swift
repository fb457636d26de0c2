import Glibc
import StrandlineLog

/// `strandline log append`: lines from standard input become records.
struct LogAppend: Command {
  static let specification = CommandSpecification(
    name: "append",
    summary: "Append lines from standard input as records.",
    discussion: [
      "One record a line, as bytes; an empty line is an empty record. The store is made if there is none.",
      "A store with tables takes no lines (exit code 2): `strandline put` and `strandline load` write to it.",
      "",
      "Lines are gathered into commits. A commit is there wholly or not at all after any crash, and once it is",
      "acknowledged it stays. A commit that is not full is written when no more lines come for a while.",
      "SIGINT, SIGTERM and SIGHUP write and confirm the lines of the commit in hand, close the store and end with exit",
      "code 130; lines that were read behind them, or whose end has not come, are not written. A second one ends at once;",
      "it takes one where nobody reads what --acks prints.",
      "",
      "With --acks each commit is confirmed by a line once it is durable:",
      #"  {"first":7,"last":7,"records":100}"#,
      "where first and last are sequence numbers of commits, and so the same here. A reader of these lines that goes away ends the",
      "command quietly with exit code 0; a standard output that takes none (closed, a full disk) ends it with 4. Either way each",
      "line that was printed is true, and the store may hold some commits more. Without --acks nothing is printed.",
    ],
    positionals: [.init(name: "STORE", summary: "Directory of the store.")],
    options: LineSettings.options(defaultBatch: 1))

  private let store: String
  private let settings: LineSettings

  init(_ arguments: Arguments) throws(UsageError) {
    store = arguments.positional(0)
    settings = try LineSettings(arguments, defaultBatch: 1)
  }

  func run(_ console: Console) throws -> ExitCode {
    try StandardStreams.requireInput()
    let log = try TablesGuard.open(store)
    // Opening may be interrupted anywhere; from here on there is something to finish.
    Interruption.beginGraceful()
    StoreAccess.noteOpening(log.openReport, console)
    var batcher = LineBatcher(
      RecordSink(log: log, durability: settings.durability), settings: settings, out: console.out)
    do {
      try batcher.takeAll(from: STDIN_FILENO, named: "standard input")
    } catch {
      // The error of the append says more than that of a close behind it.
      try? log.close()
      guard case LogError.outOfSpace(let failure) = error else { throw error }
      let written = HumanUnits.number(batcher.committedLineCount, of: "line")
      throw Failure(
        .ioFailure, "\(failure). Written before it: \(written). Free some space and append the rest.")
    }
    try log.close()
    if console.errIsTerminal {
      let commits = HumanUnits.number(batcher.commitCount, of: "commit")
      console.note("\(HumanUnits.number(batcher.committedLineCount, of: "record")) in \(commits)")
    }
    try Interruption.check()
    return .success
  }
}
