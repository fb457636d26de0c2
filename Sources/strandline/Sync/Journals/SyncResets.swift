import StrandlineSync

/// `strandline sync resets`: what client resets did.
struct SyncResets: Command {
  static let specification = CommandSpecification(
    name: "resets",
    summary: "List the client resets of this store with their reports, the oldest first, twenty at most.",
    discussion: [
      "A client reset happens where the server has lost the history that the client knows; --client-reset of `sync` says how.",
      "`strandline resets STORE` lists every reset of the store, those by hand too, as far as its log and copies tell.",
    ],
    positionals: [SyncAccess.positional], options: SyncAccess.options + JournalCommand.layoutOptions)

  private let journal: JournalCommand

  init(_ arguments: Arguments) throws(UsageError) { journal = try JournalCommand(arguments) }

  func run(_ console: Console) throws -> ExitCode {
    let reports = try journal.withClient { try await $0.resetHistory() }
    try journal.print(reports, console) { report in
      var lines = ResetText.lines(report)
      lines[0] = "\(UTCTime.text(milliseconds: report.switchedAt))  \(report.attemptID)  \(lines[0])"
      return lines
    } write: { report, json in
      ResetText.write(report, to: &json)
    }
    return .success
  }
}
