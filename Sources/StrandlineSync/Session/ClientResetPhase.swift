/// How far a client reset has come.
public enum ClientResetPhase: String, Hashable, Sendable, CaseIterable {
  /// The server's rows are being pulled anew.
  case fresh
  /// They are complete and fit; the callback in front of the switch runs.
  case ready
  /// The switch is being prepared.
  case marker
  /// The fresh copy is the store; the callback behind the switch runs.
  case switched
}
