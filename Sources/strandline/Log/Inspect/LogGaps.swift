@_spi(Engine) import StrandlineLog

/// `strandline log gaps`: commit numbers that are missing.
struct LogGaps: Command {
  static let specification = CommandSpecification(
    name: "gaps",
    summary: "List commit numbers that the live log ought to hold and does not.",
    discussion: [
      "salvaged: a GAP of an earlier salvage stands for them; damaged: bytes that do not verify stand in their place;",
      "incomplete: some frames of the commit are missing; missing: the segment that held them is not there. The place is",
      "where the gap was noticed: the next commit that is there, or the GAP.",
      "",
      "Exit code 0: none. 1: some that an earlier salvage left, or a torn tail. 3: the store is damaged, whether its gaps tell of it",
      "or nothing tells the numbers.",
    ],
    positionals: [InspectedPath.positional], options: [.jsonLines] + InspectedPath.options)

  private let path: InspectedPath
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    printsJSON = arguments.has("--jsonl")
  }

  func run(_ console: Console) throws -> ExitCode {
    var inspector = try path.inspector()
    inspector.searchesBits = false
    // Gaps are few: they are gathered first, so that a search which had to begin anew prints nothing twice.
    let (gaps, condition, worst) = try inspector.resuming {
      condition -> ([MissingSequences], StoreCondition, Finding.Severity?) in
      var walk = try StoreWalk(inspector, condition, includesAll: false)
      var search = MissingSequenceSearch(condition.survey, epoch: walk.epoch)
      var gaps: [MissingSequences] = []
      while let element = try walk.next() { gaps += search.take(element) }
      gaps += search.finish()
      return (gaps, condition, walk.worst)
    }
    console.note(condition)
    if gaps.isEmpty, condition.tail?.isCorrupt == true {
      console.note(
        "the end of the log is damaged, and nothing tells which commits stood there; see `strandline log tail`")
    }
    for gap in gaps { try print(gap, console) }
    let code = ExitCode(condition.worst).worst(ExitCode(worst))
    return code.worst(gaps.isEmpty ? .success : .finding)
  }

  private func print(_ gap: MissingSequences, _ console: Console) throws {
    guard printsJSON else {
      let numbers = gap.first == gap.last ? "\(gap.first)" : "\(gap.first)-\(gap.last)"
      let place = gap.offset.map { ":\($0)" } ?? ""
      return try console.print("\(numbers)\t\(gap.reason.rawValue)\t\(TerminalText.escaped(gap.file))\(place)")
    }
    var json = JSONWriter()
    json.object { json in
      json.schemaField()
      json.field("from", gap.first.rawValue)
      json.field("to", gap.last.rawValue)
      json.field("reason", gap.reason.rawValue)
      json.field("file", gap.file)
      json.field("offset", gap.offset)
    }
    json.endLine()
    try console.out.write(&json)
  }
}
