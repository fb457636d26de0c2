import Glibc
import StrandlineLog

/// `strandline log append`: lines from standard input become records.
struct LogAppend: Command {
  enum DurabilityName: String, CaseIterable { case synced, buffered }

  static let specification = CommandSpecification(
    name: "append",
    summary: "Append lines from standard input as records.",
    discussion: [
      "One record a line, as bytes; an empty line is an empty record. The store is made if there is none.",
      "",
      "Lines are gathered into commits. A commit is there wholly or not at all after any crash, and once it is",
      "acknowledged it stays. A commit that is not full is written when no more lines come for a while.",
      "SIGINT and SIGTERM write the lines of the commit in hand and close the store.",
      "",
      "With --acks each commit is confirmed by a line once it is durable:",
      #"  {"first":7,"last":7,"records":100}"#,
      "where first and last are sequence numbers of commits, and so the same here.",
    ],
    positionals: [.init(name: "STORE", summary: "Directory of the store.")],
    options: [
      .init("--batch", "N", summary: "Records in a commit, 1 to 1000000 (default 1)."),
      .init("--linger", "MS", summary: "Milliseconds after which a commit is written that is not full (default 50)."),
      .init(
        "--durability", "synced|buffered", summary: "Survive power loss, or the end of the process (default synced)."),
      .init("--acks", summary: "Print a JSON line for each commit once it is durable."),
    ])

  private let store: String
  private let settings: LineAppender.Settings

  init(_ arguments: Arguments) throws(UsageError) {
    store = arguments.positional(0)
    settings = LineAppender.Settings(
      batchRecordCount: try arguments.integer("--batch", in: 1...1_000_000) ?? 1,
      linger: .milliseconds(try arguments.integer("--linger", in: 0...86_400_000) ?? 50),
      durability: try arguments.choice("--durability", as: DurabilityName.self) == .buffered ? .buffered : .synced,
      acknowledges: arguments.has("--acks"))
  }

  func run(_ console: Console) throws -> ExitCode {
    let log = try Log.open(at: store)
    // Opening may be interrupted anywhere; from here on there is something to finish.
    Interruption.beginGraceful()
    if let cut = log.openReport.cut {
      console.note("\(cut.file): cut at byte \(cut.offset): a commit that a crash left unfinished, never acknowledged")
    }
    var appender = LineAppender(log: log, settings: settings, out: console.out)
    do {
      try appender.appendAll(from: STDIN_FILENO)
    } catch {
      // The error of the append says more than that of a close behind it.
      try? log.close()
      throw error
    }
    try log.close()
    if console.errIsTerminal {
      let commits = HumanUnits.number(appender.commitCount, of: "commit")
      console.note("\(HumanUnits.number(appender.recordCount, of: "record")) in \(commits)")
    }
    try Interruption.check()
    return .success
  }
}
