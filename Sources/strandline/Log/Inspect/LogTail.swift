@_spi(Engine) import StrandlineLog

/// `strandline log tail`: the verdict on the end of the log, with the evidence it rests on.
struct LogTail: Command {
  static let specification = CommandSpecification(
    name: "tail",
    summary: "Show the verdict on the end of the log and its evidence.",
    discussion: [
      "X: the first frame of the last segment that does not verify. U: the end of the last complete commit in front of it.",
      "F: the farthest position that anything says a sync had covered. F behind X means damage; else what follows U was",
      "never acknowledged and the next writable open cuts it. The same code decides in open.",
    ],
    positionals: [InspectedPath.positional], options: [.json])

  private let path: InspectedPath
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try path.inspector()
    let (survey, tail) = try inspector.tail()
    if console.noteIfEmpty(survey) { return .success }
    let refusal = console.noteRefusal(survey)
    guard let tail else {
      console.note("\(TerminalText.escaped(survey.path)): no segment with a readable header")
      return survey.segments.isEmpty && refusal == .success ? .success : .corruption
    }
    if printsJSON {
      var json = JSONWriter(.document)
      TailText.write(tail, to: &json)
      json.endLine()
      try console.out.write(&json)
    } else {
      for line in TailText.lines(tail) { try console.print(line) }
    }
    let code = TailText.exitCode(tail)
    return refusal == .success ? code : refusal
  }
}
