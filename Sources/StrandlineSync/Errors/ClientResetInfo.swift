/// What a ``SyncError/Code/clientResetError`` is about.
public struct ClientResetInfo: Hashable, Sendable {
  /// Why there is no reset, or why it failed.
  @nonexhaustive
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// A reset is needed, and the application has to choose how.
    case manual
    /// The server takes only newer schema versions: a newer application is needed.
    case schemaGate
    /// The server forbids recovery.
    case recoveryForbidden
    /// The fresh copy was refused for good.
    case freshCopyRefused
    /// What came as the fresh copy breaks the protocol.
    case freshCopyMalformed
    /// The fresh copy does not fit the configured tables.
    case freshCopyUnfit
    /// The callback in front of the reset failed.
    case beforeCallbackFailed
    /// A queued write does not decode.
    case recoveryImpossible
    /// The same reset has failed before.
    case loopDetected
    /// The server asks for a reset right behind one.
    case demandedAgain
  }

  public var reason: Reason

  public init(reason: Reason) { self.reason = reason }
}
