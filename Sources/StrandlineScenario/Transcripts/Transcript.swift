/// A history of calls between one client and the server, with what each does in between.
struct Transcript: Sendable {
  var context: TranscriptContext
  var steps: [TranscriptStep]
  /// Of the client, behind the last step.
  var postconditions: [ClientCheck]
  /// Those that the steps can be for; a file may say fewer or others.
  var sides: Set<ScenarioSide>

  init(_ file: MessageMember) throws(MessageDefect) {
    context = try TranscriptContext(file.required("context"))
    var steps: [TranscriptStep] = []
    for member in try file.required("steps").members() {
      steps.append(try TranscriptStep(member, defaultNumber: steps.count + 1))
    }
    self.steps = steps
    postconditions =
      try file.present("postconditions")?.list { (check) throws(MessageDefect) in try ClientCheck(check) } ?? []
    // A cursor with holes stands for commits that overlapped; numbers that are drawn at commit know none.
    sides = steps.contains { $0.answerHasHoles } ? [.client] : ScenarioKind.transcript.sides
  }

  /// What the client of the context sends as its scope: one entry a table.
  var ownBuckets: [Value] {
    JSONDifference.set(
      context.tables.map { name, table in
        let params = table.bucketColumn.map { [$0: Value.string(context.userID)] } ?? [:]
        return ["table": .string(name), "params": .object(params)]
      })
  }

  /// Whether a pull asks for what the client of the context asks for. Any other is a probe of the server.
  func isOwnPull(_ request: Value) -> Bool {
    guard case .array(let buckets)? = MessageMember(request, "")["buckets"]?.value else { return false }
    return JSONDifference.all(expected: .array(ownBuckets), got: .array(JSONDifference.set(buckets))).isEmpty
  }

  /// The first value that the client's own pulls have under a name.
  func firstOfOwnPulls(_ name: String) -> Value? {
    for step in steps {
      guard let request = step.request(of: .pull), isOwnPull(request) else { continue }
      if let value = MessageMember(request, "").present(name)?.value { return value }
    }
    return nil
  }
}
