/// The two ends of the protocol, each of which a file is run against by itself.
public enum ScenarioSide: String, Hashable, Sendable, CaseIterable, Comparable {
  case client
  case server

  public static func < (left: ScenarioSide, right: ScenarioSide) -> Bool { left == .client && right == .server }
}
