/// The code of a refusal by the server, or by the transport in front of it. Codes that are not named here are as good as none.
public struct TransportCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// There is no token to send.
  public static let sessionMissing = TransportCode(rawValue: "AUTH_SESSION_MISSING")
  /// The token could not be had in time.
  public static let sessionTimeout = TransportCode(rawValue: "AUTH_SESSION_TIMEOUT")
  /// No, bad or expired token.
  public static let sessionExpired = TransportCode(rawValue: "PGRST301")
  /// The schema profile is not known.
  public static let unknownProfile = TransportCode(rawValue: "PGRST106")
  /// The role may not call, or the client id belongs to another user.
  public static let insufficientPrivilege = TransportCode(rawValue: "42501")
  /// A body that cannot be decoded or breaks a rule of the messages.
  public static let invalidParameter = TransportCode(rawValue: "22023")
  /// A table that the server does not know.
  public static let featureNotSupported = TransportCode(rawValue: "0A000")
  /// The server's own procedure raised an error.
  public static let raised = TransportCode(rawValue: "P0001")
  /// A pull of a bucketed table that names no bucket.
  public static let unscopedPull = TransportCode(rawValue: "KZL01")
  /// A pull that names more buckets than the server takes.
  public static let tooManyBuckets = TransportCode(rawValue: "KZL02")
  /// A write to a table that can only be pulled.
  public static let tableIsPullOnly = TransportCode(rawValue: "KZP01")
  /// More mutations than the server takes at once.
  public static let batchTooLarge = TransportCode(rawValue: "KZP02")
  /// The server takes atomic batches only.
  public static let atomicRequired = TransportCode(rawValue: "KZP03")

  public var description: String { rawValue }

  /// Whether the server has refused for good: the same request will be refused again.
  ///
  /// The classes 22 (data), 23 (integrity) and 42 (access, but for a missing privilege) of SQLSTATE, and the codes that say the client asks
  /// for what the server never gives.
  public var isPermanent: Bool {
    switch self {
    case .insufficientPrivilege: false
    case .raised, .featureNotSupported, .tableIsPullOnly, .batchTooLarge, .unscopedPull: true
    default: rawValue.utf8.count == 5 && ["22", "23", "42"].contains { rawValue.hasPrefix($0) }
    }
  }
}
