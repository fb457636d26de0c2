import Strandline
import StrandlineLog

/// `strandline stat`: what a store consists of.
struct StatCommand: Command {
  static let specification = CommandSpecification(
    name: "stat",
    summary: "Show what a store consists of: layers, tables, live and dead bytes, history, log.",
    discussion: [
      "Reads one state, beside a writer if there is one. Counts what is live by a scan of everything; --quick leaves that out.",
      "Cache and pinned bytes are those of this process; an application asks its own store.",
    ],
    positionals: [StoreAccess.positional],
    options: [.init("--quick", summary: "Do not count what is live."), .json])

  private let path: String
  private let isQuick: Bool
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    isQuick = arguments.has("--quick")
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let store = try StoreAccess.reading(path)
    let bar = ProgressBar("counting", total: nil, console: console)
    let statistics = try store.statistics(countsLive: !isQuick) { bar.update(Int(clamping: $0)) }
    bar.finish()
    if printsJSON {
      var json = JSONWriter(.document)
      StatText.write(statistics, store.openReport, path: store.path, to: &json)
      json.endLine()
      try console.out.write(&json)
    } else {
      for line in StatText.lines(statistics, store.openReport, path: store.path) { try console.print(line) }
    }
    return .success
  }
}
