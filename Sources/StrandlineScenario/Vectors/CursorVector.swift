/// A text that the server's reader takes as a cursor and writes again unchanged, or that it does not take.
struct CursorVector: ScenarioContent {
  var text: String
  var isCursor: Bool
  var sides: Set<ScenarioSide> { ScenarioKind.cursorVector.sides }

  static func scenario(_ path: String, _ json: Value, isCursor: Bool) -> ScenarioCase {
    let word = isCursor ? "accept" : "reject"
    guard case .string(let text) = json else {
      let defect = MessageDefect(path: word, reason: "a text is wanted")
      return ScenarioCase(
        name: "\(word) \(json.json)", path: path, kind: .cursorVector,
        content: UndecodableCase(defect: defect, sides: [.server]))
    }
    return ScenarioCase(
      name: "\(word) \(json.json)", path: path, kind: .cursorVector,
      content: CursorVector(text: text, isCursor: isCursor))
  }

  func run(on side: ScenarioSide) async throws(CaseFailure) {
    let written = CursorToken(text).map { Value.string($0.description) }
    try expect("the cursor", isCursor ? .string(text) : nil, got: written)
  }
}
