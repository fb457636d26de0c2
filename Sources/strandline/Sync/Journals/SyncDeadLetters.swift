import StrandlineSync

/// `strandline sync dead-letters`: local writes that were given up.
struct SyncDeadLetters: Command {
  static let specification = CommandSpecification(
    name: "dead-letters",
    summary: "List local writes that were given up, the oldest first; queue one again, or drop it.",
    discussion: [
      "A write that the server refuses for good five times in a row is undone here and kept as a letter. One of an atomic",
      "batch is queued again or dropped together with the batch.",
    ],
    positionals: [SyncAccess.positional],
    options: [
      .init("--requeue", "MUTATION", summary: "Make this write once more and queue it, and list none."),
      .init("--drop", "MUTATION", summary: "Forget this write, and list none."),
    ] + SyncAccess.options + JournalCommand.layoutOptions)

  private let journal: JournalCommand
  private let requeued: String?
  private let dropped: String?

  init(_ arguments: Arguments) throws(UsageError) {
    journal = try JournalCommand(arguments)
    try arguments.requireAtMostOne(of: "--requeue", "--drop")
    requeued = arguments.value("--requeue")
    dropped = arguments.value("--drop")
  }

  func run(_ console: Console) throws -> ExitCode {
    if let requeued {
      return try journal.act(on: requeued, "queued", console) { try await $0.requeueDeadLetter(requeued) }
    }
    if let dropped {
      return try journal.act(on: dropped, "dropped", console) { try await $0.dropDeadLetter(dropped) }
    }
    let entries = try journal.withClient { try await $0.deadLetters() }
    try journal.print(entries, console) { entry in
      [
        "\(UTCTime.text(milliseconds: entry.createdAt))  \(entry.operation.rawValue) \(entry.table) \(entry.pk) "
          + "\(ValueText.json(.object(entry.columns))): \(entry.reason)  \(entry.mutationID)"
      ]
    } write: { entry, json in
      json.field("mutation", entry.mutationID)
      json.field("table", entry.table)
      json.field("key", entry.pk)
      json.field("operation", entry.operation.rawValue)
      json.field("columns", Value.object(entry.columns))
      json.field("transforms", entry.transforms.map { Value.object($0) } ?? .null)
      json.field("precondition", entry.precondition.map { Value.object($0) } ?? .null)
      json.field("batch", entry.batchID)
      json.field("reason", entry.reason)
      json.field("createdAt", UTCTime.text(milliseconds: entry.createdAt))
    }
    return .success
  }
}
