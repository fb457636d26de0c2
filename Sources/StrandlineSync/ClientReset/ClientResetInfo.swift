internal import StrandlineProtocol

/// What an error says about the client reset behind it.
public struct ClientResetInfo: Hashable, Sendable {
  public enum Reason: String, Hashable, Codable, Sendable, CaseIterable {
    /// The mode is manual.
    case manual
    /// The server wants a newer application.
    case schemaGate
    case recoveryForbidden
    case freshCopyRefused
    case freshCopyMalformed
    case freshCopyUnfit
    case beforeCallbackFailed
    case recoveryImpossible
    case loopDetected
    /// The server asked again right behind a switch. It is tried again by itself.
    case demandedAgain
    /// The server does not answer the fresh copy, or the disk is full. It is tried again by itself.
    case postponed
  }

  public var reason: Reason
  public var mode: ClientResetMode.Name
  /// Modes that were tried, in order.
  public var modesTried: [ClientResetMode.Name]
  public var demand: ClientResetDemand
  /// For ``SyncClient/performResetAction(_:withoutCopy:)``; nil where there is no action.
  public var token: ResetToken?
  /// Where the action will put its copy.
  public var keptCopyPath: String?
  /// Whether the first open by a later process performs the action.
  public var isAutomatic: Bool
}

/// Good for one reset action, once.
public struct ResetToken: Hashable, Sendable, CustomStringConvertible {
  public let text: String
  public init(_ text: String) { self.text = text }
  public var description: String { text }
}
