import StrandlineScenario

/// `strandline scenario run`: each case of the files, on the side or sides it is for.
struct ScenarioRun: Command {
  enum Sides: String, CaseIterable { case client, server, both }

  static let specification = CommandSpecification(
    name: "run",
    summary: "Run scenario files and tell which cases pass.",
    discussion: [
      "A file is a transcript of calls, a list of local scenarios, of conflict vectors or of key vectors, or a list of cursors;",
      "its keys tell. In a folder all *.json files below it are run, and those that are none of these are noted.",
      "Each case has a client and a server of its own. On both sides the client runs against the file first, then the server;",
      "neither sees the other, and the case passes when both do. A case for none of the sides asked for is skipped.",
      "",
      "Prints one line a case, below a failed one the step, what was expected and what was got, and last",
      "  N passed, N failed",
      "with the number of those skipped when there are any. Exit code 1 when a case failed, 2 when a file named is no scenario.",
    ],
    positionals: [.init(name: "PATH", summary: "A scenario file, or a folder of them.", arity: .oneOrMore)],
    options: [
      .init("--side", "client|server|both", summary: "The side that is run (default both)."), .json, .jsonLines,
    ])

  private let paths: [String]
  private let sides: Set<ScenarioSide>
  private let format: ScenarioReport.Format

  init(_ arguments: Arguments) throws(UsageError) {
    try arguments.requireAtMostOne(of: "--json", "--jsonl")
    paths = arguments.positionals
    sides =
      switch try arguments.choice("--side", as: Sides.self) ?? .both {
      case .client: [.client]
      case .server: [.server]
      case .both: [.client, .server]
      }
    format = arguments.has("--json") ? .document : arguments.has("--jsonl") ? .lines : .text
  }

  func run(_ console: Console) throws -> ExitCode {
    let collection: ScenarioCollection
    do throws(ScenarioPathError) { collection = try ScenarioCollection(paths: paths) } catch {
      throw Failure(error.kind == .noScenario ? .usage : .ioFailure, error.description)
    }
    for path in collection.passedOver {
      console.note(TerminalText.escaped("\(path): passed over, for it is no scenario file"))
    }
    var report = ScenarioReport(format, console)
    // A case that was interrupted would leave its stores behind.
    Interruption.beginGraceful()
    for scenario in collection.cases {
      try Interruption.check()
      let sides = sides
      try report.add(Waiting.value { await scenario.run(on: sides) })
    }
    try report.end()
    return report.failedCount > 0 ? .finding : .success
  }
}
