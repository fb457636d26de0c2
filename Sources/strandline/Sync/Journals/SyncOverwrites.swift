import StrandlineSync

/// `strandline sync overwrites`: values that lost against later writes.
struct SyncOverwrites: Command {
  static let specification = CommandSpecification(
    name: "overwrites",
    summary: "List values that lost against later writes, the newest first.",
    discussion: ["Of tables whose conflicts the server journals. Entries stay until a reset; --dismiss hides one."],
    positionals: [SyncAccess.positional],
    options: [
      .init("--all", summary: "Also those that were dismissed."),
      .init("--dismiss", "N", summary: "Hide the entry of this number, and list none."),
    ] + SyncAccess.options + JournalCommand.layoutOptions)

  private let journal: JournalCommand
  private let listsAll: Bool
  private let dismissed: Int?

  init(_ arguments: Arguments) throws(UsageError) {
    journal = try JournalCommand(arguments)
    try arguments.requireAtMostOne(of: "--all", "--dismiss")
    listsAll = arguments.has("--all")
    dismissed = try arguments.integer("--dismiss", in: 0...Int.max)
  }

  func run(_ console: Console) throws -> ExitCode {
    if let dismissed {
      return try journal.act(on: "\(dismissed)", "dismissed", console) {
        try await $0.dismissOverwrite(Int64(dismissed))
      }
    }
    let listsAll = listsAll
    let entries = try journal.withClient { try await $0.overwrites(includeDismissed: listsAll) }
    try journal.print(entries, console) { entry in
      [
        "\(entry.id)  \(UTCTime.text(milliseconds: entry.at))  \(entry.table) \(entry.pk) \(entry.column): "
          + "\(entry.loserValueJSON) lost to \(entry.winnerMutationID) (\(entry.conflictMode))"
      ]
    } write: { entry, json in
      json.field("id", entry.id)
      json.field("table", entry.table)
      json.field("key", entry.pk)
      json.field("column", entry.column)
      json.field("lost", entry.loserValue)
      json.field("winner", entry.winnerMutationID)
      json.field("conflictMode", entry.conflictMode)
      json.field("at", UTCTime.text(milliseconds: entry.at))
      json.field("isDismissed", entry.isDismissed)
    }
    return .success
  }
}
