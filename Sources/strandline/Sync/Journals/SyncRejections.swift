import StrandlineSync

/// `strandline sync rejections`: local writes that did not stand.
struct SyncRejections: Command {
  static let specification = CommandSpecification(
    name: "rejections",
    summary: "List local writes that did not stand, the newest first.",
    discussion: [
      "Each with the reason, and the row as the server had it. Entries stay until a reset; --dismiss hides one."
    ],
    positionals: [SyncAccess.positional],
    options: [
      .init("--all", summary: "Also those that were dismissed."),
      .init("--dismiss", "MUTATION", summary: "Hide the entry of this mutation, and list none."),
    ] + SyncAccess.options + JournalCommand.layoutOptions)

  private let journal: JournalCommand
  private let listsAll: Bool
  private let dismissed: String?

  init(_ arguments: Arguments) throws(UsageError) {
    journal = try JournalCommand(arguments)
    try arguments.requireAtMostOne(of: "--all", "--dismiss")
    listsAll = arguments.has("--all")
    dismissed = arguments.value("--dismiss")
  }

  func run(_ console: Console) throws -> ExitCode {
    if let dismissed {
      return try journal.act(on: dismissed, "dismissed", console) { try await $0.dismissRejection(dismissed) }
    }
    let listsAll = listsAll
    let entries = try journal.withClient { try await $0.rejections(includeDismissed: listsAll) }
    try journal.print(entries, console) { entry in
      [
        "\(UTCTime.text(milliseconds: entry.at))  \(entry.kind.rawValue) \(entry.table) \(entry.pk): \(entry.reason)"
          + (entry.changedColumns.isEmpty ? "" : "  set \(entry.changedColumns.joined(separator: ", "))")
          + (entry.serverRow == nil ? "" : "  the server has \(entry.serverRowJSON)") + "  \(entry.mutationID)"
      ]
    } write: { entry, json in
      json.field("mutation", entry.mutationID)
      json.field("table", entry.table)
      json.field("key", entry.pk)
      json.field("kind", entry.kind.rawValue)
      json.field("reason", entry.reason)
      json.field("changedColumns", Value.array(entry.changedColumns.map { .string($0) }))
      json.field("serverRow", entry.serverRow.map { Value.object($0) } ?? .null)
      json.field("at", UTCTime.text(milliseconds: entry.at))
      json.field("isDismissed", entry.isDismissed)
    }
    return .success
  }
}
