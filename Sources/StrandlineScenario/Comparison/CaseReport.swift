/// How one case went.
public struct CaseReport: Hashable, Sendable {
  public enum Outcome: String, Hashable, Sendable {
    case passed
    case failed
    /// The case is for none of the sides asked for.
    case skipped
  }

  public var name: String
  public var path: String
  /// Nil if the file is no JSON.
  public var kind: ScenarioKind?
  /// The sides that were run, the client first.
  public var sides: [SideReport]

  init(name: String, path: String, kind: ScenarioKind?, sides: [SideReport] = []) {
    self.name = name
    self.path = path
    self.kind = kind
    self.sides = sides
  }

  public var outcome: Outcome {
    if sides.isEmpty { return .skipped }
    return sides.allSatisfy { $0.failure == nil } ? .passed : .failed
  }
}

/// How a case went on one side.
public struct SideReport: Hashable, Sendable {
  public var side: ScenarioSide
  /// Nil if the side did all that the case says.
  public var failure: CaseFailure?
}
