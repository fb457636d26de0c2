import StrandlineSync

/// `strandline sync reset`: a client's store as that of a new device.
struct SyncReset: Command {
  static let specification = CommandSpecification(
    name: "reset",
    summary: "Erase a client's store and begin as a new device; queued writes are lost.",
    discussion: [
      "One record, whatever the store holds, on a full disk too. The whole of changing accounts: the next token's user becomes",
      "the owner. And the last way out where a client reset was refused, then with --keep-copy: what is queued is in the copy only.",
      "Where the server asks for a newer schema version nothing is gained by it: `strandline sync STORE --schema-version N`.",
      "The settings stay. Makes no request.",
      "Exit code 1: the answer to the question was no.",
    ],
    positionals: [SyncAccess.positional],
    options: [
      .init("--keep-copy", summary: "First put a complete copy into a kept-… directory inside the store."),
      Confirmation.option,
    ] + SyncAccess.options + [.json])

  private let access: SyncAccess
  private let keepsCopy: Bool
  private let isConfirmed: Bool
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    access = try SyncAccess(arguments)
    keepsCopy = arguments.has("--keep-copy")
    isConfirmed = arguments.has("--yes")
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try access.settings()
    try Confirmation.require(isConfirmed, "Erase everything in \(access.path), queued writes too?", console)
    let (access, keepsCopy) = (access, keepsCopy)
    let report = try AsyncWork.wait {
      try await access.withClient(settings, makes: false) { client in try await client.reset(keepCopy: keepsCopy) }
    }
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("blocked", report.reason?.rawValue)
        json.name("lostWrites")
        json.object { json in for (table, count) in lost(report) { json.field(table, count) } }
        json.field("keptCopy", report.keptCopy)
        json.field("epochBefore", report.epochBefore)
        json.field("epochAfter", report.epochAfter)
        json.name("attachmentPaths")
        json.array { json in for path in report.attachmentPaths { json.value(path) } }
      }
      json.endLine()
      try console.out.write(&json)
      return .success
    }
    let count = report.droppedMutations.values.reduce(0, +)
    let tables = lost(report).map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    try console.print(
      TerminalText.escaped(
        "erased, \(HumanUnits.number(count, of: "queued write")) lost\(tables.isEmpty ? "" : " (\(tables))")"))
    if let copy = report.keptCopy { try console.print("copy kept in \(TerminalText.escaped(copy))") }
    for path in report.attachmentPaths { try console.print("left behind: \(TerminalText.escaped(path))") }
    return .success
  }

  /// Writes that are lost, by table.
  private func lost(_ report: LocalResetReport) -> [(key: String, value: Int)] {
    report.droppedMutations.sorted { $0.key < $1.key }
  }
}
