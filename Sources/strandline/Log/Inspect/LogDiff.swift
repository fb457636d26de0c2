@_spi(Engine) import StrandlineLog

/// `strandline log diff`: in what two stores differ.
struct LogDiff: Command {
  static let specification = CommandSpecification(
    name: "diff",
    summary: "Compare the live commits of two stores by number.",
    discussion: [
      "Frames, segments and compression do not count; kind, epoch, time and records of a commit do.",
      "",
      "Exit code 0: equal. 1: different, or one of them has a torn tail or something else that a healthy store does not have.",
      "3: something in one of them does not verify; only what does was compared.",
      "The two are read one after the other: beside a writer the second may have commits that came meanwhile.",
    ],
    positionals: [
      .init(name: "A", summary: "Directory of a store, or one of its segment files."),
      .init(name: "B", summary: "The other one."),
    ], options: [.jsonLines])

  private let first: InspectedPath
  private let second: InspectedPath
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    first = try InspectedPath(arguments, at: 0)
    second = try InspectedPath(arguments, at: 1)
    printsJSON = arguments.has("--jsonl")
  }

  func run(_ console: Console) throws -> ExitCode {
    var comparison = StoreComparison(try quiet(first), try quiet(second))
    var differenceCount = 0
    try comparison.run { difference in
      differenceCount += 1
      console.settle(.finding)
      try print(difference, console)
    }
    if !printsJSON {
      let differences = differenceCount == 1 ? "1 difference" : "\(differenceCount) differences"
      try console.print("equal commits: \(comparison.equalCount); \(differences)")
    }
    var code = ExitCode(comparison.worst).worst(differenceCount > 0 ? .finding : .success)
    for condition in comparison.conditions {
      console.note(condition)
      code = code.worst(ExitCode(condition.worst))
    }
    if comparison.damageCount > 0 {
      let places = HumanUnits.number(comparison.damageCount, of: "place")
      console.note("\(places) that did not verify: left out; see `strandline log verify`")
    }
    return code
  }

  private func quiet(_ path: InspectedPath) throws -> StoreInspector {
    var inspector = try path.inspector()
    inspector.searchesBits = false
    return inspector
  }

  private func print(_ difference: StoreDifference, _ console: Console) throws {
    guard printsJSON else { return try console.print(Self.line(difference)) }
    var json = JSONWriter()
    json.object { json in
      json.schemaField()
      switch difference {
      case .onlyInFirst(let numbers): Self.write("onlyInA", numbers, &json)
      case .onlyInSecond(let numbers): Self.write("onlyInB", numbers, &json)
      case .commit(let sequence, let aspect):
        json.field("type", "commit")
        json.field("sequence", sequence.rawValue)
        json.field("what", aspect.rawValue)
      case .store(let what, let first, let second):
        json.field("type", "store")
        json.field("what", what)
        json.field("a", first)
        json.field("b", second)
      }
    }
    json.endLine()
    try console.out.write(&json)
  }

  private static func write(_ type: String, _ numbers: ClosedRange<SequenceNumber>, _ json: inout JSONWriter) {
    json.field("type", type)
    json.field("from", numbers.lowerBound.rawValue)
    json.field("to", numbers.upperBound.rawValue)
  }

  private static func line(_ difference: StoreDifference) -> String {
    func text(_ numbers: ClosedRange<SequenceNumber>) -> String {
      numbers.lowerBound == numbers.upperBound
        ? "commit \(numbers.lowerBound)" : "commits \(numbers.lowerBound) to \(numbers.upperBound)"
    }
    switch difference {
    case .onlyInFirst(let numbers): return "only in A: \(text(numbers))"
    case .onlyInSecond(let numbers): return "only in B: \(text(numbers))"
    case .commit(let sequence, let aspect): return "commit \(sequence): other \(aspect.rawValue)"
    case .store(let what, let first, let second):
      return "\(what): \(TerminalText.escaped(first)) in A, \(TerminalText.escaped(second)) in B"
    }
  }
}
