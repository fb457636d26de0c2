import Glibc
import Strandline
@_spi(Engine) import StrandlineLog

/// `strandline changes`: what commits did, from a position on.
struct ChangesCommand: Command {
  static let specification = CommandSpecification(
    name: "changes",
    summary: "Print what commits did to rows and streams, the oldest first.",
    discussion: [
      "Without --since from the last reset on, as far as the log still reaches. With --follow also what comes, until it is",
      "interrupted; a reset arrives as an element. Reads beside a writer, and only what a sync has covered.",
      "",
      "With --jsonl one object a commit; \"position\" is what the next --since takes:",
      #"  {"schema":1,"position":"0:7:…","sequence":7,"cause":"imported","metadata":{},"changes":[{"table":…,"key":[…],"row":{…}}],…}"#,
      "",
      "Exit code 1: the log does not hold what follows the position.",
    ],
    positionals: [StoreAccess.positional],
    options: [
      .init("--since", "P", summary: "Begin behind this position, or behind the commit of this number."),
      .init("--table", "T", summary: "Only changes of this table."),
      .init("--follow", summary: "Wait for more."), .jsonLines,
    ])

  private let path: String
  private let start: PositionText.Start?
  private let table: String?
  private let follows: Bool
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    start = try PositionText.value(arguments, "--since")
    table = arguments.value("--table")
    follows = arguments.has("--follow")
    printsJSON = arguments.has("--jsonl")
  }

  func run(_ console: Console) throws -> ExitCode {
    var files = DirectorySignature(path)
    var store = try StoreAccess.reading(path)
    if let table { _ = try store.view().schema(of: table) }
    var position = try position(in: store)
    try print(after: &position, in: store, console)
    guard follows else { return .success }
    Interruption.beginGraceful()
    while true {
      try console.out.flush()
      try console.out.checkReader()
      try Interruption.check()
      var waiting = pollfd(fd: Interruption.wakeDescriptor, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, 50)
      // A reader in another process hears nothing from the writer: it looks whether any file has changed.
      let now = DirectorySignature(path)
      if now == files { continue }
      files = now
      do {
        try store.close()
        store = try StoreAccess.reading(path)
        try print(after: &position, in: store, console)
      } catch StoreError.generationGone {
        continue
      }
    }
  }

  private func position(in store: Store) throws -> Position? {
    switch start {
    case nil: nil
    case .position(let position): position
    case .sequence(let sequence): sequence == .zero ? nil : try store.position(of: sequence)
    }
  }

  private func print(after position: inout Position?, in store: Store, _ console: Console) throws {
    let reader = try reader(after: &position, in: store)
    var json = JSONWriter()
    while let commit = try reader.next() {
      position = commit.position
      if let table, commit.kind == .facts, !commit.rows.contains(where: { $0.table == table }) { continue }
      if printsJSON {
        CommitText.write(commit, table: table, to: &json)
        json.endLine()
        try console.out.write(&json)
      } else {
        for line in CommitText.lines(commit, table: table) { try console.print(line) }
      }
    }
  }

  /// Behind the position; where a reset has ended its epoch since, from the reset on.
  private func reader(after position: inout Position?, in store: Store) throws -> StoreCommitReader {
    do throws(StoreError) {
      return try store.commits(after: position)
    } catch {
      guard let seen = position, seen.epoch < store.position.epoch else { throw error }
      position = nil
      return try store.commits()
    }
  }
}
