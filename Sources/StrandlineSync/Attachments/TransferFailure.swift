/// Why a transfer came to nothing.
public struct TransferFailure: Error, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    /// The storage, or the server, answered with a status of HTTP that is no success.
    case refused(status: Int)
    /// Nothing came back: no connection, or it broke.
    case unreachable
    /// Nobody is signed in; nothing was sent.
    case noSession
    /// The resumable session is gone, or is refused.
    case sessionLost
    /// The deadline passed.
    case deadline
  }

  public var kind: Kind
  /// For people.
  public var reason: String

  public init(_ kind: Kind, _ reason: String = "") {
    self.kind = kind
    self.reason = reason
  }

  public var description: String {
    let what =
      switch kind {
      case .refused(let status): "the storage refused with status \(status)"
      case .unreachable: "the storage could not be reached"
      case .noSession: "nobody is signed in"
      case .sessionLost: "the storage does not know the session of the transfer any more"
      case .deadline: "the transfer took too long"
      }
    return reason.isEmpty ? what : "\(what): \(reason)"
  }
}
