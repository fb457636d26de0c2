@_spi(Engine) import StrandlineLog

/// `strandline log tail`: the verdict on the end of the log, with the evidence it rests on.
struct LogTail: Command {
  static let specification = CommandSpecification(
    name: "tail",
    summary: "Show the verdict on the end of the log and its evidence.",
    discussion: [
      "X: the first frame of the last segment that does not verify. U: the end of the last complete commit in front of it.",
      "F: the farthest position that anything says a sync had covered. F behind X means damage; else what follows U was",
      "never acknowledged and the next writable open cuts it. The same code decides in open, which reads from the anchor on: damage",
      "in front of that is damage here, with exit code 3, and does not keep the store from being opened; the line `open` says so.",
      "",
      "Shows no commits and follows nothing: `strandline log events` prints them, and `strandline changes STORE --follow` follows",
      "a store with tables; an application follows a log by Log.commits(after:).",
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
    let condition = try inspector.condition()
    console.note(condition, tellsTail: false)
    let code = ExitCode(condition.worst)
    guard let tail = condition.tail else {
      // A store that has no segment yet has no tail.
      if code != .success {
        console.note("\(TerminalText.escaped(condition.survey.path)): no segment with a readable header")
      }
      if printsJSON {
        var json = JSONWriter(.document)
        json.object { json in
          json.schemaField()
          json.field("file", nil as String?)
          json.field("verdict", "noTail")
        }
        json.endLine()
        try console.out.write(&json)
      }
      return code
    }
    let anchor = condition.survey.root.root?.anchor.lsn ?? .zero
    if printsJSON {
      var json = JSONWriter(.document)
      TailText.write(tail, anchor: anchor, to: &json)
      json.endLine()
      try console.out.write(&json)
    } else {
      for line in TailText.lines(tail, anchor: anchor) { try console.print(line) }
    }
    return code
  }
}
