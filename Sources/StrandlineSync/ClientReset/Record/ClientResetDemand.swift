/// Why a client has to be reset.
public struct ClientResetDemand: Hashable, Codable, Sendable {
  public enum Kind: String, Hashable, Codable, Sendable {
    /// The server's history is not the one that this client has pulled from.
    case history
    /// The server asks for it without saying so: the application is too old for it, or it is of another make.
    case gate
    /// ``SyncClient/startClientReset(_:)``.
    case application
  }

  public var kind: Kind
  /// The server's words, for people.
  public var message: String
  /// The client's place in the history, when the demand came.
  public var anchor: String?
  /// The history that the server has now, where it said so.
  public var serverHistory: String?
  /// Of the application, when the demand came.
  public var schemaVersion: Int
  /// The server forbids recovery of unsynced changes.
  public var isRecoveryForbidden: Bool
  /// Under this demand the server has taken this application's schema version.
  public var isAccepted: Bool
  /// Milliseconds since 1970.
  public var at: Int64
  /// Of the process that noted it.
  var launch: String

  static let otherHistory = "the server's history is another than the one that this client has pulled from"

  /// Whether this asks for the same as another.
  func asksForTheSame(as other: ClientResetDemand) -> Bool {
    kind == other.kind && serverHistory == other.serverHistory
      && (kind != .gate || schemaVersion == other.schemaVersion)
  }
}
