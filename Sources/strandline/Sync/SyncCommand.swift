import StrandlineSync

/// `strandline sync`: a client of a sync server, from the shell.
struct SyncCommand: Command {
  static let specification = CommandSpecification(
    name: "sync",
    summary: "Keep a store in step with a sync server: push what is queued, pull what is new.",
    discussion: [
      "One round, or with --follow as many as there is reason for: local writes of other commands, news that the server",
      "rings for, a timer. Between rounds the store is closed, so other commands can have it.",
      "",
      "The settings are a JSON file, by default \(SyncSettings.fileName) in STORE; `strandline sync init` makes one.",
      "Docs/Sync.md has all of them. Without a file: --remote and --table. The store is made if there is none.",
      "The token comes from a file or the environment, and stands in no output. --follow reads the file before each round.",
      "",
      "Reading is `strandline query STORE --table T`, which needs no server and no settings.",
      "Where the server has lost the history that the store knows, the client is reset: --client-reset, Docs/ClientReset.md.",
      "With manual, and where recovery is impossible, the next `sync`, `put` or `delete` keeps a copy, begins anew and says so.",
      "",
      "Exit code 1: a write was refused, or syncing has stopped and says why. 4: the server was not reached, or refused.",
    ],
    positionals: [SyncAccess.positional],
    options: SyncAccess.overrides + SyncAccess.options + [
      .init("--bucket", "COLUMN=VALUE", isRepeatable: true, summary: "Value of the tables' bucket column COLUMN."),
      .init("--resume", summary: "Go on after a token of another user came: the token is the owner's again."),
      .init(
        "--attempts", "N",
        summary: "Rounds while a write is refused for good, 1 to 100; the fifth refusal gives it up (default 1)."),
      .init(
        "--dry-run",
        summary: "Tell what a client reset would do now, in the mode of --client-reset, and change nothing."),
      .init(
        "--start-reset",
        summary:
          "Reset the client now, asked for or not; also what goes on where one has failed, was refused, or is to begin anew."
      ),
      .init("--follow", summary: "Go on until interrupted."),
      .init(
        "--interval", "SECONDS", summary: "With --follow: between two rounds, 0 for no timer (default 15)."), .json,
      .jsonLines,
    ])

  private let access: SyncAccess
  private let plan: SyncRound.Plan
  private let interval: Duration?
  private let layout: JSONWriter.Layout?
  private let isDry: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    access = try SyncAccess(arguments, takesOverrides: true)
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    // What never ends is no document, and counts refusals by itself.
    try arguments.requireAtMostOne(of: "--follow", "--json")
    try arguments.requireAtMostOne(of: "--follow", "--attempts")
    try arguments.requireAtMostOne(of: "--follow", "--dry-run", "--start-reset")
    isDry = arguments.has("--dry-run")
    let seconds = try arguments.integer("--interval", in: 0...86_400)
    if seconds != nil, !arguments.has("--follow") { throw .incomplete("--interval", needs: "--follow") }
    interval = arguments.has("--follow") ? .seconds(seconds ?? 15) : nil
    layout = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .line : nil
    plan = SyncRound.Plan(
      buckets: try Self.buckets(arguments), resumes: arguments.has("--resume"),
      startsReset: arguments.has("--start-reset"),
      attempts: try arguments.integer("--attempts", in: 1...100) ?? 1)
  }

  private static func buckets(_ arguments: Arguments) throws(UsageError) -> [String: String] {
    var buckets: [String: String] = [:]
    for text in arguments.values("--bucket") {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty, buckets[parts[0]] == nil else {
        throw .invalidValue(option: "--bucket", value: text, expected: "COLUMN=VALUE, each column once")
      }
      buckets[parts[0]] = parts[1]
    }
    return buckets
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try access.settings()
    guard let address = settings.remote else {
      throw Failure(.usage, "no server: give --remote URL, or \"remote\" in the settings")
    }
    let token = AccessToken(file: settings.tokenFile)
    _ = try token.required()
    let server = try HTTPRemote(address)
    if let interval {
      let wakes = try HTTPWakeSource(address) { try? token.read() }
      let client = FollowedClient(access, settings, plan, over: server)
      return try FollowLoop(client, layout: layout, path: access.path, console).run(
        every: interval, wakes: wakes, token: token)
    }
    if isDry { return try tellReset(settings, over: server, console) }
    let remote = MeteredRemote(server)
    let (access, plan) = (access, plan)
    let bar = ProgressBar("syncing", total: nil, console: console)
    defer { bar.finish() }
    let (round, _) = try Patience.wait(
      for: { try AsyncWork.wait { try await SyncRound.run(access, settings, plan, over: remote) } },
      tick: { bar.update(remote.counts.total) })
    bar.finish()
    if let layout {
      var json = JSONWriter(layout)
      RoundText.write(round, to: &json)
      try console.out.write(&json)
    } else {
      for line in RoundText.lines(round, path: access.path) { try console.print(line) }
    }
    if let error = round.error { throw Failure(Failure.code(of: error), "\(error) (\(address.url))") }
    return round.hasFinding ? .finding : .success
  }

  private func tellReset(_ settings: SyncSettings, over server: HTTPRemote, _ console: Console) throws -> ExitCode {
    let (access, plan) = (access, plan)
    let report = try AsyncWork.wait {
      try await access.withClient(settings, over: server, makes: false) { client in
        if !plan.buckets.isEmpty { try await client.setBucket(plan.buckets) }
        return try await client.previewReset(settings.clientReset.mode)
      }
    }
    if let layout {
      var json = JSONWriter(layout)
      json.object { json in
        json.schemaField()
        json.field("event", "preview")
        ResetText.write(report, to: &json)
      }
      json.endLine()
      try console.out.write(&json)
    } else {
      for line in ResetText.lines(report) { try console.print(TerminalText.escaped(line)) }
    }
    return .success
  }
}
