/// What a client reset is doing.
public enum ClientResetPhase: String, Hashable, Sendable, CaseIterable {
  /// The server is asked whether it still wants the reset.
  case asking
  /// The server's snapshot is pulled.
  case downloading
  /// The before callback runs.
  case callingBefore
  /// The new state is made and put in force.
  case switching
  /// The after callback runs.
  case callingAfter
}
