@_spi(Engine) import StrandlineLog

/// `strandline log info`: META, segments, layers, sizes.
struct LogInfo: Command {
  static let specification = CommandSpecification(
    name: "info",
    summary: "Show META, segments, layers, epochs and sizes.",
    discussion: [
      "Reads headers, the bodies of the last segment, and of layers what an open reads; `strandline log verify` proves the",
      "rest. Where open refuses the store it says why: what is damaged, in which file at which byte, what was expected and",
      "found, and what to do.",
    ],
    positionals: [InspectedPath.positional], options: [.json] + InspectedPath.options)

  private let path: InspectedPath
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try path.inspector()
    let condition = try inspector.condition()
    let (survey, tail) = (condition.survey, condition.tail)
    if survey.isEmpty {
      console.note(condition)
      if !printsJSON { return ExitCode(condition.worst) }
    }
    let layers = OpenedLayers(of: survey)
    let space = try SpaceUse.of(survey, tail: tail)
    let damage = survey.refusal ?? layers.refusal(survey) ?? tail?.refusal ?? tail?.damage
    let code = (damage.map(Failure.code) ?? .success).worst(ExitCode(condition.worst))
    console.settle(code)
    if printsJSON {
      var json = JSONWriter(.document)
      InfoJSON.write(survey, tail, layers, space, damage, to: &json)
      json.endLine()
      try console.out.write(&json)
    } else {
      for line in InfoText.lines(survey, tail, layers, space, damage, console) { try console.print(line) }
    }
    return code
  }
}
