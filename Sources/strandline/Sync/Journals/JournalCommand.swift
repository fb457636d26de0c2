import StrandlineSync

/// What the three commands that list a journal have in common: the store, and one entry that something is done with.
struct JournalCommand {
  static let layoutOptions: [CommandSpecification.Option] = [.json, .jsonLines]

  let access: SyncAccess
  private let layout: JSONWriter.Layout?

  init(_ arguments: Arguments) throws(UsageError) {
    access = try SyncAccess(arguments)
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    layout = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .line : nil
  }

  /// Runs `body` with the client open.
  func withClient<Result: Sendable>(
    _ body: @escaping @Sendable (SyncClient) async throws -> Result
  ) throws -> Result {
    let settings = try access.settings()
    let access = access
    return try AsyncWork.wait { try await access.withClient(settings, makes: false, body) }
  }

  /// Does something with one entry; exit code 1 where there is none such.
  func act(
    on id: String, _ done: String, _ console: Console, _ action: @escaping @Sendable (SyncClient) async throws -> Bool
  ) throws -> ExitCode {
    guard try withClient(action) else {
      console.note("\(TerminalText.escaped(id)): no such entry")
      return .finding
    }
    try console.print("\(TerminalText.escaped(id)): \(done)")
    return .success
  }

  /// Prints entries, as `lines` or as `write` has them.
  func print<Entry>(
    _ entries: [Entry], _ console: Console, lines: (Entry) -> [String], write: (Entry, inout JSONWriter) -> Void
  ) throws {
    switch layout {
    case nil:
      for line in entries.flatMap(lines) { try console.print(TerminalText.escaped(line)) }
    case .line:
      var json = JSONWriter(.line)
      for entry in entries {
        json.object { json in write(entry, &json) }
        json.endLine()
        try console.out.write(&json)
      }
    case .document:
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.name("entries")
        json.array { json in for entry in entries { json.object { json in write(entry, &json) } } }
      }
      json.endLine()
      try console.out.write(&json)
    }
  }
}
