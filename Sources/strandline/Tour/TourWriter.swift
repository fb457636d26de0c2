import Glibc
import StrandlineLog

/// The process that the tour starts to have something to kill. Hidden: only the tour speaks with it.
///
/// Standard input: records as lines, and an empty line behind each commit. Standard output: for each commit, once it is as
/// durable as asked, its sequence number, the number of its records and the nanoseconds that took.
struct TourWriter: Command {
  static let specification = CommandSpecification(
    name: "tour-writer", summary: "Append commits for the tour.",
    positionals: [.init(name: "STORE", summary: "Directory of the store.")],
    options: [.init("--durability", "synced|buffered", summary: "As for `log append`.")], isHidden: true)

  private let store: String
  private let durability: Durability

  init(_ arguments: Arguments) throws(UsageError) {
    store = arguments.positional(0)
    let name = try arguments.choice("--durability", as: LineSettings.DurabilityName.self)
    durability = name == .buffered ? .buffered : .synced
  }

  func run(_ console: Console) throws -> ExitCode {
    var options = LogOptions()
    // The tour shows what becomes of a commit that no sync has covered: none may come in between.
    if durability == .buffered { options.bufferedSyncInterval = .seconds(3600) }
    let log = try Log.open(at: store, options: options)
    var splitter = LineSplitter()
    var draft: CommitDraft?
    loop: while true {
      switch splitter.read(from: STDIN_FILENO) {
      case .bytes, .nothing: break
      case .end: break loop
      case .failed(let number): throw Failure(.ioFailure, "standard input: \(String(cString: strerror(number)))")
      }
      while let line = splitter.takeLine() {
        if line.isEmpty {
          if let filled = draft.take() { try append(filled, to: log, console.out) }
        } else {
          var filling = draft.take() ?? log.draft()
          try splitter.withLine(line) { (bytes) throws(LogError) in try filling.append(bytes) }
          draft = consume filling
        }
      }
    }
    try log.close()
    return .success
  }

  private func append(_ draft: consuming CommitDraft, to log: Log, _ out: Output) throws {
    let count = draft.recordCount
    let started = ContinuousClock.now
    let position = try log.append(draft, durability: durability)
    let time = (ContinuousClock.now - started).components
    let nanoseconds = time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000
    try out.write("\(position.sequence) \(count) \(nanoseconds)\n")
    try out.flush()
  }
}
