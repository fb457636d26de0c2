/// The cases of one JSON file.
///
/// What the file is, its keys tell: `context` and `steps`, `scenarios`, `vectors` with their members, `accept` and `reject`. A case that
/// cannot be decoded is a case all the same, and fails.
public struct ScenarioFile: Sendable {
  public var path: String
  /// One for a transcript, else one a member, in the order of the file.
  public var cases: [ScenarioCase]

  /// - Parameter json: The whole file.
  /// - Returns: Nil if the file is of no kind that there is.
  public init?(path: String, json: Value) {
    guard let kind = Self.kind(of: json) else { return nil }
    self.path = path
    let file = MessageMember(json, "")
    switch kind {
    case .transcript:
      cases = [Self.scenario(kind, path, json, named: "case", or: path, Transcript.init)]
    case .localScenario:
      cases = Self.members(of: file, "scenarios").enumerated().map {
        Self.scenario(kind, path, $1, named: "id", or: "\(path)#\($0 + 1)", LocalScenario.init)
      }
    case .conflictVector:
      cases = Self.members(of: file, "vectors").enumerated().map {
        Self.scenario(kind, path, $1, named: "name", or: "\(path)#\($0 + 1)", ConflictVector.init)
      }
    case .keyVector:
      cases = Self.members(of: file, "vectors").enumerated().map {
        Self.scenario(kind, path, $1, named: "name", or: "\(path)#\($0 + 1)", KeyVector.init)
      }
    case .cursorVector:
      cases = [("accept", true), ("reject", false)].flatMap { name, isCursor in
        Self.members(of: file, name).map { CursorVector.scenario(path, $0, isCursor: isCursor) }
      }
    }
    limitSides(file, kind)
  }

  /// Keeps the sides that the file names; where it names what is none, its cases fail.
  private mutating func limitSides(_ file: MessageMember, _ kind: ScenarioKind) {
    guard let named = file.present("sides") else { return }
    do throws(MessageDefect) {
      let sides = Set(
        try named.list { (member) throws(MessageDefect) in
          guard let side = ScenarioSide(rawValue: try member.text()) else {
            throw member.defect("\"client\" or \"server\"")
          }
          return side
        })
      for place in cases.indices { cases[place].namedSides = sides }
    } catch {
      for place in cases.indices { cases[place].content = UndecodableCase(defect: error, sides: kind.sides) }
    }
  }

  /// A file that cannot be read as JSON, as one case that fails.
  init(undecodable path: String, reason: String) {
    self.path = path
    let defect = MessageDefect(path: "", reason: reason)
    let content = UndecodableCase(defect: defect, sides: Set(ScenarioSide.allCases))
    cases = [ScenarioCase(name: path, path: path, kind: nil, content: content)]
  }

  private static func kind(of json: Value) -> ScenarioKind? {
    guard case .object(let members) = json else { return nil }
    if members["context"] != nil, members["steps"] != nil { return .transcript }
    if case .array? = members["scenarios"] { return .localScenario }
    if case .array(let vectors)? = members["vectors"] {
      func haveMember(_ name: String) -> Bool { vectors.contains { MessageMember($0, "")[name] != nil } }
      if haveMember("local_mutations") { return .conflictVector }
      if haveMember("key_columns"), haveMember("pk") { return .keyVector }
    }
    if case .array? = members["accept"], case .array? = members["reject"] { return .cursorVector }
    return nil
  }

  private static func members(of file: MessageMember, _ name: String) -> [Value] {
    guard case .array(let members)? = file[name]?.value else { return [] }
    return members
  }

  private static func scenario<Content: ScenarioContent>(
    _ kind: ScenarioKind, _ path: String, _ json: Value, named key: String, or name: String,
    _ decode: (MessageMember) throws(MessageDefect) -> Content
  ) -> ScenarioCase {
    let member = MessageMember(json, "")
    var name = name
    if case .string(let text)? = member[key]?.value { name = text }
    do throws(MessageDefect) {
      return ScenarioCase(name: name, path: path, kind: kind, content: try decode(member))
    } catch {
      return ScenarioCase(
        name: name, path: path, kind: kind, content: UndecodableCase(defect: error, sides: kind.sides))
    }
  }
}
