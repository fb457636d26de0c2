/// What a case is made of.
public enum ScenarioKind: String, Hashable, Sendable, CaseIterable {
  /// Calls, answers, writes and checks, step by step.
  case transcript
  /// Calls of a client that has no server to speak of.
  case localScenario
  /// A client, a script of answers, the whole local effect.
  case conflictVector
  /// A row and the text of its key.
  case keyVector
  /// A text that is a cursor, or is none.
  case cursorVector

  /// The sides that cases of the kind can be for.
  public var sides: Set<ScenarioSide> {
    switch self {
    case .transcript, .keyVector: [.client, .server]
    case .localScenario, .conflictVector: [.client]
    case .cursorVector: [.server]
    }
  }
}
